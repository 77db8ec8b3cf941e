package fold

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"posta.dev/posta/internal/wire"
	"posta.dev/posta/rows/batch"
)

func sample() *Table {
	t := NewTable(&every)
	for _, it := range items(rand.New(rand.NewPCG(1, 1)), 40) {
		it.addTo(t)
	}
	return t
}

func TestMergeRefusesEveryCutAndSurvivesEveryFlip(t *testing.T) {
	p := canonical(sample())
	for n := range p {
		if err := NewTable(&every).Merge(p[:n]); !errors.Is(err, ErrMalformed) {
			t.Fatalf("first %d bytes: %v", n, err)
		}
	}
	for i := range p {
		q := bytes.Clone(p)
		q[i] ^= 1 << (i % 8)
		table := NewTable(&every)
		if err := table.Merge(q); err != nil && !errors.Is(table.Err(), err) {
			t.Fatalf("byte %d: error %v, table says %v", i, err, table.Err())
		}
	}
}

// forged merges a partial of one row whose cell of the only aggregate is p.
func forged(t *testing.T, kind AggKind, p []byte) error {
	t.Helper()
	spec := Spec{Name: "t", Aggs: []Agg{{Name: "a", Kind: kind, N: 1}}}
	if kind != Least {
		spec.Aggs[0].N = 2
	}
	b := batch.NewBuilder(spec.columns())
	b.Text(0).Append(p)
	return NewTable(&spec).Merge(b.Append(nil))
}

func TestMergeRefusesForgedCells(t *testing.T) {
	for _, c := range []struct {
		name string
		kind AggKind
		p    []byte
	}{
		{"exact without bytes", Exact, nil},
		{"exact with a rest", Exact, []byte{1, 1}},
		{"exact text", Exact, []byte{0xa0}},
		{"text without mark", MinText, []byte("x")},
		{"least without array", Least, []byte{1}},
		{"least too many", Least, wire.AppendBin(wire.AppendBin(wire.AppendArray(nil, 2), nil), nil)},
		{"least cut", Least, []byte{0x91, 0xc4, 9}},
		{"counts of nothing", Counts, []byte{0x80}},
		{"counts zero times more", Counts, []byte{2, 0, 0}},
		{"counts cut in times", Counts, []byte{2, 0}},
		{"counts too many times", Counts, append([]byte{2, 0}, binary.AppendUvarint(nil, 1<<63)...)},
		{"counts cut in a distance", Counts, []byte{2, 0x80}},
		{"histogram without a shift", Histogram, nil},
		{"histogram with a long shift", Histogram, []byte{64}},
		{"histogram cut", Histogram, []byte{0, 0x80}},
		{"histogram with a number that is too large for its shift", Histogram, []byte{63, 4}},
		{"smallest too many", Smallest, []byte{2, 1, 1}},
		{"smallest twice", Smallest, []byte{2, 0}},
		{"smallest cut", Smallest, []byte{2, 0x80}},
		{"smallest above an int64", Smallest, append([]byte{2}, binary.AppendUvarint(nil, math.MaxUint64)...)},
		{"least with a rest", Least, []byte{0x90, 0}},
	} {
		if err := forged(t, c.kind, c.p); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestMergeOfManyRowsInFewBytesNeedsLittleMemory(t *testing.T) {
	spec := Spec{Name: "t", Keys: []Key{{"k", KeyInt}}, Aggs: []Agg{{Name: "a", Kind: Sum}}}
	b := batch.NewBuilder(spec.columns())
	for range 1 << 20 {
		b.Int(0).Append(5)
		b.Int(1).Append(1)
	}
	p := b.Append(nil)
	table := NewTable(&spec)
	if err := table.Merge(p); err != nil {
		t.Fatal(err)
	}
	if table.Len() != 1 || table.Sum(0, 0) != 1<<20 || table.Bytes() > 1<<16 {
		t.Fatalf("%d bytes became %d rows, sum %d, %d bytes", len(p), table.Len(), table.Sum(0, 0), table.Bytes())
	}
}

func TestSumOverflowIsAnErrorThatSticks(t *testing.T) {
	spec := Spec{Name: "t", Aggs: []Agg{{Name: "a", Kind: Sum}}}
	one, two := NewTable(&spec), NewTable(&spec)
	for _, table := range []*Table{one, two} {
		table.AddSum(table.Row(table.Key()), 0, math.MaxInt64)
	}
	p := one.AppendRows(nil, one.Rows())
	if err := two.Merge(p); !errors.Is(err, ErrOverflow) {
		t.Fatalf("merge: %v", err)
	}
	if err := two.Merge(p); !errors.Is(err, ErrOverflow) {
		t.Fatalf("second merge: %v", err)
	}
	one.AddSum(0, 0, 1)
	if !errors.Is(one.Err(), ErrOverflow) {
		t.Fatalf("AddSum: %v", one.Err())
	}
	one.Reset()
	if one.Err() != nil || one.Len() != 0 {
		t.Fatal("Reset keeps the error or rows")
	}
	one.AddSum(one.Row(one.Key()), 0, math.MinInt64)
	one.AddSum(0, 0, -1)
	if !errors.Is(one.Err(), ErrOverflow) {
		t.Fatalf("AddSum below: %v", one.Err())
	}
}

func FuzzMerge(f *testing.F) {
	f.Add(canonical(sample()))
	f.Add(canonical(NewTable(&every)))
	f.Fuzz(func(t *testing.T, p []byte) {
		if len(p) > 1<<12 {
			return
		}
		table := NewTable(&every)
		if table.Merge(p) != nil {
			return
		}
		if table.Len() < 1000 && !bytes.Equal(roundTrip(t, table), canonical(table)) {
			t.Fatal("a round trip changed the table")
		}
	})
}

// TestMergeFindsRowsThatItsOwnBlockAdds: what a prefetch saw before a block is only a guess. Keys repeat within a block, blocks
// make the table grow, and keys differ only at their end.
func TestMergeFindsRowsThatItsOwnBlockAdds(t *testing.T) {
	spec := Spec{Name: "t", Keys: []Key{{Name: "k", Kind: KeyText}, {Name: "n", Kind: KeyInt}}, Aggs: []Agg{{Name: "rows", Kind: Sum}}}
	r := rand.New(rand.NewPCG(9, 9))
	for _, distinct := range []int{1, 10, 1000, 50_000} {
		want := map[[2]int]int64{}
		table := NewTable(&spec)
		for range 6 {
			b := batch.NewBuilder(spec.columns())
			for range 5000 {
				k := [2]int{r.IntN(distinct), r.IntN(3)}
				want[k]++
				b.Text(0).Append(bytes.Repeat([]byte{'k'}, k[0]%40))
				b.Int(1).Append(int64(k[0]*3 + k[1]))
				b.Int(2).Append(1)
			}
			if err := table.Merge(b.Append(nil)); err != nil {
				t.Fatal(err)
			}
		}
		if table.Len() != len(want) {
			t.Fatalf("%d rows, want %d", table.Len(), len(want))
		}
		for row := range table.Len() {
			n := int(table.KeyInt(row, 1))
			k := [2]int{n / 3, n % 3}
			if table.Sum(row, 0) != want[k] || len(table.KeyText(row, 0)) != k[0]%40 {
				t.Fatalf("%v: %d, want %d", k, table.Sum(row, 0), want[k])
			}
		}
	}
}
