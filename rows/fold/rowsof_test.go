package fold

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"posta.dev/posta/rows/batch"
)

// anyKeys are rows of keys of any kinds, as vectors, and one text per row that only equal keys share.
type anyKeys struct {
	spec   Spec
	values []KeyValues
	twin   []string
}

var hardInts = []int64{0, 1, -1, math.MaxInt64, math.MinInt64, 1 << 32}

func newAnyKeys(r *rand.Rand, keys, rows int, nulls bool) *anyKeys {
	a := &anyKeys{spec: Spec{Name: "t", Nulls: nulls, Aggs: []Agg{{Name: "n", Kind: Sum}}}, twin: make([]string, rows)}
	for k := range keys {
		kind := KeyKind(1 + r.IntN(2))
		a.spec.Keys = append(a.spec.Keys, Key{fmt.Sprint("k", k), kind})
		v := KeyValues{}
		if nulls && r.IntN(3) > 0 {
			v.Nulls = make([]uint64, rows/64+1)
		}
		few := 1 + r.IntN(1+rows)
		for i := range rows {
			shown := ""
			if kind == KeyInt {
				n := r.Int64N(int64(few))
				if r.IntN(10) == 0 {
					n = hardInts[r.IntN(len(hardInts))]
				}
				v.Ints, shown = append(v.Ints, n), fmt.Sprint(n)
			} else {
				s := words[r.IntN(len(words))] + fmt.Sprint(r.IntN(few))
				v.Texts, shown = append(v.Texts, s), fmt.Sprintf("%q", s)
			}
			if v.Nulls != nil && r.IntN(4) == 0 {
				v.Nulls[i>>6] |= 1 << (i & 63) // the value of such a row does not matter
				shown = "NULL"
			}
			a.twin[i] += shown + " "
		}
		a.values = append(a.values, v)
	}
	return a
}

// builder gives the key of a row to a table's builder.
func (a *anyKeys) builder(t *Table, i int) *KeyBuilder {
	key := t.Key()
	for k, v := range a.values {
		switch {
		case v.Nulls != nil && v.Nulls[i>>6]>>(i&63)&1 == 1:
			key.Null()
		case a.spec.Keys[k].Kind == KeyInt:
			key.Int(v.Ints[i])
		default:
			key.String(v.Texts[i])
		}
	}
	return key
}

// shown writes the key of a row of a table as twin does.
func shown(t *Table, row int) (s string) {
	for k, key := range t.spec.Keys {
		switch {
		case t.KeyNull(row, k):
			s += "NULL "
		case key.Kind == KeyInt:
			s += fmt.Sprint(t.KeyInt(row, k), " ")
		default:
			s += fmt.Sprintf("%q ", t.KeyText(row, k))
		}
	}
	return s
}

// some returns a random choice of rows, each perhaps several times.
func some(r *rand.Rand, rows int) (sel []int32) {
	for range r.IntN(2 * rows) {
		sel = append(sel, int32(r.IntN(rows)))
	}
	return sel
}

// FuzzD1_TablesAreMaps: whatever the kinds of keys, tables of groups behave as a map by key: where rows come as vectors, one by one,
// through their wire form, or from another table.
func FuzzD1_TablesAreMaps(f *testing.F) {
	for seed := range uint64(60) {
		f.Add(seed, uint8(seed%17), uint16(seed*seed*7), seed%3 > 0)
	}
	f.Fuzz(func(t *testing.T, seed uint64, keys uint8, rows uint16, nulls bool) {
		r := rand.New(rand.NewPCG(seed, 5))
		a := newAnyKeys(r, 1+int(keys)%MaxKeys, 1+int(rows)%5000, nulls)
		want, order := map[string]int64{}, map[string]int{}
		vectors, single, merged, moved := NewTable(&a.spec), NewTable(&a.spec), NewTable(&a.spec), NewTable(&a.spec)
		for range 3 {
			sel := some(r, len(a.twin))
			out := NewOutgoing(&a.spec)
			into := vectors.RowsOf(a.values, sel, nil)
			for k, row := range out.RowsOf(a.values, sel, nil) {
				key := a.twin[sel[k]]
				if _, has := order[key]; !has {
					order[key] = len(order)
				}
				want[key]++
				out.AddSum(int(row), 0, 1)
				vectors.AddSum(int(into[k]), 0, 1)
				if at := single.Row(a.builder(single, int(sel[k]))); at != int(into[k]) || at != order[key] {
					t.Fatalf("%s is row %d, in vectors %d, and not %d", key, at, into[k], order[key])
				}
				single.AddSum(int(into[k]), 0, 1)
			}
			merge(t, merged, out, out.Rows())
			out.MoveTo(moved)
		}
		for name, table := range map[string]*Table{"vectors": vectors, "single": single, "merged": merged, "moved": moved} {
			if table.Err() != nil || table.Len() != len(want) {
				t.Fatalf("%s: %d rows of %d, %v", name, table.Len(), len(want), table.Err())
			}
			for row := range table.Len() {
				if key := shown(table, row); order[key] != row || table.Sum(row, 0) != want[key] {
					t.Fatalf("%s: row %d is %s with %d, want row %d with %d", name, row, key, table.Sum(row, 0), order[key], want[key])
				}
			}
			if !bytes.Equal(canonical(table), canonical(vectors)) {
				t.Fatalf("%s: other bytes", name)
			}
		}
	})
}

