package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync/atomic"

	"posta.dev/posta/client/core"
	"posta.dev/posta/client/resume"
	"posta.dev/posta/client/source/format"
	"posta.dev/posta/protocol"
)

// rest cuts a file into chunks. What the cluster has taken already is only compared.
type rest struct {
	*resume.File
	cut           *begun
	chunk, record int // how large they may be
	source        *Source
}

// rest returns a file from its beginning.
func (f *streamUpload) rest(cut *begun, source *Source) (*rest, error) {
	r := &rest{File: f.had.File(f.stream.Name, source.Name), cut: cut, source: source}
	var err error
	if r.chunk, r.record, err = f.limits(source, cut.header); err != nil {
		return nil, err
	}
	return r, r.Header(cut.header)
}

// next cuts the next records. A chunk ends where a piece ends that was taken before.
func (r *rest) next(memory []byte) (records []byte, line uint64, taken bool, err error) {
	most, taken := r.Next(r.chunk)
	r.cut.Limit(most, r.record)
	records, line, err = r.cut.Next(memory)
	if parted, ok := r.cut.Cutter.(format.Parted); ok && err == nil {
		var other bool
		if other, err = r.Part(uint64(parted.InPart()) << protocol.PartBits); other {
			_, taken = r.Next(r.chunk)
		}
	}
	if err == nil {
		err = r.Cut(records[headRoom:], taken)
	}
	return records, line, taken, err
}

// compare checks that the files of a session that is resumed are those that were sent. Nothing is sent before each file has been compared
// up to where it was taken, because rows of a wrong file could not be taken back.
func (c *Client) compare(ctx context.Context, opened *protocol.Reply, found [][]Source) error {
	if !c.cfg.Resume {
		return nil
	}
	c.mu.Lock()
	answers := c.session.Answers()
	c.doing = Comparing
	c.mu.Unlock()
	var err error
	if c.had, err = resume.Of(answers, opened.Inputs); err != nil {
		return fmt.Errorf("%w: session %s: %w", ErrInterrupted, c.cfg.Session, err)
	}
	uploads := make([]*streamUpload, len(opened.Streams))
	for i, s := range opened.Streams {
		uploads[i] = c.newStreamUpload(opened, s, found[i])
		uploads[i].counters = &streamCounters{} // reading for comparison is not progress of the upload
	}
	for _, compare := range []func(*streamUpload, context.Context) error{(*streamUpload).compareSizes, (*streamUpload).compare} {
		for _, f := range uploads {
			if err := compare(f, ctx); err != nil {
				return fmt.Errorf("%w: %s: %w", core.ErrNotResumed, f.stream.Name, err)
			}
		}
	}
	return nil
}

// compareSizes compares what needs little reading: names of files, headers, and sizes of plain files. Modification times are not compared,
// because those of a copy may differ.
func (f *streamUpload) compareSizes(ctx context.Context) error {
	names := make([]string, len(f.files))
	for i := range f.files {
		names[i] = f.files[i].Name
	}
	if err := f.had.Files(f.stream.Name, names); err != nil {
		return badInput(err)
	}
	for i := range f.files {
		if s := &f.files[i]; !s.Remote && f.had.File(f.stream.Name, s.Name).Left() {
			if err := f.compareSize(ctx, s); err != nil {
				return unlessOver(ctx, err)
			}
		}
	}
	return nil
}

func (f *streamUpload) compareSize(ctx context.Context, source *Source) error {
	return f.opened(ctx, source, func(file io.Reader, r *rest) error {
		on, regular := file.(*regularFile)
		if !regular {
			return nil
		}
		if from, _, ok := r.cut.place(source); ok {
			return r.Size(uint64(on.Size() - from))
		}
		return nil
	})
}

// opened opens a file, calls do with it, and closes it.
func (f *streamUpload) opened(ctx context.Context, source *Source, do func(io.Reader, *rest) error) (err error) {
	file, err := source.open(ctx)
	if err != nil {
		return err
	}
	defer closeWith(ctx, file, &err)()
	cut, err := f.begin(file, source)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cut.Close()) }()
	r, err := f.rest(cut, source)
	if err != nil {
		return err
	}
	return do(file, r)
}

// compare compares the files of a stream up to where they were taken, several at a time.
func (f *streamUpload) compare(ctx context.Context) error {
	g := newErrGroup(ctx)
	var next atomic.Int32
	for range min(len(f.files), runtime.GOMAXPROCS(0), 4) {
		g.run(func(ctx context.Context) error {
			var memory []byte
			for {
				i := int(next.Add(1)) - 1
				if i >= len(f.files) {
					return nil
				}
				if err := f.compareFile(ctx, &f.files[i], &memory); err != nil {
					return unlessOver(ctx, err)
				}
			}
		})
	}
	return g.wait()
}

func (f *streamUpload) compareFile(ctx context.Context, source *Source, memory *[]byte) error {
	if !f.had.File(f.stream.Name, source.Name).Left() {
		return nil
	}
	return f.opened(ctx, source, func(_ io.Reader, r *rest) (err error) {
		for err == nil && r.Left() {
			*memory, _, _, err = r.next(*memory)
		}
		if errors.Is(err, io.EOF) {
			return r.End()
		}
		return err
	})
}

// readTwice refuses what can be read only once.
func readTwice(found [][]Source) error {
	for _, files := range found {
		for i := range files {
			if s := &files[i]; s.Once {
				return badInput(fmt.Errorf("%s cannot be read twice, and a session is resumed with files that are compared before they are sent; "+
					"name a file with the same rows: --file %s=PATH",
					s.where(), s.Name))
			}
		}
	}
	return nil
}
