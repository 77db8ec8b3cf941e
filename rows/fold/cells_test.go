package fold

import (
	"encoding/binary"
	"testing"
)

func TestCellsKeepEverythingInItsPlace(t *testing.T) {
	var c cells[int]
	for round := range 3 {
		var want []int
		for i, n := range []int{1, 0, 3, cellBlock - 5, 1, 1, 2*cellBlock + 7, 1, cellBlock, 10} {
			c.add(100*round+i, n)
			for range n {
				want = append(want, 100*round+i)
			}
			c.push(-i)
			want = append(want, -i)
		}
		if c.n != len(want) {
			t.Fatalf("round %d: %d values, %d were added", round, c.n, len(want))
		}
		for i, v := range want {
			if got := *c.at(i); got != v {
				t.Fatalf("round %d: value %d is %d, want %d", round, i, got, v)
			}
		}
		if c.room() > len(want)+2*cellBlock {
			t.Fatalf("round %d: memory for %d values, there are %d", round, c.room(), len(want))
		}
		c.reset()
	}
}

func TestCellsTakeLittleForLittle(t *testing.T) {
	var c cells[uint64]
	for n := range 3000 {
		c.push(7)
		if c.room() > 2*(n+8) {
			t.Fatalf("memory for %d values, there are %d", c.room(), n+1)
		}
	}
	c.add(7, 20*cellBlock)
	c.reset()
	c.push(7)
	c.reset()
	if c.room() > 2*cellBlock {
		t.Fatalf("memory for %d values is kept for one", c.room())
	}
}

// TestTheIndexGoesRoundItsEnd: if the tags of all keys are near the greatest, the keys fill the last slots and continue in the first
// ones. They are found again after the slots move to a larger index.
func TestTheIndexGoesRoundItsEnd(t *testing.T) {
	spec := Spec{Name: "t", Keys: []Key{{"k", KeyInt}}}
	table := NewTable(&spec)
	var high []int64
	var key [intPlace]byte
	for k := int64(0); len(high) < 500; k++ {
		if binary.LittleEndian.PutUint64(key[:], uint64(k)); Hash(key[:])>>56 == 0xff {
			high = append(high, k)
		}
	}
	for n, k := range high {
		if row := table.Row(table.Key().Int(k)); row != n {
			t.Fatalf("key %d is row %d, want %d", k, row, n)
		}
		if full(n+1, len(table.index.slots)) {
			t.Fatalf("%d rows in %d slots", n+1, len(table.index.slots))
		}
	}
	for n, k := range high {
		if row, ok := table.Find(table.Key().Int(k)); !ok || row != n {
			t.Fatalf("key %d is row %d (%v), want %d", k, row, ok, n)
		}
	}
	if x := &table.index; x.slots[0] == 0 || x.home(x.slots[0]>>32) == 0 {
		t.Fatal("no key has gone round")
	}
}

// TestManyRowsTakeLittleMemory: besides its key, a row takes 8 bytes for a number, the key's place, and 1.5 to 2.25 slots.
func TestManyRowsTakeLittleMemory(t *testing.T) {
	spec := Spec{Name: "t", Keys: []Key{{"k", KeyInt}}, Aggs: []Agg{{Name: "n", Kind: Sum}}}
	table := NewTable(&spec)
	for k := range int64(300_000) {
		table.AddSum(table.Row(table.Key().Int(k)), 0, k)
		if n := int(k) + 1; n >= 4*cellBlock && table.Bytes() > n*(8+8+8+18)+3*blockBytes {
			t.Fatalf("%d rows take %d bytes", n, table.Bytes())
		}
	}
}

// TestR16_CellsCount: a table's bytes are those of its keys and of its cells.
func TestR16_CellsCount(t *testing.T) {
	const rows = 10_000
	of := func(aggs ...Agg) int {
		table := NewTable(&Spec{Name: "t", Stream: "s", Keys: []Key{{Name: "k", Kind: KeyInt}}, Aggs: aggs})
		for k := range int64(rows) {
			table.Row(table.Key().Int(k))
		}
		return table.Bytes()
	}
	none := of()
	for _, kind := range []AggKind{Sum, Exact, MinText} {
		if n := of(Agg{Name: "x", Kind: kind}); n < none+8*rows {
			t.Errorf("%d rows with cells of kind %d take %d bytes, without %d", rows, kind, n, none)
		}
	}
}
