package fold

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestHashFlat_IsTheHash: of keys of every length that numbers alone can have.
func TestHashFlat_IsTheHash(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 9))
	for width := 8; width <= MaxKeys*intPlace+2; width++ {
		const n = 5
		q := query{width: width}
		for range n * width {
			q.keys = append(q.keys, byte(r.Uint32()))
		}
		q.hashAll(n)
		for i := range n {
			if len(q.hash) != n || q.hash[i] != Hash(q.key(i)) {
				t.Fatalf("width %d, key %d: %#x of %d", width, i, q.hash[i], len(q.hash))
			}
		}
	}
}

// TestSameWords_SeesEachByte that differs.
func TestSameWords_SeesEachByte(t *testing.T) {
	for width := 8; width <= 40; width++ {
		a := make([]byte, width)
		if !sameWords(a, slices.Clone(a)) {
			t.Fatalf("width %d: equal keys differ", width)
		}
		for i := range a {
			b := slices.Clone(a)
			if b[i] = 0x80; sameWords(a, b) || sameWords(b, a) {
				t.Errorf("width %d: byte %d is not compared", width, i)
			}
		}
	}
}

// TestRowsOf_FindsFlatKeysInAnIndexBeyondTheCache: with guesses, some of which are wrong, as one key after the other is found. There are
// keys that repeat within a block, and the index grows within one.
func TestRowsOf_FindsFlatKeysInAnIndexBeyondTheCache(t *testing.T) {
	for _, keys := range []int{1, 2, 3} {
		for _, nulls := range []bool{false, true} {
			spec := &Spec{Name: "t", Nulls: nulls, Aggs: []Agg{{Name: "n", Kind: Sum}}}
			for range keys {
				spec.Keys = append(spec.Keys, Key{"k", KeyInt})
				spec.Keys[len(spec.Keys)-1].Name += string(rune('0' + len(spec.Keys)))
			}
			blocks, single := NewTable(spec), NewTable(spec)
			r := rand.New(rand.NewPCG(uint64(keys), 4))
			const rows = 3*mergeBlock + 7
			for len(blocks.index.slots) <= 2*cachedSlots {
				values, sel := make([]KeyValues, keys), make([]int32, rows)
				for k := range values {
					values[k].Ints = make([]int64, rows)
				}
				if nulls && r.IntN(2) == 0 {
					values[0].Nulls = make([]uint64, rows/64+1)
				}
				var want []int32
				for i := range sel {
					sel[i] = int32(i)
					b := single.Key()
					for k := range values {
						v := r.Int64N(1 << 17)
						values[k].Ints[i] = v
						switch {
						case k > 0:
							values[k].Ints[i] = v & 1
						case values[k].Nulls != nil && v%64 == 0:
							values[k].Nulls[i>>6] |= 1 << (i & 63)
							b = b.Null()
							continue
						}
						b = b.Int(values[k].Ints[i])
					}
					want = append(want, int32(single.Row(b)))
				}
				if got := blocks.RowsOf(values, sel, nil); !slices.Equal(got, want) {
					t.Fatalf("%d keys, NULLs %v: other rows at %d groups", keys, nulls, single.Len())
				}
			}
			if blocks.Len() != single.Len() || blocks.Err() != nil {
				t.Errorf("%d keys, NULLs %v: %d rows and %d, %v", keys, nulls, blocks.Len(), single.Len(), blocks.Err())
			}
		}
	}
}

// TestFind_TellsKeysApartThatBeginAlike: the text of a shorter key may be followed in memory by what the longer one has.
func TestFind_TellsKeysApartThatBeginAlike(t *testing.T) {
	table := NewTable(&Spec{Name: "t", Keys: []Key{{"a", KeyText}, {"b", KeyText}}, Aggs: []Agg{{Name: "n", Kind: Sum}}})
	pairs := [][2]string{{"", ""}, {"a", ""}, {"", "a"}, {"a", "a"}, {"aa", ""}, {"", "aa"}, {"aa", "a"}, {"a", "aa"}}
	for i, p := range pairs {
		if row := table.Row(table.Key().String(p[0]).String(p[1])); row != i {
			t.Errorf("%q is row %d", p, row)
		}
		for before := range i + 1 {
			p := pairs[before]
			row, found := table.Find(table.Key().String(p[0]).String(p[1]))
			if !found || row != before {
				t.Errorf("%q is found in row %d, %v", p, row, found)
			}
		}
	}
}

// TestSetBound_HoldsForFlatKeys, to the byte, although they are added in blocks.
func TestSetBound_HoldsForFlatKeys(t *testing.T) {
	spec := &Spec{Name: "t", Keys: []Key{{"k", KeyInt}}, Aggs: []Agg{{Name: "n", Kind: Sum}}}
	ints, sel := make([]int64, 100), make([]int32, 100)
	for i := range ints {
		ints[i], sel[i] = math.MaxInt64-int64(i), int32(i)
	}
	for bound, fails := range map[int]bool{799: true, 800: false} {
		table := NewTable(spec)
		table.SetBound(bound)
		if table.RowsOf([]KeyValues{{Ints: ints}}, sel, nil); (table.Err() != nil) != fails {
			t.Errorf("bound of %d: %v", bound, table.Err())
		}
	}
}

// TestRowsAs_FindsTheOnlyRowWithoutKeys, if there is one.
func TestRowsAs_FindsTheOnlyRowWithoutKeys(t *testing.T) {
	table := NewTable(&Spec{Name: "t", Aggs: []Agg{{Name: "n", Kind: Sum}}})
	of := NewTable(&Spec{Name: "d", Keys: []Key{{"v", KeyInt}}, PartitionBy: 0, Aggs: []Agg{{Name: "n", Kind: Sum}}})
	rows := []int{of.Row(of.Key().Int(4)), of.Row(of.Key().Int(5))}
	if _, ok := table.RowsAs(of, rows); ok {
		t.Error("a row of an empty table")
	}
	table.Row(table.Key())
	if found, ok := table.RowsAs(of, rows); !ok || !slices.Equal(found, []int32{0, 0}) {
		t.Errorf("%v, %v", found, ok)
	}
}
