package runs

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"posta.dev/posta/internal/wire"
	"posta.dev/posta/rows/fold"
	"posta.dev/posta/test/roletest"
)

var id = roletest.ID("s")

func store(disk roletest.Saved) *Store {
	s := NewStore("aggregator")
	s.AttachFiles(disk)
	return s
}

// built returns a run of entries, and puts them by bucket into all.
func built(r *rand.Rand, all map[int][]string, n int) *Builder {
	mine := map[int][]string{}
	for range n {
		e := strings.Repeat("x", r.IntN(300)) + fmt.Sprint(r.Uint64())
		k := fold.Bucket(fold.Hash([]byte(e)))
		mine[k] = append(mine[k], e)
	}
	b := NewBuilder()
	for _, k := range slices.Sorted(maps.Keys(mine)) {
		for _, e := range mine[k] {
			b.Add(k, []byte(e))
			all[k] = append(all[k], e)
		}
	}
	return b
}

func add(t *testing.T, s *Store, list int, b *Builder) string {
	t.Helper()
	name, err := s.Open(id).Add(list, b)
	if err != nil {
		t.Fatal(err)
	}
	return name
}

func same(t *testing.T, s *Store, list int, want map[int][]string) {
	t.Helper()
	for k := range Buckets {
		var got []string
		if err := s.Of(id).Read(list, k, func(e []byte) error { got = append(got, string(e)); return nil }); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, want[k]) {
			t.Fatalf("bucket %d has %d entries, want %d", k, len(got), len(want[k]))
		}
	}
}

// TestR16_RunsGiveBackWhatWasAdded: saved or not, and after a snapshot.
func TestR16_RunsGiveBackWhatWasAdded(t *testing.T) {
	disk, r := roletest.Saved{}, rand.New(rand.NewPCG(1, 2))
	s, want := store(disk), []map[int][]string{{}, {}}
	for i := range 6 {
		add(t, s, i%2, built(r, want[i%2], 1+500*i))
		if i == 3 {
			disk.Save(s)
		}
	}
	for i := range want {
		same(t, s, i, want[i])
	}
	if n := len(s.Unsaved()); n != 2 || len(s.UnsavedSessions()) != 1 {
		t.Fatalf("%d files are unsaved, of %d sessions", n, len(s.UnsavedSessions()))
	}
	disk.Save(s)
	if len(s.Unsaved()) != 0 || len(s.UnsavedSessions()) != 0 || len(s.Files()) != 6 || len(disk) != 6 {
		t.Fatal(s.Unsaved(), s.Files(), len(disk))
	}
	again := store(disk)
	d := wire.NewReader(s.Of(id).Append(nil))
	if again.Restore(id, &d); d.Done() != nil {
		t.Fatal(d.Done())
	}
	for i := range want {
		same(t, again, i, want[i])
		if again.Of(id).Len(i) != 3 {
			t.Fatal(again.Of(id).Len(i))
		}
	}
	if next, first := add(t, again, 0, built(r, map[int][]string{}, 1)), s.Files()[0]; next == first || slices.Contains(s.Files(), next) {
		t.Fatalf("a run made after a restart has the name %s, which another run has", next)
	}
	files := again.Files()
	again.Forget(id)
	if got, twice := again.Dropped(), again.Dropped(); !slices.Equal(got, files) || len(twice) > 0 {
		t.Fatalf("%d files are not needed any more, want %d; %d of them are named twice", len(got), len(files), len(twice))
	}
	for _, name := range files {
		delete(disk, name)
	}
	if len(disk) != 0 || again.Of(id).Len(0) != 0 {
		t.Fatalf("%d files of a session that has left", len(disk))
	}
}

// TestR16_RunsOfManyParts: entries lie across the ends of parts, and are read from memory and from the file.
func TestR16_RunsOfManyParts(t *testing.T) {
	disk, s, want := roletest.Saved{}, store(nil), map[int][]string{}
	s.AttachFiles(disk)
	b := NewBuilder()
	for i, n := range []int{partSize - 3, 1, 0, 5, partSize, 2*partSize + 7, partSize - 1, 9 << 20} {
		e := strings.Repeat(string(rune('a'+i)), n)
		want[i/2] = append(want[i/2], e)
		b.Add(i/2, []byte(e))
	}
	size := b.Bytes()
	add(t, s, 0, b)
	same(t, s, 0, want)
	files := s.Unsaved()
	for i, p := range files[0].Parts[1:] {
		if len(p) != partSize && i+2 < len(files[0].Parts) || cap(p) > 2*partSize {
			t.Fatalf("part %d has %d bytes in memory of %d", i, len(p), cap(p))
		}
	}
	disk.Save(s)
	if got := len(disk[files[0].Name]); got != headSize+size {
		t.Fatalf("the file has %d bytes, want %d", got, headSize+size)
	}
	same(t, s, 0, want)
}

