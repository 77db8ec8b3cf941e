package wal

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// BenchmarkAppend appends batches of records and, alternately, writes and fsyncs the same number of bytes to plain files of a segment's
// size on the same disk. "ratio" is our speed divided by theirs. Both alternate in small rounds, because the disk's speed changes from
// second to second.
//
//	go test ./wal -run '^$' -bench Append -benchtime 3s
func BenchmarkAppend(b *testing.B) {
	for _, size := range []int{256, 1 << 10, 64 << 10, 256 << 10} {
		for _, batch := range []int{1 << 20, 4 << 20} {
			b.Run(fmt.Sprintf("record=%d/batch=%dMiB", size, batch>>20), func(b *testing.B) { benchAppend(b, size, batch) })
		}
	}
}

const benchRound = 8 // batches

func benchAppend(b *testing.B, size, batch int) {
	dir := b.TempDir()
	l, err := Open(filepath.Join(dir, "log"), Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	data := make([]byte, batch)
	for i := range data {
		data[i] = byte(i * 31 >> 3)
	}
	recs := make([]Record, batch/size)
	for i := range recs {
		at := i * size
		recs[i] = Record{Type: 1, Parts: [][]byte{data[at : at+16], data[at+16 : at+size]}}
	}
	plain := &plainFile{dir: dir}
	var ours, theirs time.Duration
	b.SetBytes(int64(batch))
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		start := time.Now()
		if _, err := l.Append(recs...); err != nil {
			b.Fatal(err)
		}
		ours += time.Since(start)
		if i%benchRound == benchRound-1 || i == b.N-1 {
			b.StopTimer()
			for range i%benchRound + 1 {
				theirs += plain.append(b, data)
			}
			if err := l.Cut(l.Last()); err != nil {
				b.Fatal(err)
			}
			b.StartTimer()
		}
	}
	b.StopTimer()
	plain.f.Close()
	b.ReportMetric(float64(len(recs)*b.N)/ours.Seconds(), "records/s")
	b.ReportMetric(theirs.Seconds()/ours.Seconds(), "ratio")
}

// plainFile is the simplest durable log: it writes, calls fsync, and begins a new file now and then.
type plainFile struct {
	dir  string
	f    *os.File
	size int
}

func (p *plainFile) append(b *testing.B, data []byte) time.Duration {
	start := time.Now()
	if p.f == nil || p.size >= defaultSegmentSize {
		if p.f != nil {
			p.f.Close()
		}
		f, err := os.Create(filepath.Join(p.dir, "plain"))
		if err != nil {
			b.Fatal(err)
		}
		p.f, p.size = f, 0
	}
	if _, err := p.f.Write(data); err != nil {
		b.Fatal(err)
	}
	if err := p.f.Sync(); err != nil {
		b.Fatal(err)
	}
	p.size += len(data)
	return time.Since(start)
}
