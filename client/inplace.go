package client

import (
	"cmp"
	"context"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"posta.dev/posta/client/core"
	"posta.dev/posta/client/source/format"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/filestamp"
)

// inPlace lets inputs read files of one stream in place, if their hosts have the same files (S8). Readers look at the beginning of each
// file and offer it. Lanes take offered files for their input, a few at a time, the largest first. A file that no input reads goes back to
// the readers, which send it.
type inPlace struct {
	roots   [][]string // by input; empty if no file is offered to it
	columns []bool     // by input: parts of files are offered to it, too

	mu       sync.Mutex // guards what follows
	waiting  []*placed  // the largest first
	reading  []int      // by input: how many files it is reading
	declined []*placed  // files that no input reads, to be sent
	changed  chan struct{}
}

// placed is a file that is offered, or a part of one.
type placed struct {
	core.File
	source Source
	asked  []bool // by input: it has been asked to read the file
}

const (
	// filesAtOnce is how many files an input is given at a time: while one file ends, the other keeps the input busy.
	filesAtOnce = 2
	// partsAtOnce is the same for parts of files. An input takes no more than 16 reads of a session.
	partsAtOnce = 16
)

// part returns the number of the part; -1 if it is the whole file.
func (f *placed) part() int {
	part, _ := protocol.ReadEnd(f.Header, f.From, f.Stamp.Size)
	return part
}

// atOnce returns how many files an input may have when it is given this one, too.
func (f *placed) atOnce() int {
	if f.part() < 0 {
		return filesAtOnce
	}
	return partsAtOnce
}

func (f *placed) size() int64 {
	if f.part() < 0 {
		return int64(f.Stamp.Size)
	}
	return f.Share
}

func newInPlace(roots [][]string, columns []bool) *inPlace {
	return &inPlace{roots: roots, columns: columns, reading: make([]int, len(roots)), changed: make(chan struct{})}
}

// changes wakes all goroutines that wait for a change. The caller holds the lock.
func (p *inPlace) changes() {
	close(p.changed)
	p.changed = make(chan struct{})
}

// reads reports whether an input may be asked for a file.
func (p *inPlace) reads(input int, f *placed) bool {
	return !f.asked[input] && (f.part() < 0 || p.columns[input]) && slices.ContainsFunc(p.roots[input], func(root string) bool {
		return strings.HasPrefix(f.Path, strings.TrimSuffix(root, string(filepath.Separator))+string(filepath.Separator))
	})
}

// offer offers a file to the lanes, unless no input reads files there.
func (p *inPlace) offer(f *placed) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	f.asked = make([]bool, len(p.roots))
	if !p.wanted(f) {
		return false
	}
	p.waits(f)
	return true
}

// wanted reports whether any input may be asked for a file. The caller holds the lock.
func (p *inPlace) wanted(f *placed) bool {
	for i := range p.roots {
		if p.reads(i, f) {
			return true
		}
	}
	return false
}

func (p *inPlace) waits(f *placed) {
	at, _ := slices.BinarySearchFunc(p.waiting, f, func(a, b *placed) int {
		return cmp.Or(cmp.Compare(b.size(), a.size()), cmp.Compare(a.From, b.From))
	})
	p.waiting = slices.Insert(p.waiting, at, f)
	p.changes()
}

// take returns the largest file that an input may be asked for, or nil if there is none now. The channel is closed when that may have
// changed.
func (p *inPlace) take(input int) (*placed, <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if input < len(p.reading) {
		for i, f := range p.waiting {
			if p.reading[input] < f.atOnce() && p.reads(input, f) && (p.reading[input] == 0 || !p.idle(f)) {
				p.waiting = slices.Delete(p.waiting, i, i+1)
				p.reading[input]++
				f.asked[input] = true
				p.changes() // another lane may take the file that this lane left to an idle input
				return f, nil
			}
		}
	}
	return nil, p.changed
}

// idle reports whether f may go to an input that reads no file now. Such an input gets f before an input that would then read two files.
// The caller holds the lock.
func (p *inPlace) idle(f *placed) bool {
	for i := range p.roots {
		if p.reading[i] == 0 && p.reads(i, f) {
			return true
		}
	}
	return false
}

// ended reports what happened to a file that an input was given.
func (p *inPlace) ended(input int, f *placed, taken bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reading[input]--
	switch {
	case taken:
	case p.wanted(f):
		p.waits(f)
	default:
		p.declined = append(p.declined, f)
	}
	p.changes()
}