// TestNullsComeLast: a sort has NULL behind all values of a key, also behind the largest, and the prefixes agree.
func TestNullsComeLast(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 6))
	for _, kinds := range [][]KeyKind{{KeyInt}, {KeyText}, {KeyInt, KeyText}, {KeyText, KeyInt, KeyInt}} {
		spec := Spec{Name: "t", Nulls: true}
		for k, kind := range kinds {
			spec.Keys = append(spec.Keys, Key{fmt.Sprint("k", k), kind})
		}
		table := NewTable(&spec)
		for range 500 {
			key := table.Key()
			for _, kind := range kinds {
				switch {
				case r.IntN(5) == 0:
					key.Null()
				case kind == KeyInt:
					key.Int(hardInts[r.IntN(len(hardInts))])
				default:
					key.String([]string{"", "a", "\xff\xff\xff\xff\xff\xff\xff\xff", "\xff\xff\xff\xff\xff\xff\xff\xff\xff"}[r.IntN(4)])
				}
			}
			table.Row(key)
		}
		ordered := func(row int) (b []byte) {
			for k, kind := range kinds {
				switch {
				case table.KeyNull(row, k):
					b = append(b, 2)
				case kind == KeyInt:
					b = AppendInt(append(b, 1), table.KeyInt(row, k))
				default:
					b = AppendText(append(b, 1), table.KeyText(row, k))
				}
			}
			return b
		}
		rows := table.Sorted(nil)
		for i := range rows[1:] {
			if bytes.Compare(ordered(rows[i]), ordered(rows[i+1])) >= 0 || table.Prefix(rows[i]) > table.Prefix(rows[i+1]) {
				t.Fatalf("%v: %s before %s", kinds, shown(table, rows[i]), shown(table, rows[i+1]))
			}
		}
	}
}

// TestRowsAsFindsTheGroupsOfValues: a table of values has the keys of its groups, and one more, and goes to their partitions.
func TestRowsAsFindsTheGroupsOfValues(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 7))
		a := newAnyKeys(r, r.IntN(MaxKeys), 1000, seed%2 == 0)
		if len(a.values) == 0 {
			a.spec.Nulls = false
		}
		groups := NewTable(&a.spec)
		spec := a.spec
		spec.Keys, spec.PartitionBy, spec.Aggs = append(slices.Clip(spec.Keys), Key{"v", KeyInt}), len(spec.Keys), nil
		of := NewTable(&spec)
		want := map[string]int32{}
		for i := range a.twin {
			row := groups.Row(a.builder(groups, i))
			want[a.twin[i]] = int32(row)
			of.Row(of.Key().As(groups, row).Int(int64(i)))
		}
		found, ok := groups.RowsAs(of, of.Rows())
		if !ok || len(found) != len(a.twin) {
			t.Fatal(seed, len(found))
		}
		for i, row := range found {
			if row != want[a.twin[i]] {
				t.Fatalf("seed %d: row %d of %s, want %d", seed, row, a.twin[i], want[a.twin[i]])
			}
		}
		if len(a.values) == 0 {
			continue
		}
		parts := groups.Partition(3)
		for p, rows := range of.Partition(3) {
			for _, row := range rows {
				if !slices.Contains(parts[p], int(found[row])) {
					t.Fatalf("seed %d: values of %s are in partition %d", seed, shown(of, row), p)
				}
			}
		}
		of.Row(a.builder(of, 0).Int(-1))
		groups.Reset()
		if _, ok := groups.RowsAs(of, []int{0}); ok {
			t.Error("a row without a group has one")
		}
	}
}

// TestMergeRefusesNullsOfNoKey: bits that stand for no key would make equal keys different.
func TestMergeRefusesNullsOfNoKey(t *testing.T) {
	spec := Spec{Name: "t", Keys: []Key{{"k", KeyInt}}, Nulls: true}
	for nulls, bad := range map[int64]bool{0: false, 1: false, 2: true, -1: true, 1 << 16: true} {
		b := batch.NewBuilder(spec.columns())
		b.Int(0).Append(7)
		b.Int(1).Append(nulls)
		table := NewTable(&spec)
		if err := table.Merge(b.Append(nil)); errors.Is(err, ErrMalformed) != bad {
			t.Errorf("%d: %v", nulls, err)
		}
		if nulls == 1 && (!table.KeyNull(0, 0) || table.KeyInt(0, 0) != 0) {
			t.Error("a key that is NULL has a value")
		}
	}
}

// TestLongKeysAreGatheredInPieces: memory for the keys of a block stays bounded, however long they are.
func TestLongKeysAreGatheredInPieces(t *testing.T) {
	spec := Spec{Name: "t", Keys: []Key{{"k", KeyText}}, Aggs: []Agg{{Name: "n", Kind: Sum}}}
	v := KeyValues{}
	var sel []int32
	for i := range 300 {
		v.Texts, sel = append(v.Texts, string(bytes.Repeat([]byte{byte(i % 7)}, 100_000))), append(sel, int32(i))
	}
	table, other := NewTable(&spec), NewTable(&spec)
	for _, row := range table.RowsOf([]KeyValues{v}, sel, nil) {
		table.AddSum(int(row), 0, 1)
	}
	merge(t, other, table, table.Rows())
	for _, x := range []*Table{table, other} {
		if x.Len() != 7 || x.Sum(0, 0) != 43 || cap(x.query.keys) > 8*gatherBytes {
			t.Errorf("%d rows, %d of the first, with %d bytes of keys", x.Len(), x.Sum(0, 0), cap(x.query.keys))
		}
	}
}
