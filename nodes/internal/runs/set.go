package runs

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"slices"

	"posta.dev/posta/internal/wire"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol/session"
)

// Most is how many runs a list may have: to read a bucket, the index of each run is needed, which takes 12 KiB.
const Most = 4096

// Set has the runs of one session.
type Set struct {
	store *Store
	id    session.ID
	made  uint64 // runs so far
	lists [][]*run
	read  []byte // scratch of Read, which takes it out while it uses it: a reader may pause, and another list be read meanwhile
}

type run struct {
	name  string
	size  int64
	parts [][]byte // the head, and what follows it; nil once the run is saved
	index *index   // nil until it is read for the first time
}

// Add makes a run of what was built, at the end of a list, and returns its name. Recovery must repeat the call in the same way: the name
// depends on the content. A list with Most runs accepts no more.
func (s *Set) Add(list int, b *Builder) (name string, err error) {
	for len(s.lists) <= list {
		s.lists = append(s.lists, nil)
	}
	if len(s.lists[list]) >= Most {
		return "", fmt.Errorf(
			"it would have more than %d files: raise limits.tables in the topology, or add aggregators, and start the session again", Most)
	}
	parts, size, sum := b.finish()
	s.made++
	r := &run{name: fmt.Sprintf("%s-%x-%d-%08x-%d", s.store.name, s.id[:], s.made, sum, size), size: size, parts: parts}
	s.lists[list] = append(s.lists[list], r)
	return r.name, nil
}

// Files names the runs. A nil set has none.
func (s *Set) Files() (names []string) {
	if s != nil {
		s.each(func(r *run) { names = append(names, r.name) })
	}
	return names
}

// Len returns how many runs a list has. A nil set has none.
func (s *Set) Len(list int) int {
	if s == nil || list >= len(s.lists) {
		return 0
	}
	return len(s.lists[list])
}

// Bytes returns how large a list's bucket is in all its runs together.
func (s *Set) Bytes(list, bucket int) (n int, err error) {
	for i := range s.Len(list) {
		r := s.lists[list][i]
		if err := r.readIndex(s.store.from); err != nil {
			return 0, err
		}
		from, to := r.index.bounds(bucket)
		n += int(to - from)
	}
	return n, nil
}

// Read calls each with every entry that a list has in a bucket, run by run in the order in which they were added. An entry is valid during
// the call.
func (s *Set) Read(list, bucket int, each func(entry []byte) error) error {
	for i := range s.Len(list) {
		if err := s.readRun(s.lists[list][i], bucket, each); err != nil {
			return err
		}
	}
	return nil
}

func (s *Set) readRun(r *run, bucket int, each func(entry []byte) error) error {
	if err := r.readIndex(s.store.from); err != nil {
		return err
	}
	from, to := r.index.bounds(bucket)
	if from == to {
		return nil
	}
	all := slices.Grow(s.read[:0], int(to-from))[:to-from]
	s.read = nil
	defer func() { s.read = all }()
	if err := r.readAt(s.store.from, all, from); err != nil {
		return err
	}
	if crc32.Checksum(all, castagnoli) != r.index.sums[bucket] {
		return r.damaged()
	}
	for rest := all; len(rest) > 0; {
		n, k := binary.Uvarint(rest)
		if k <= 0 || n > uint64(len(rest)-k) {
			return r.damaged()
		}
		if err := each(rest[k : k+int(n) : k+int(n)]); err != nil {
			return err
		}
		rest = rest[k+int(n):]
	}
	return nil
}

func (r *run) readIndex(from role.SavedReader) error {
	if r.index != nil {
		return nil
	}
	if r.size < int64(headSize) {
		return r.damaged()
	}
	head := make([]byte, headSize)
	if err := r.readAt(from, head, 0); err != nil {
		return err
	}
	index, err := decodeIndex(head, r.size)
	if err != nil {
		return r.failed(err)
	}
	r.index = index
	return nil
}

func (r *run) readAt(from role.SavedReader, p []byte, at int64) error {
	if r.parts != nil {
		r.copyParts(p, at)
		return nil
	}
	if err := from.ReadFileAt(r.name, p, at); err != nil {
		return r.failed(err)
	}
	return nil
}

// copyParts reads a run that is not saved yet.
func (r *run) copyParts(p []byte, at int64) {
	if at < int64(headSize) {
		n := copy(p, r.parts[0][at:])
		p, at = p[n:], int64(headSize)
	}
	for at -= int64(headSize); len(p) > 0; {
		n := copy(p, r.parts[1+at/partSize][at%partSize:])
		p, at = p[n:], at+int64(n)
	}
}

func (r *run) damaged() error { return r.failed(ErrDamaged) }

func (r *run) failed(err error) error {
	return fmt.Errorf("file %s beside the log, to which memory was moved (limits.tables), cannot be read: %w; check the disk, and start "+
		"the session again", r.name, err)
}

// Append appends the names of the runs to a snapshot, which is saved after the files. A nil set has no runs.
func (s *Set) Append(b []byte) []byte {
	if s == nil {
		return wire.AppendArray(b, 0)
	}
	b = wire.AppendArray(b, 2)
	b = wire.AppendUint(b, s.made)
	b = wire.AppendArray(b, len(s.lists))
	for _, l := range s.lists {
		b = wire.AppendArray(b, 2*len(l))
		for _, r := range l {
			b = wire.AppendUint(wire.AppendString(b, r.name), uint64(r.size))
		}
	}
	return b
}

func (s *Set) restore(d *wire.Reader) {
	s.made = d.Uint()
	for n := d.Array(); n > 0 && d.Err() == nil; n-- {
		var list []*run
		for k := d.Array(); k > 1 && d.Err() == nil; k -= 2 {
			list = append(list, &run{name: d.String(), size: int64(d.Uint())})
		}
		s.lists = append(s.lists, list)
	}
}

func (s *Set) each(do func(*run)) {
	for _, l := range s.lists {
		for _, r := range l {
			do(r)
		}
	}
}