// toSend returns a file that no input reads. It waits while an input may still decline one, and returns errNoMore when all files are read.
func (p *inPlace) toSend(ctx context.Context) (*placed, error) {
	for {
		p.mu.Lock()
		if n := len(p.declined); n > 0 {
			f := p.declined[n-1]
			p.declined = p.declined[:n-1]
			p.mu.Unlock()
			return f, nil
		}
		busy := len(p.waiting) > 0 || slices.ContainsFunc(p.reading, func(n int) bool { return n > 0 })
		changed := p.changed
		p.mu.Unlock()
		if !busy {
			return nil, errNoMore
		}
		if _, err := receive(ctx, changed); err != nil && err != errNoMore {
			return nil, err
		}
	}
}

// offerWhereItLies offers a file whose header has been read, if it is one that can be read where it lies: plain CSV in UTF-8 with line
// feeds, or Parquet, in a regular file of this machine.
func (f *streamUpload) offerWhereItLies(ctx context.Context, file io.Reader, source *Source, cut *begun) (offered bool, err error) {
	on, regular := file.(*regularFile)
	if !regular || source.Local == "" {
		return false, nil
	}
	if parted, ok := cut.Cutter.(format.Parted); ok {
		return f.offerParts(on, cut, parted, source), nil
	}
	from, line, ok := cut.place(source)
	if !ok || int64(from) > on.info.Size() { // files of /proc have 0 bytes by what the system says, and are read nevertheless
		return false, nil
	}
	p := &placed{source: *source, File: core.File{
		File: source.Name, Header: cut.header, Path: source.Local, From: uint64(from), Line: line, Stamp: filestamp.Of(on.info),
	}}
	if !f.inPlace.offer(p) {
		return false, nil
	}
	return true, f.lookForRows(ctx, on, cut, source)
}

// offerParts offers the parts of a file that have rows which are wanted. An input cuts each into the chunks that would be sent.
func (f *streamUpload) offerParts(on *regularFile, cut *begun, parted format.Parted, source *Source) (offered bool) {
	parts, rows, rest := parted.Parts(), int64(0), on.Size()
	for _, p := range parts {
		rows += p.Rows
	}
	for _, p := range parts {
		if p.Empty {
			continue
		}
		share := int64(float64(on.Size()) * float64(p.Rows) / float64(rows))
		rest -= share
		offered = f.inPlace.offer(&placed{source: *source, File: core.File{
			File: source.Name, Header: cut.header, Path: source.Local, From: uint64(p.Number) << protocol.PartBits, Line: p.Line,
			Stamp: filestamp.Of(on.info), Share: share,
		}})
		if !offered { // no input reads files there
			return false
		}
	}
	if rows == 0 {
		return false
	}
	f.counters.read.Add(rest) // nobody will read it
	return true
}

// next returns the next chunk for a lane of an input, or a file in place of one.
func (f *streamUpload) next(ctx context.Context, input int) (*placed, chunk, error) {
	for {
		file, changed := f.inPlace.take(input)
		if file != nil {
			return file, chunk{}, nil
		}
		select {
		case p, ok := <-f.chunks:
			if !ok {
				return nil, p, errNoMore
			}
			return nil, p, nil
		case <-changed:
		case <-ctx.Done():
			return nil, chunk{}, context.Cause(ctx)
		}
	}
}

// fileEnded tells the stream's readers and lanes what happened to the file that a lane was given. The caller holds the client's lock.
func (l *line) fileEnded(taken bool) {
	l.inPlace.ended(l.input, l.file, taken)
	l.file, l.inPlace = nil, nil
}

// haveRead gives the session a file in place of a chunk.
func (l *line) haveRead(w *core.Want, from *inPlace, f *placed) {
	l.client.event(func(now time.Time) {
		l.file, l.inPlace, l.input = f, from, w.Input
		l.client.session.File(w.Lane, f.File, now)
	})
}

// lookForRows warns of an offered file that has a header and no rows. A file that is sent gets the same warning elsewhere.
func (f *streamUpload) lookForRows(ctx context.Context, file *regularFile, cut *begun, source *Source) error {
	from, _, _ := cut.place(source)
	defer func() { f.counters.read.Add(from - file.read) }() // the input will read again what was read ahead
	cut.Limit(4<<10, protocol.MaxData)                       // the first row is enough
	for {
		memory, err := receive(ctx, f.spare)
		if err != nil {
			return err
		}
		records, _, err := cut.Next(memory)
		if err != nil {
			f.spare <- memory
			if err == io.EOF {
				f.warnings.add(source.where(), noRows)
			}
			return nil // the input will say what is wrong
		}
		some := hasRows(records[headRoom:])
		f.spare <- records
		if some {
			return nil
		}
	}
}
