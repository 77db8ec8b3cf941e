package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"
	"sync"

	"posta.dev/posta/client/source/web"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/filestamp"
)

// Input says where the files of streams are: for a stream that Named has files for, these; for any other, those below Dir. Stdin is what
// "-" stands for.
//
// A program that samples files before it opens sessions uses [NewInput]. A source that can be read only once (standard input, a pipe, an
// address) is then opened once: Sampled keeps what it reads, and the first session reads that and continues after it. A source that ended
// within a sample, or that Spool copied to the disk, can be read by any number of sessions.
type Input struct {
	Dir string
	// Roots, if there are any, are searched instead of Dir, for a program that reads files at other people's request. All files of a stream
	// are below the same one of them, and a stream that has files below two is an error. A link that leads out of its root is refused, and so
	// is everything but regular files.
	Roots []string
	Named []Named
	Stdin io.Reader
	Comma byte // separates columns of CSV; 0 detects the separator

	// is called with warnings that no session repeats, because they are about the wait or the end of a source that is opened once; may be nil
	OnWarning func(Warning)

	tables bool // its streams are not known all at once, so Named may have files for others

	mu   sync.Mutex // guards held
	held map[string]*held
}

// NewInput returns an Input whose Named may also have files for streams that a session does not have. It has to be closed.
func NewInput(dir string, named []Named, stdin io.Reader, comma byte) *Input {
	return &Input{Dir: dir, Named: named, Stdin: stdin, Comma: comma, tables: true, held: map[string]*held{}}
}

// Close closes the sources that were opened for samples and that no session has read. It must not be called while a session reads.
func (in *Input) Close() error {
	in.mu.Lock()
	defer in.mu.Unlock()
	var errs []error
	for _, h := range in.held {
		errs = append(errs, h.close())
	}
	clear(in.held)
	return errors.Join(errs...)
}

// find returns the named files, and for streams without any those below the directory.
func (in *Input) find(ctx context.Context, streams []protocol.Stream, warn *warnings) ([][]Source, error) {
	found, err := in.findAnywhere(ctx, streams, warn)
	if err != nil || !in.tables {
		return found, err
	}
	for _, sources := range found {
		for i := range sources {
			in.hold(&sources[i], false)
		}
	}
	return found, nil
}

func (in *Input) findAnywhere(ctx context.Context, streams []protocol.Stream, warn *warnings) ([][]Source, error) {
	if len(in.Named) == 0 {
		return in.findBelow(streams, warn)
	}
	found, err := in.findNamed(ctx, streams, warn)
	if err != nil {
		return nil, err
	}
	var rest []protocol.Stream
	for i, s := range streams {
		if found[i] == nil {
			rest = append(rest, s)
		}
	}
	if len(rest) == 0 {
		return found, nil
	}
	if len(in.trees()) == 0 {
		return nil, badInput(fmt.Errorf("%w: no file is named for stream %s; name one, or the directory that has it", ErrNoFiles, rest[0].Name))
	}
	others, err := in.findBelow(rest, warn)
	if err != nil {
		return nil, err
	}
	for i := range found {
		if found[i] == nil {
			found[i], others = others[0], others[1:]
		}
	}
	return found, nil
}

// filesOf returns the files of one stream, for samples.
func (in *Input) filesOf(ctx context.Context, stream protocol.Stream) ([]Source, error) {
	found, err := in.findAnywhere(ctx, []protocol.Stream{stream}, &warnings{tell: func(w Warning) {
		if (w.Text == noWriter || strings.HasPrefix(w.Text, web.NoEnd)) && in.OnWarning != nil {
			in.OnWarning(w)
		}
	}})
	if err != nil {
		return nil, err
	}
	for i := range found[0] {
		in.hold(&found[0][i], true)
	}
	return found[0], nil
}

// Has reports whether a named file, or one below Dir or a root, fits a pattern, and nothing else does.
func (in *Input) Has(pattern string) bool { return in.has(pattern, false) }