// TestR16_ARunHasTheSameNameEachTime: recovery adds it again, and finds the file that is there already.
func TestR16_ARunHasTheSameNameEachTime(t *testing.T) {
	name := func(entry string) string {
		b := NewBuilder()
		b.Add(7, []byte(entry))
		return add(t, store(nil), 1, b)
	}
	first, again, other := name("a"), name("a"), name("b")
	if first != again || first == other {
		t.Fatal(first, again, other)
	}
}

func TestR16_SnapshotOfNothing(t *testing.T) {
	s := store(nil)
	d := wire.NewReader(s.Of(id).Append(nil))
	if s.Restore(id, &d); d.Done() != nil || s.Of(id) != nil {
		t.Fatal(d.Done())
	}
}

// TestR16_ADamagedRunIsAnError: each byte of a run is covered by a checksum, so no change of one goes unnoticed, nor does a file that is
// cut or gone.
func TestR16_ADamagedRunIsAnError(t *testing.T) {
	disk, all := roletest.Saved{}, map[int][]string{}
	s := store(disk)
	name := add(t, s, 0, built(rand.New(rand.NewPCG(3, 4)), all, 40))
	disk.Save(s)
	whole := disk[name]
	read := func(file []byte) (err error) {
		again := store(roletest.Saved{name: file})
		d := wire.NewReader(s.Of(id).Append(nil))
		again.Restore(id, &d)
		got := map[int][]string{}
		for k := range Buckets {
			if e := again.Of(id).Read(0, k, func(e []byte) error { got[k] = append(got[k], string(e)); return nil }); e != nil {
				err = e
			}
		}
		if err == nil && !maps.EqualFunc(got, all, slices.Equal) {
			t.Fatal("a damaged run was read as if it were good")
		}
		return err
	}
	if err := read(whole); err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(5, 6))
	for i := range 300 {
		at := r.IntN(len(whole))
		if i < 100 {
			at = headSize + r.IntN(len(whole)-headSize)
		}
		bad := slices.Clone(whole)
		bad[at] ^= 1 << r.IntN(8)
		if err := read(bad); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), name) {
			t.Fatalf("byte %d of %d was changed: %v", at, len(whole), err)
		}
	}
	for _, n := range []int{0, 1, headSize - 1, headSize, len(whole) - 1} {
		if read(whole[:n]) == nil {
			t.Fatalf("a run of %d bytes was read as if it had %d", n, len(whole))
		}
	}
}

func TestR16_BucketsAreAddedInOrder(t *testing.T) {
	for _, k := range []int{3, Buckets} {
		func() {
			defer func() {
				if recover() == nil {
					t.Fatalf("bucket %d was taken", k)
				}
			}()
			b := NewBuilder()
			b.Add(4, nil)
			b.Add(k, nil)
		}()
	}
}

func TestR16_AListHasABound(t *testing.T) {
	s := store(nil)
	for range Most {
		s.Open(id).lists = [][]*run{append(slices.Concat(s.Of(id).lists...), &run{})}
	}
	if _, err := s.Of(id).Add(0, NewBuilder()); err == nil || !strings.Contains(err.Error(), "limits.tables") {
		t.Fatal(err)
	}
}

// TestR16_ErrorsOfTheReader: what stops reading is what Read returns.
func TestR16_ErrorsOfTheReader(t *testing.T) {
	s, stop := store(nil), errors.New("enough")
	b := NewBuilder()
	b.Add(0, []byte("a"))
	b.Add(0, []byte("b"))
	add(t, s, 0, b)
	n := 0
	if err := s.Of(id).Read(0, 0, func([]byte) error { n++; return stop }); err != stop || n != 1 {
		t.Fatal(n, err)
	}
	if size, err := s.Of(id).Bytes(0, 0); size != 4 || err != nil {
		t.Fatal(size, err)
	}
}
