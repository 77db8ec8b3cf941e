package client

import (
	"context"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"posta.dev/posta/protocol"
)

// endless returns the same rows again and again, up to a number of bytes.
type endless struct {
	rows string
	at   int
	left int64
}

func (e *endless) Read(p []byte) (int, error) {
	if e.left == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(int64(len(p)), e.left)], e.rows[e.at:])
	e.at = (e.at + n) % len(e.rows)
	e.left -= int64(n)
	return n, nil
}

func (e *endless) Close() error { return nil }

const tripRow = "2015-05-05 08:30:00,6217,2015-05-05 08:41:00,6204,660.0,1,2015\n"

// generated returns a stream of one file of the given size, which is never in memory as a whole.
func generated(size int64) func(protocol.Stream) ([]Source, error) {
	size -= size % int64(len(tripRow))
	return func(s protocol.Stream) ([]Source, error) {
		if s.Reference {
			size := int64(len(tripRow))
			return []Source{{Name: "a/" + s.Name + ".csv", Size: size, Open: opener(size)}}, nil
		}
		return []Source{{Name: "a/" + s.Name + ".csv", Size: size, Open: opener(size)}}, nil
	}
}

func opener(size int64) func(context.Context) (io.ReadCloser, error) {
	rows := strings.Repeat(tripRow, 4096)
	return func(context.Context) (io.ReadCloser, error) { return &endless{rows: rows, left: size}, nil }
}

// TestMemoryDoesNotGrowWithTheFile sends 200 MB, and meanwhile watches the heap of client and cluster together.
func TestMemoryDoesNotGrowWithTheFile(t *testing.T) {
	const size = 200 << 20
	f := newFakeCluster(t, 2, 1)
	f.forget = true
	cfg := f.config()
	cfg.Find, cfg.Chunk, cfg.Timeout = generated(size), 256<<10, 2*time.Second
	runtime.GC()
	var before runtime.MemStats
	runtime.ReadMemStats(&before)
	ctx, cancel := context.WithCancel(context.Background())
	peak := watchHeap(ctx)
	_, err := Run(during(t, time.Minute), cfg)
	cancel()
	grown := <-peak - int64(before.HeapInuse)
	if err != nil {
		t.Fatal(err)
	}
	if got := f.one().bytes; got < size-2*int64(len(tripRow)) {
		t.Errorf("%d bytes of records arrived, %d were sent", got, size)
	}
	t.Logf("the heap grew by at most %d KiB", grown>>10)
	if grown > 48<<20 {
		t.Errorf("the heap grew by %d MiB for a file of %d MiB", grown>>20, size>>20)
	}
}

// TestR16_AClientKeepsNoChunk: a client keeps no chunk that it has sent. Otherwise a client that lives long, like the prompt of SQL, would
// hold one for each lane and reader.
func TestR16_AClientKeepsNoChunk(t *testing.T) {
	f := newFakeCluster(t, 2, 1)
	f.forget = true
	cfg := f.config()
	cfg.Find, cfg.Chunk, cfg.Lanes = generated(4<<20), 64<<10, 4
	ctx := during(t, time.Minute)
	c, err := Dial(ctx, cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(c.Open(ctx), c.Upload(ctx), c.Close()); err != nil {
		t.Fatal(err)
	}
	if c.sending != nil {
		t.Error("the client holds the upload")
	}
	for _, l := range c.lines {
		if l.from != nil || l.chunk.memory != nil {
			t.Errorf("connection %d holds the upload or a chunk", l.id)
		}
	}
}

// watchHeap returns the greatest size of the heap once ctx has ended.
func watchHeap(ctx context.Context) <-chan int64 {
	result := make(chan int64, 1)
	go func() {
		peak := int64(0)
		for ctx.Err() == nil {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			peak = max(peak, int64(m.HeapInuse))
			sleep(ctx, 5*time.Millisecond)
		}
		result <- peak
	}()
	return result
}

// BenchmarkUpload is the client's side of the budget (design §11): reading is free here, and so is what the cluster does
// with a chunk, but both run in this process, as does the receiving half of the sockets.
func BenchmarkUpload(b *testing.B) {
	f := newFakeCluster(b, 2, 1)
	f.forget = true
	const size = 256 << 20
	cfg := f.config()
	cfg.Find, cfg.Chunk, cfg.Timeout = generated(size), 512<<10, 5*time.Second
	b.SetBytes(size)
	for b.Loop() {
		if _, err := Run(during(b, time.Minute), cfg); err != nil {
			b.Fatal(err)
		}
	}
}
