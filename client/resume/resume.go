package resume

import (
	"cmp"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"

	"posta.dev/posta/protocol"
)

var (
	// ErrOther is wrapped by errors about files that differ from those of which the session has rows.
	ErrOther = errors.New("these are other files than those of which the session has rows")

	// ErrUnknown is returned by Of when an input does not know what it has taken.
	ErrUnknown = errors.New("it is not known what was taken")
)

// Taken is what the inputs of a cluster have of a session.
type Taken struct {
	files map[key]*taken
	ended map[string]bool // streams that have ended at an input: nothing can be added to them
}

type key struct{ stream, file string }

type taken struct {
	header uint32
	pieces []protocol.Range // sorted by From; pieces of several inputs may touch
}

// Of combines what the inputs have answered; inputs are their names, for errors.
func Of(answers []protocol.Reply, inputs []string) (*Taken, error) {
	all := &Taken{files: map[key]*taken{}, ended: map[string]bool{}}
	for i := range answers {
		a := &answers[i]
		if len(a.Lanes) > 0 && a.Ranges == nil {
			return nil, fmt.Errorf("%w at %s: the upload was begun by a client that does not tell it, or has more pieces than an input keeps; "+
				"cancel the session and run it again",
				ErrUnknown, at(inputs, i))
		}
		for _, stream := range a.Ended {
			all.ended[stream] = true
		}
		for _, r := range a.Ranges {
			k := key{r.Stream, r.File}
			f := all.files[k]
			if f == nil {
				f = &taken{header: r.Header}
				all.files[k] = f
			}
			if f.header != r.Header {
				return nil, fmt.Errorf("%w: %s was sent with two headers", ErrUnknown, r.File)
			}
			f.pieces = append(f.pieces, r.Taken...)
		}
	}
	for k, f := range all.files {
		slices.SortFunc(f.pieces, func(a, b protocol.Range) int { return cmp.Compare(a.From, b.From) })
		for i := 1; i < len(f.pieces); i++ {
			if f.pieces[i].From < f.pieces[i-1].To {
				return nil, fmt.Errorf("%w: bytes %d of %s were taken by two inputs", ErrUnknown, f.pieces[i].From, k.file)
			}
		}
	}
	return all, nil
}

func at(inputs []string, i int) string {
	if i < len(inputs) {
		return inputs[i]
	}
	return fmt.Sprintf("input %d", i+1)
}

// Files checks that no file of a stream is missing that was sent, by name.
func (t *Taken) Files(stream string, names []string) error {
	there := map[string]bool{}
	for _, name := range names {
		there[inUTF8(name)] = true
	}
	var missing []string
	for k := range t.files {
		if k.stream == stream && !there[k.file] {
			missing = append(missing, k.file)
		}
	}
	slices.Sort(missing)
	if len(missing) > 0 {
		return fmt.Errorf("%w: stream %s has rows of %s, which is not there", ErrOther, stream, missing[0])
	}
	return nil
}

// Bytes returns how many bytes of records were taken of a stream.
func (t *Taken) Bytes(stream string) (n uint64) {
	for k, f := range t.files {
		if k.stream == stream {
			for _, p := range f.pieces {
				n += p.To - p.From
			}
		}
	}
	return n
}

// File returns the state of a file before anything of it was read. A nil Taken means that nothing of any file was taken.
func (t *Taken) File(stream, name string) *File {
	f := &File{name: name}
	if t == nil {
		return f
	}
	f.whole = t.ended[stream]
	if k := t.files[key{stream, inUTF8(name)}]; k != nil {
		f.header, f.pieces, f.begun = k.header, k.pieces, true
	}
	return f
}

// inUTF8 is a file's name as it is on the wire.
func inUTF8(name string) string { return strings.ToValidUTF8(name, "\ufffd") }

// File is how far one file has been read.
type File struct {
	name   string
	header uint32
	pieces []protocol.Range // that have not been read to their end
	begun  bool             // something of it was taken
	whole  bool             // its stream has ended: all of it was taken
	at     uint64
	sum    uint32 // of the piece that is being read, so far
}

// At returns how many bytes of records have been read.
func (f *File) At() uint64 { return f.at }

// Left reports whether there is something left to compare: taken bytes that were not read yet, or, if the stream has ended, all of the
// file.
func (f *File) Left() bool { return len(f.pieces) > 0 || f.whole }

// Size compares the number of bytes of the file's records. It is for files whose size is known before they are read, so that another file
// is refused at once.
func (f *File) Size(records uint64) error {
	last := uint64(0)
	if n := len(f.pieces); n > 0 {
		last = f.pieces[n-1].To
	}
	switch {
	case records < last:
		return fmt.Errorf("%w: %s has %d bytes of records, and the session has rows of its byte %d", ErrOther, f.name, records, last-1)
	case f.whole && records > last:
		return fmt.Errorf("%w: %s has %d bytes of records, and had %d when its stream ended", ErrOther, f.name, records, last)
	}
	return nil
}

// Header compares the file's header.
func (f *File) Header(header []byte) error {
	if f.begun && crc32.Checksum(header, castagnoli) != f.header {
		return fmt.Errorf("%w: %s has another header", ErrOther, f.name)
	}
	return nil
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Part goes to the part of the file whose records begin at a place, if it is another one than before.
func (f *File) Part(begins uint64) (other bool, err error) {
	if begins <= f.at {
		return false, nil
	}
	if len(f.pieces) > 0 && f.pieces[0].From < begins {
		return false, fmt.Errorf("%w: %s ends at place %d of a part, and records behind it were taken", ErrOther, f.name, f.at)
	}
	f.at = begins
	return true, nil
}

// Next returns how many bytes to cut next, at most limit, and whether they were taken.
func (f *File) Next(limit int) (most int, taken bool) {
	if len(f.pieces) == 0 {
		return limit, false
	}
	next := f.pieces[0].From
	if taken = f.at >= next; taken {
		next = f.pieces[0].To
	}
	return int(min(uint64(limit), next-f.at)), taken
}

// Cut takes the records that were cut after Next. They may be longer than Next allowed, if no record ends before.
func (f *File) Cut(records []byte, taken bool) error {
	end := f.at + uint64(len(records))
	switch {
	case !taken && f.whole:
		return fmt.Errorf("%w: the stream has ended, and %s has rows from byte %d on that were not taken", ErrOther, f.name, f.at)
	case !taken && len(f.pieces) > 0 && end > f.pieces[0].From, taken && end > f.pieces[0].To:
		return fmt.Errorf("%w: no record of %s ends where one ended that was taken, before byte %d", ErrOther, f.name, end)
	}
	f.at = end
	if !taken {
		return nil
	}
	f.sum = crc32.Update(f.sum, castagnoli, records)
	if p := f.pieces[0]; end == p.To {
		if f.sum != p.Sum {
			return fmt.Errorf("%w: %s differs between bytes %d and %d of its records", ErrOther, f.name, p.From, p.To)
		}
		f.pieces, f.sum = f.pieces[1:], 0
	}
	return nil
}

// End checks the file after its last record.
func (f *File) End() error {
	if len(f.pieces) > 0 {
		return fmt.Errorf("%w: %s ends at byte %d of its records, and %d were taken", ErrOther, f.name, f.at, f.pieces[len(f.pieces)-1].To)
	}
	return nil
}
