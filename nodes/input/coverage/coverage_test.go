package coverage

import (
	"bytes"
	"errors"
	"hash/crc32"
	"math/rand/v2"
	"reflect"
	"testing"

	"posta.dev/posta/internal/wire"
	"posta.dev/posta/protocol"
)

var table = crc32.MakeTable(crc32.Castagnoli)

func sum(p []byte) uint32 { return crc32.Checksum(p, table) }

func TestCombine(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		p := make([]byte, r.IntN(5000))
		for i := range p {
			p[i] = byte(r.IntN(256))
		}
		cut := r.IntN(len(p) + 1)
		if got := combine(sum(p[:cut]), sum(p[cut:]), uint64(len(p)-cut)); got != sum(p) {
			t.Fatalf("%d bytes cut at %d: %08x, not %08x", len(p), cut, got, sum(p))
		}
	}
	// A long way is the same as its parts: lengths beyond 2^32 bytes.
	const far = 5 << 32
	a, b, c := uint32(0xdeadbeef), uint32(0x12345678), uint32(0x0badcafe)
	if combine(combine(a, b, far), c, far) != combine(a, combine(b, c, far), 2*far) {
		t.Error("it is not associative over long ways")
	}
}

// naive is a set in the plainest way: each byte of each file, and whether it was taken.
type naive map[string][]bool

// TestR17_TakenPieces: whatever the order in which chunks come, the pieces are those of the bytes that were taken, as few as there can be,
// with the right checksums, also after a snapshot.
func TestR17_TakenPieces(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 3))
		content := map[string][]byte{"a": make([]byte, 1+r.IntN(300)), "b": make([]byte, 1+r.IntN(300))}
		taken := naive{}
		for name, p := range content {
			taken[name] = make([]bool, len(p))
			for i := range p {
				p[i] = byte(r.IntN(256))
			}
		}
		var s Set
		for range 60 {
			name := []string{"a", "b"}[r.IntN(2)]
			p := content[name]
			from := r.IntN(len(p))
			to := from + 1 + r.IntN(min(20, len(p)-from))
			err := s.Add(Chunk{Stream: 1, File: name, Header: 7, At: uint64(from), Size: uint64(to - from), Sum: sum(p[from:to])}, 1<<20)
			if twice := bytes.IndexByte(bits(taken[name][from:to]), 1) >= 0; twice != errors.Is(err, ErrTwice) {
				t.Fatalf("seed %d: bytes %d to %d of %s, twice %v: %v", seed, from, to, name, twice, err)
			}
			if err != nil {
				continue
			}
			for i := from; i < to; i++ {
				taken[name][i] = true
			}
			if r.IntN(5) == 0 {
				s = again(t, s)
			}
		}
		var want []protocol.FileRanges
		for _, name := range []string{"a", "b"} {
			if pieces := taken.pieces(name, content[name]); len(pieces) > 0 {
				want = append(want, protocol.FileRanges{Stream: "facts", File: name, Header: 7, Taken: pieces})
			}
		}
		if got := s.Ranges(func(int) string { return "facts" }); !reflect.DeepEqual(got, want) {
			t.Fatalf("seed %d:\n got %v\nwant %v", seed, got, want)
		}
	}
}

func bits(b []bool) []byte {
	p := make([]byte, len(b))
	for i, is := range b {
		if is {
			p[i] = 1
		}
	}
	return p
}

func (n naive) pieces(name string, content []byte) (all []protocol.Range) {
	taken := n[name]
	for from := 0; from < len(taken); from++ {
		if !taken[from] {
			continue
		}
		to := from
		for to < len(taken) && taken[to] {
			to++
		}
		all = append(all, protocol.Range{From: uint64(from), To: uint64(to), Sum: sum(content[from:to])})
		from = to
	}
	return all
}

// again returns a set that was in a snapshot.
func again(t *testing.T, s Set) (back Set) {
	t.Helper()
	d := wire.NewReader(s.Append(nil))
	back.Read(&d, 2)
	if err := d.Done(); err != nil {
		t.Fatal(err)
	}
	if back.bytes != s.bytes {
		t.Fatalf("it counts %d bytes, and %d after a snapshot", s.bytes, back.bytes)
	}
	return back
}

// TestR16_TakenPiecesAreBounded: what would be too large is given up, and stays so; one file that is sent in order takes nothing more
// however long it is.
func TestR16_TakenPiecesAreBounded(t *testing.T) {
	var s Set
	for i := range uint64(100_000) {
		if err := s.Add(Chunk{File: "a", At: i * 10, Size: 10}, 200); err != nil || s.Given() {
			t.Fatal(i, err, "given up although there is one piece")
		}
	}
	for i := uint64(0); !s.Given(); i++ {
		if i > 100 {
			t.Fatal("it grows and grows")
		}
		if err := s.Add(Chunk{File: "b", At: i * 20, Size: 10}, 2000); err != nil {
			t.Fatal(err)
		}
	}
	if s = again(t, s); !s.Given() || len(s.Ranges(nil)) != 0 {
		t.Error("a set that was given up is as if nothing had been taken")
	}
	if err := s.Add(Chunk{File: "a", At: 0, Size: 10}, 1<<20); err != nil || !s.Given() {
		t.Error("it is kept again", err)
	}
	var other Set
	_ = other.Add(Chunk{File: "a", Header: 1, At: 0, Size: 10}, 1<<20)
	if err := other.Add(Chunk{File: "a", Header: 2, At: 10, Size: 10}, 1<<20); err != nil || !other.Given() {
		t.Error("one file with two headers", err)
	}
}

func FuzzRead(f *testing.F) {
	var s Set
	_ = s.Add(Chunk{Stream: 1, File: "a", Header: 7, At: 5, Size: 10, Sum: 9}, 1<<20)
	f.Add(s.Append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		var s Set
		d := wire.NewReader(b)
		s.Read(&d, 2)
	})
}

func BenchmarkAdd(b *testing.B) {
	var s Set
	for i := uint64(0); b.Loop(); i++ {
		_ = s.Add(Chunk{File: "montreal/trips.csv", At: i << 20, Size: 1 << 20, Sum: uint32(i)}, 1<<20)
	}
}
