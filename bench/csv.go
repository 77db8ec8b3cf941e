package bench

import (
	"bytes"
	"context"
	stdcsv "encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"posta.dev/posta/analyses/bikes"
	"posta.dev/posta/analyses/parse"
	"posta.dev/posta/rows/csv"
)

const (
	parseRows   = 500_000
	parseChunk  = 1 << 20 // limits.chunk
	parseStream = "trips"
)

// measureCSV reads a file of trips from memory, chunk by chunk: once only into fields, as the standard reader does, and once
// into batches in their wire form, as the parser role does. Each contestant uses one goroutine. The time is CPU time of the
// process, so other programs on the machine matter only through the caches.
func measureCSV(ctx context.Context, c *Config) ([]Case, error) {
	s, err := workloadOf("bikes")
	if err != nil {
		return nil, err
	}
	dir, _, err := s.data(c.Dir, min(parseRows, c.factsOr(s.facts)))
	if err != nil {
		return nil, err
	}
	const name = "montreal/trips.csv"
	data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
	if err != nil {
		return nil, err
	}
	x, err := splitFile(name, data)
	if err != nil {
		return nil, err
	}
	var cases []Case
	for _, t := range []struct {
		name string
		read func() (rows int, err error)
	}{{"into fields", func() (int, error) { return splitTrips(data) }}, {"into batches", x.parse}} {
		done, err := repeat(ctx, t.name, c.rounds(), func(_ context.Context, i int) ([]Measure, error) {
			return csvRound(t.read, data, i)
		})
		if err != nil {
			return nil, err
		}
		cases = append(cases, done)
	}
	return cases, nil
}

func csvRound(read func() (int, error), data []byte, i int) ([]Measure, error) {
	var rows int
	ours, theirs, err := compareTimes(i,
		func() (time.Duration, error) { return quickest(func() (err error) { rows, err = read(); return err }) },
		func() (time.Duration, error) { return quickest(func() error { return splitStandard(data) }) })
	if err != nil {
		return nil, err
	}
	size := int64(len(data))
	return []Measure{
		{"parse", "MB/s", rate(size, ours)},
		{"row", "ns", float64(ours.Nanoseconds()) / float64(rows)},
		{"encoding/csv", "MB/s", rate(size, theirs)},
		{"ratio", "", theirs.Seconds() / ours.Seconds()},
	}, nil
}

// quickest returns the least CPU time of several passes. A pass takes hundredths of a second, and other programs disturb some
// of them.
func quickest(pass func() error) (least time.Duration, err error) {
	for range passes {
		begin := cpuTime()
		if err := pass(); err != nil {
			return 0, err
		}
		if took := cpuTime() - begin; least == 0 || took < least {
			least = took
		}
	}
	return least, nil
}

const passes = 5

// splitTrips only finds the fields that the analysis needs.
func splitTrips(data []byte) (rows int, err error) {
	a := bikes.New()
	s := &a.Streams[a.StreamIndex(parseStream)]
	end := bytes.IndexByte(data, '\n') + 1
	h, err := csv.ParseHeader(data[:end], s.Comma)
	if err != nil {
		return 0, err
	}
	var wanted []csv.Column
	for _, c := range s.Columns {
		wanted = append(wanted, csv.Column(c))
	}
	m, err := h.Find(wanted)
	if err != nil {
		return 0, err
	}
	var scan csv.Scanner
	for scan.Reset(data[end:], s.Comma, m, 2); scan.Next(); {
		rows++
	}
	return rows, nil
}

// chunkedFile is a file in chunks, as a client's chunks reach the parser.
type chunkedFile struct {
	file   string
	header []byte
	chunks [][]byte
	lines  []uint64
}

func splitFile(file string, data []byte) (*chunkedFile, error) {
	c := csv.NewCutter(bytes.NewReader(data), ',', parseChunk, 16<<20)
	header, err := c.Header()
	x := &chunkedFile{file: file, header: header}
	for err == nil {
		var chunk []byte
		var line uint64
		if chunk, line, err = c.Next(nil); err == nil {
			x.chunks, x.lines = append(x.chunks, chunk), append(x.lines, line)
		}
	}
	if !errors.Is(err, io.EOF) {
		return nil, err
	}
	return x, nil
}

// parse turns each chunk into a batch in its wire form.
func (x *chunkedFile) parse() (rows int, err error) {
	a := bikes.New()
	stream := a.StreamIndex(parseStream)
	file, ok := a.Streams[stream].Match(x.file)
	if !ok {
		return 0, fmt.Errorf("%s is not a file of stream %s", x.file, parseStream)
	}
	args, err := a.Args(nil)
	if err != nil {
		return 0, err
	}
	p, err := parse.NewFile(a, stream, args, file, x.header)
	if err != nil {
		return 0, err
	}
	var frame []byte
	for i, chunk := range x.chunks {
		n, rejects, err := p.Chunk(chunk, x.lines[i])
		if err != nil {
			return rows, err
		}
		rows += n + int(rejects.Rows)
		frame = p.Builder().Append(frame[:0])
	}
	return rows, nil
}

// splitStandard only splits fields with encoding/csv: it parses no numbers and makes no batches.
func splitStandard(data []byte) error {
	r := stdcsv.NewReader(bytes.NewReader(data))
	r.ReuseRecord, r.FieldsPerRecord, r.LazyQuotes = true, -1, true
	for {
		if _, err := r.Read(); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil && !errors.Is(err, stdcsv.ErrQuote) {
			return err
		}
	}
}