// HasEntry reports whether anything fits a pattern, also a link that leads nowhere, or a directory. [Input.Sampled] says what is wrong with
// it.
func (in *Input) HasEntry(pattern string) bool { return in.has(pattern, true) }

func (in *Input) has(pattern string, alsoNoFile bool) bool {
	if slices.ContainsFunc(in.Named, func(n Named) bool { fits, _ := path.Match(pattern, n.As); return fits }) {
		return true
	}
	return slices.ContainsFunc(in.trees(), func(t tree) bool {
		_, err := walk(t, protocol.Stream{Files: pattern})
		return err == nil || alsoNoFile && errors.As(err, new(*entryError))
	})
}

// unpacked is the factor by which a packed file, or one that is read anywhere, is assumed to grow as plain CSV.
const unpacked = 8

// Bytes estimates how many bytes of CSV the files of a stream have, without opening them; 0 if there are none, or if one has an unknown
// size.
func (in *Input) Bytes(ctx context.Context, stream protocol.Stream) (sum int64) {
	found, err := in.filesOf(ctx, stream)
	if err != nil {
		return 0
	}
	for i := range found {
		f := &found[i]
		if f.Size < 0 {
			return 0
		}
		bytes := max(f.Size, 1)
		if f.Says.Pack != nil || f.Says.Format != nil && f.Says.Format.Anywhere() {
			bytes *= unpacked
		}
		sum += bytes
	}
	return sum
}

// Stamps returns the stamps of the files of a stream, by path; nil if one of them can be read only once. A caller that reads files twice
// compares the stamps before and after.
func (in *Input) Stamps(ctx context.Context, stream protocol.Stream) (map[string]protocol.Stamp, error) {
	found, err := in.filesOf(ctx, stream)
	if err != nil {
		return nil, err
	}
	stamps := map[string]protocol.Stamp{}
	for i := range found {
		s := &found[i]
		if s.Once || s.Remote {
			return nil, nil
		}
		if s.held {
			continue // it is in memory or on the disk as a whole, and does not change
		}
		info, err := os.Stat(s.Path)
		if err != nil {
			return nil, badInput(err)
		}
		stamps[s.Path] = filestamp.Of(info)
	}
	return stamps, nil
}

// Regular returns an error unless all files of a stream are regular ones. Only these can be read again by another process, which sees by
// their stamps whether they have changed.
func (in *Input) Regular(ctx context.Context, stream protocol.Stream) error {
	found, err := in.filesOf(ctx, stream)
	if err != nil {
		return err
	}
	for i := range found {
		switch s := &found[i]; {
		case s.Remote:
			return badInput(fmt.Errorf("%s is an address, and whether it has changed is not known; fetch it to a file", s.where()))
		case s.Once || s.held:
			return badInput(fmt.Errorf("%s can be read once; write it to a file", s.where()))
		}
	}
	return nil
}

// Spool copies those files of a stream to the disk that can be read only once, so that they can be read again.
func (in *Input) Spool(ctx context.Context, stream protocol.Stream) error {
	found, err := in.filesOf(ctx, stream)
	if err != nil {
		return err
	}
	for i := range found {
		if h := in.heldAt(found[i].Path); h != nil {
			if err := h.spool(ctx); err != nil {
				return unlessOver(ctx, err)
			}
		}
	}
	return nil
}

func (in *Input) heldAt(path string) *held {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.held[path]
}

// hold lets a source that can be read only once be read through its held file, which keeps what samples have read.
func (in *Input) hold(s *Source, sample bool) {
	if !s.Once && !s.Remote {
		return
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	h := in.held[s.Path]
	if h == nil {
		h = newHeld(s)
		in.held[s.Path] = h
	}
	if s.Open = h.read; sample {
		s.Open = h.sample
	}
	s.held = true
	if size, whole := h.whole(); whole {
		s.Size, s.Once, s.Remote = size, false, false
	}
}
