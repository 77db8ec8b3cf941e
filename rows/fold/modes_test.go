package fold

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// ways returns a copy of every with another Merging.
func ways(m Merging) *Spec {
	s := every
	s.Merge = m
	return &s
}

// TestD1_WhereRowsAreMergedMakesNoDifference: joiners merge always or late, aggregators merge by partition, and a union combines
// these.
func TestD1_WhereRowsAreMergedMakesNoDifference(t *testing.T) {
	for seed := uint64(0); seed < 10; seed++ {
		r := rand.New(rand.NewPCG(seed, 3))
		its := items(r, 1+r.IntN(3000))
		for _, m := range []Merging{Always, Late} {
			spec, n := ways(m), 1+r.IntN(4)
			parts := make([]*Table, n)
			for i := range parts {
				parts[i] = NewTable(spec)
			}
			out := NewOutgoing(spec)
			for i, it := range its {
				it.addTo(out)
				if r.IntN(100) > 0 && i < len(its)-1 {
					continue
				}
				for p, rows := range out.Partition(n) {
					merge(t, parts[p], out, rows)
				}
				out.Reset()
			}
			union := NewUnion(spec)
			for _, p := range parts {
				merge(t, union, p, p.Rows())
			}
			if got, want := dump(union), model(its); got != want || union.Err() != nil {
				t.Fatalf("seed %d, way %d: %v %s", seed, m, union.Err(), diff(got, want))
			}
			for _, it := range its {
				if row, ok := union.Find(union.Key().String(it.city).Int(it.year).String(it.name)); !ok || string(union.KeyText(row, 2)) != it.name {
					t.Fatalf("%+v is not found", it)
				}
			}
		}
	}
}

func merge(t *testing.T, into, from *Table, rows []int) {
	t.Helper()
	for _, chunk := range from.Chunks(rows, 4000) {
		if err := into.Merge(from.AppendRows(nil, chunk)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestOutgoingRowsThatAreMergedLateAreNotLookedFor(t *testing.T) {
	spec := Spec{Name: "t", Keys: []Key{{"k", KeyInt}}, Aggs: []Agg{{Name: "n", Kind: Sum}}, Merge: Late}
	out, in := NewOutgoing(&spec), NewTable(&spec)
	for range 3 {
		out.AddSum(out.Row(out.Key().Int(7)), 0, 1)
	}
	if err := in.Merge(out.AppendRows(nil, out.Rows())); err != nil || out.Len() != 3 || in.Len() != 1 || in.Sum(0, 0) != 3 {
		t.Fatal(out.Len(), in.Len(), err)
	}
}

func TestABagKeepsEqualRowsAndGivesThemInOrder(t *testing.T) {
	spec := Spec{Name: "t", Keys: []Key{{"k", KeyText}, {"n", KeyInt}}, Merge: Never}
	r := rand.New(rand.NewPCG(7, 7))
	var want []string
	bag, union := NewOutgoing(&spec), NewUnion(&spec)
	turns := make([]int, 3)
	for range 60 {
		for range 1 + r.IntN(40) {
			k, n := strings.Repeat("\x00", r.IntN(9))+words[r.IntN(len(words))], r.Int64N(5)-2
			want = append(want, fmt.Sprintf("%s\x00%d", AppendText(nil, k), n+2)) // the bytes of the text have the order of keys
			bag.Row(bag.Key().String(k).Int(n))
		}
		for p, rows := range bag.Partition(3) {
			turns[p] += min(1, len(rows))
			merge(t, union, bag, rows)
		}
		bag.Reset()
	}
	if !slices.Equal(turns, []int{20, 20, 20}) {
		t.Errorf("partitions have their turn %v times", turns)
	}
	var got []string
	for _, row := range union.Sorted(nil) {
		got = append(got, fmt.Sprintf("%s\x00%d", AppendText(nil, union.KeyText(row, 0)), union.KeyInt(row, 1)+2))
	}
	if slices.Sort(want); !slices.Equal(got, want) || union.Err() != nil {
		t.Fatalf("%d rows of %d, in this order: %q; %v", len(got), len(want), got, union.Err())
	}
	defer func() {
		if recover() == nil {
			t.Error("a row of a bag is looked for")
		}
	}()
	union.Find(union.Key().String("").Int(0))
}

func TestAUnionSeesAKeyThatComesTwice(t *testing.T) {
	for name, look := range map[string]func(*Table){
		"sorted":  func(u *Table) { u.Sorted(nil) },
		"by less": func(u *Table) { u.Sorted(func(a, b int) bool { return u.Sum(a, 0) < u.Sum(b, 0) }) },
		"find":    func(u *Table) { u.Find(u.Key().String("none").String("").Int(0)) },
		"row":     func(u *Table) { u.Row(u.Key().String("none").String("").Int(0)) },
	} {
		for _, twice := range []int{0, 1, 999} {
			table, union := tripTable(1000), NewUnion(&trips)
			merge(t, union, table, table.Rows())
			if union.Sorted(nil); union.Err() != nil {
				t.Fatal(union.Err())
			}
			merge(t, union, table, []int{twice})
			if look(union); !errors.Is(union.Err(), ErrDuplicateKey) {
				t.Errorf("%s, row %d: %v", name, twice, union.Err())
			}
		}
	}
}

func TestAUnionWithoutSearchHasNoIndex(t *testing.T) {
	table, union := tripTable(20_000), NewUnion(&trips)
	merge(t, union, table, table.Rows())
	if union.index.slots != nil || union.index.entered > 0 || union.Bytes() >= table.Bytes() {
		t.Errorf("%d bytes where a table has %d", union.Bytes(), table.Bytes())
	}
	union.Retain(func(row int) bool { return row%2 == 0 })
	if union.Len() != 10_000 || union.index.entered > 0 {
		t.Errorf("%d rows, of which %d are in an index", union.Len(), union.index.entered)
	}
}
