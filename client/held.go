package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"

	"posta.dev/posta/client/source"
	"posta.dev/posta/client/source/format"
)

// held is a file that can be read only once, for samples and then for a session. What samples have read is kept in memory: some hundred
// KiB, or more if a record is longer.
type held struct {
	where string
	open  func(context.Context) (io.ReadCloser, error)
	turn  chan struct{} // a lock with capacity 1, for opening and reading in. A reader of a former sample may still be reading

	mu    sync.Mutex    // guards what follows; not held while anything is waited for
	in    io.ReadCloser // nil before it is opened
	kept  []byte        // what samples have read, from the beginning
	ended bool          // kept is all of the file
	file  *fetched      // a copy of the whole file on the disk; nil if there is none
	taken bool          // a session reads it, or has read it
}

func newHeld(s *Source) *held {
	return &held{where: s.where(), open: s.Open, turn: make(chan struct{}, 1)}
}

// whole reports whether all of the file is in memory or on the disk, and how many bytes it has so far.
func (h *held) whole() (size int64, whole bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.file != nil {
		return h.file.size, true
	}
	return int64(len(h.kept)), h.ended
}

// sample opens the file for a sample.
func (h *held) sample(ctx context.Context) (io.ReadCloser, error) {
	done, err := h.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.file != nil {
		return h.file.again(), nil
	}
	return &sampleReader{ctx: ctx, h: h}, nil
}

// read opens the file for a session, which reads all of it.
func (h *held) read(ctx context.Context) (io.ReadCloser, error) {
	done, err := h.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.file != nil:
		return h.file.again(), nil
	case h.ended:
		return io.NopCloser(bytes.NewReader(h.kept)), nil
	}
	h.taken = true
	return readCloser{io.MultiReader(bytes.NewReader(h.kept), h.in), h.in}, nil
}

type readCloser struct {
	io.Reader
	io.Closer
}

// begin waits for its turn, and opens the file if it is not open. Until done is called, the end of ctx closes the file and so ends a read
// of it. A file that is read anywhere, such as Parquet, is copied to the disk.
func (h *held) begin(ctx context.Context) (done func(), err error) {
	stop := context.AfterFunc(ctx, h.hangUp)
	if err := send(ctx, h.turn, struct{}{}); err != nil {
		return nil, err
	}
	end := func() {
		<-h.turn
		stop()
	}
	defer func() {
		if err != nil {
			end()
		}
	}()
	switch {
	case h.taken:
		return nil, fmt.Errorf("%s was read before, and can be read once: write it to a file", h.where)
	case h.in != nil:
		return end, nil
	}
	in, err := h.open(ctx)
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	h.in = in
	h.mu.Unlock()
	if ctx.Err() != nil { // ctx ended before there was anything to close
		h.hangUp()
	}
	head := make([]byte, format.HeadBytes)
	n, err := io.ReadFull(in, head)
	ended := err == io.EOF || err == io.ErrUnexpectedEOF
	h.mu.Lock()
	h.kept, h.ended = head[:n], ended
	h.mu.Unlock()
	if ended {
		return end, nil
	}
	if err != nil {
		return end, err
	}
	if f, refused := source.Anywhere(head, nil); f != nil && refused == nil {
		err = h.fetch()
	}
	return end, err
}

// hangUp ends a waiting read by closing the file.
func (h *held) hangUp() {
	h.mu.Lock()
	in := h.in
	h.mu.Unlock()
	if in != nil {
		_ = in.Close() // the caller reports why ctx ended
	}
}

// spool copies the whole file to the disk, unless it is in memory.
func (h *held) spool(ctx context.Context) error {
	done, err := h.begin(ctx)
	if err != nil {
		return err
	}
	defer done()
	if _, whole := h.whole(); whole {
		return nil
	}
	return h.fetch()
}

// fetch is spool for a caller that holds turn.
func (h *held) fetch() error {
	file, err := fetch(io.MultiReader(bytes.NewReader(h.kept), h.in), &atomic.Int64{}, freeIn)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.file = file
	return err
}

// close closes the file, unless a session has read it, and its copy. This ends a reader of a former sample that still waits for bytes.
func (h *held) close() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	var errs []error
	if h.in != nil && !h.taken {
		if err := h.in.Close(); !errors.Is(err, os.ErrClosed) { // it was closed to end a read
			errs = append(errs, err)
		}
	}
	if h.file != nil {
		errs = append(errs, h.file.Close())
	}
	return errors.Join(errs...)
}

// sampleReader reads for a sample, and keeps what it reads.
type sampleReader struct {
	ctx context.Context
	h   *held
	at  int
}

func (r *sampleReader) Read(p []byte) (n int, err error) {
	if n, err = r.again(p); n > 0 || err != nil || len(p) == 0 {
		return n, err
	}
	h := r.h
	if err := send(r.ctx, h.turn, struct{}{}); err != nil {
		return 0, err
	}
	defer func() { <-h.turn }()
	if n, err = r.again(p); n > 0 || err != nil { // another reader had its turn meanwhile
		return n, err
	}
	n, err = h.in.Read(p)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.kept = append(h.kept, p[:n]...)
	h.ended = err == io.EOF
	r.at += n
	return n, err
}

// again reads from what was kept. If it returns neither bytes nor an error, the file may have more.
func (r *sampleReader) again(p []byte) (n int, err error) {
	h := r.h
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case r.at < len(h.kept):
		n = copy(p, h.kept[r.at:])
		r.at += n
		return n, nil
	case h.ended:
		return 0, io.EOF
	case h.taken, h.file != nil:
		return 0, io.ErrClosedPipe // this sample is over
	}
	return 0, nil
}

// Close leaves the file open, except if the context has ended: then it closes the file, to end a Read that waits.
func (r *sampleReader) Close() error {
	if r.ctx.Err() != nil {
		r.h.hangUp()
	}
	return nil
}

// again returns a reader from the file's beginning that is independent of other readers.
func (s *fetched) again() *fetchedReader {
	return &fetchedReader{io.NewSectionReader(s.File, 0, s.size)}
}

type fetchedReader struct{ *io.SectionReader }

func (r *fetchedReader) Unchanged() error { return nil }
func (r *fetchedReader) Close() error     { return nil }
