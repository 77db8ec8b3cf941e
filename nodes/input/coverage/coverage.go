package coverage

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"posta.dev/posta/internal/wire"
	"posta.dev/posta/protocol"
)

// ErrTwice is returned by Add if some of the records were taken already.
var ErrTwice = errors.New("taken already")

// Chunk is where the records of a chunk come from.
type Chunk struct {
	Stream int    // by its index in the analysis
	File   string // as in the request
	Header uint32 // CRC32C of the header
	At     uint64 // offset
	Size   uint64
	Sum    uint32 // CRC32C of the records
}

// Set is what was taken of each file. The zero Set says that nothing was taken.
type Set struct {
	files []*file // sorted by stream and name
	full  bool
	bytes int
}

// file is what was taken of one file.
type file struct {
	stream int
	name   string
	header uint32
	pieces []protocol.Range // sorted by From; no two touch
}

// What each file and each piece of a set takes at most, in bytes, in memory and in a reply.
const (
	fileBytes  = 100 // beside the name
	pieceBytes = 28
)

// maxPieces bounds how many files one reply reports, and how many pieces of each.
const maxPieces = protocol.MaxRanges

// Add notes that a chunk was taken. If the set then exceeds limit bytes or maxPieces, it is given up, which is not an error.
func (s *Set) Add(c Chunk, limit int) error {
	if s.full || c.Size == 0 {
		return nil
	}
	at, known := s.find(c.Stream, c.File)
	if !known {
		s.files = slices.Insert(s.files, at, &file{stream: c.Stream, name: c.File, header: c.Header})
		s.bytes += fileBytes + len(c.File)
	}
	f := s.files[at]
	before := len(f.pieces)
	if f.header != c.Header {
		s.GiveUp()
		return nil
	}
	if err := f.add(c); err != nil {
		return err
	}
	if s.bytes += pieceBytes * (len(f.pieces) - before); s.bytes > limit || len(f.pieces) > maxPieces || len(s.files) > maxPieces {
		s.GiveUp()
	}
	return nil
}

// GiveUp gives the set up. It is called for a chunk that does not say where it comes from.
func (s *Set) GiveUp() { *s = Set{full: true} }

// Given reports whether the set was given up.
func (s *Set) Given() bool { return s.full }

func (s *Set) find(stream int, name string) (int, bool) {
	return slices.BinarySearchFunc(s.files, file{stream: stream, name: name}, func(f *file, want file) int {
		return cmp.Or(cmp.Compare(f.stream, want.stream), cmp.Compare(f.name, want.name))
	})
}

// add adds a piece, and joins pieces that touch.
func (f *file) add(c Chunk) error {
	p := protocol.Range{From: c.At, To: c.At + c.Size, Sum: c.Sum}
	i, _ := slices.BinarySearchFunc(f.pieces, p.From, func(q protocol.Range, from uint64) int { return cmp.Compare(q.From, from) })
	if i > 0 && f.pieces[i-1].To > p.From || i < len(f.pieces) && f.pieces[i].From < p.To {
		return fmt.Errorf("bytes %d to %d of %s: %w", p.From, p.To, f.name, ErrTwice)
	}
	if i > 0 && f.pieces[i-1].To == p.From {
		i--
		p = join(f.pieces[i], p)
		f.pieces[i] = p
	} else {
		f.pieces = slices.Insert(f.pieces, i, p)
	}
	if i+1 < len(f.pieces) && f.pieces[i+1].From == p.To {
		f.pieces[i] = join(p, f.pieces[i+1])
		f.pieces = slices.Delete(f.pieces, i+1, i+2)
	}
	return nil
}

func join(a, b protocol.Range) protocol.Range {
	return protocol.Range{From: a.From, To: b.To, Sum: combine(a.Sum, b.Sum, b.To-b.From)}
}

// Ranges returns what a client is told; nil if the set was given up. streams returns the name of a stream.
func (s *Set) Ranges(streams func(int) string) (all []protocol.FileRanges) {
	if !s.full {
		all = make([]protocol.FileRanges, 0, len(s.files))
	}
	for _, f := range s.files {
		all = append(all, protocol.FileRanges{Stream: streams(f.stream), File: f.name, Header: f.header, Taken: slices.Clone(f.pieces)})
	}
	return all
}

// Append appends the set to a snapshot.
func (s *Set) Append(b []byte) []byte {
	b = wire.AppendBool(wire.AppendArray(b, 2), s.full)
	b = wire.AppendArray(b, len(s.files))
	for _, f := range s.files {
		b = wire.AppendUint(wire.AppendArray(b, 4), uint64(f.stream))
		b = wire.AppendUint(wire.AppendString(b, f.name), uint64(f.header))
		b = wire.AppendArray(b, 3*len(f.pieces))
		for _, p := range f.pieces {
			b = wire.AppendUint(wire.AppendUint(wire.AppendUint(b, p.From), p.To), uint64(p.Sum))
		}
	}
	return b
}

// Read reads what Append wrote, for an analysis with the given number of streams.
func (s *Set) Read(d *wire.Reader, streams int) {
	*s = Set{}
	d.ArrayOf(2)
	s.full = d.Bool()
	for n := d.Array(); n > 0 && d.Err() == nil; n-- {
		d.ArrayOf(4)
		f := &file{stream: readStream(d, streams), name: d.String(), header: uint32(d.Uint())}
		pieces := d.Array()
		if pieces%3 != 0 {
			d.Fail("%d numbers of pieces", pieces)
		}
		for ; pieces > 0 && d.Err() == nil; pieces -= 3 {
			f.pieces = append(f.pieces, protocol.Range{From: d.Uint(), To: d.Uint(), Sum: uint32(d.Uint())})
		}
		s.files = append(s.files, f)
		s.bytes += fileBytes + len(f.name) + pieceBytes*len(f.pieces)
	}
}

// AppendChunk appends to a chunk's record where the chunk comes from. The record has the chunk's size in another field.
func AppendChunk(b []byte, c Chunk) []byte {
	b = wire.AppendUint(wire.AppendArray(b, 5), uint64(c.Stream))
	b = wire.AppendUint(wire.AppendString(b, c.File), uint64(c.Header))
	return wire.AppendUint(wire.AppendUint(b, c.At), uint64(c.Sum))
}

// ReadChunk reads what AppendChunk wrote.
func ReadChunk(d *wire.Reader, streams int, size uint64) Chunk {
	d.ArrayOf(5)
	return Chunk{Stream: readStream(d, streams), File: d.String(), Header: uint32(d.Uint()), At: d.Uint(), Size: size, Sum: uint32(d.Uint())}
}

func readStream(d *wire.Reader, streams int) int {
	n := d.Uint()
	if n >= uint64(streams) {
		d.Fail("stream %d of %d", n, streams)
		return 0
	}
	return int(n)
}
