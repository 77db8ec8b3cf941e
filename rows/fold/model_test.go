package fold

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"
	"testing"
)

// every has a key and an aggregate of each kind.
var every = Spec{
	Name: "every", Stream: "s",
	Keys: []Key{{"city", KeyText}, {"year", KeyInt}, {"name", KeyText}},
	Aggs: []Agg{{Name: "sum", Kind: Sum}, {Name: "exact", Kind: Exact},
		{Name: "mintext", Kind: MinText}, {Name: "maxtext", Kind: MaxText}, {Name: "least", Kind: Least, N: 3}, {Name: "counts", Kind: Counts},
		{Name: "histogram", Kind: Histogram, N: 5}, {Name: "smallest", Kind: Smallest, N: 4}},
}

// item is one addition to a row of every.
type item struct {
	city, name string
	year       int64
	n          int64
	f          float64
	text       string
	noText     bool
}

func (it item) addTo(t *Table) {
	row := t.Row(t.Key().String(it.city).Int(it.year).Text([]byte(it.name)))
	t.AddSum(row, 0, it.n)
	t.AddFloat(row, 1, it.f)
	t.AddCount(row, 5, it.n%50, 1+it.year*it.year)
	t.AddHistogram(row, 6, it.n, 1+it.year*it.year)
	t.AddSmallest(row, 7, it.n)
	if !it.noText {
		t.PutMinText(row, 2, []byte(it.text))
		t.PutMaxText(row, 3, []byte(it.text))
		t.PutLeast(row, 4, []byte(it.text))
	}
}

var words = []string{"", "a", "ab", "a\x00", "a\x00b", "\x00", "\xff\xfe", "é", "Beaubien / de Lorimier", strings.Repeat("long ", 20)}

func items(r *rand.Rand, n int) []item {
	out := make([]item, n)
	for i := range out {
		out[i] = item{
			city: words[r.IntN(4)], name: words[r.IntN(len(words))] + fmt.Sprint(r.IntN(5)), year: r.Int64N(3) - 1,
			n: r.Int64N(2000) - 1000, f: math.Ldexp(r.Float64()-0.5, r.IntN(80)-40),
			text: words[r.IntN(len(words))] + fmt.Sprint(r.IntN(20)), noText: r.IntN(3) == 0,
		}
	}
	return out
}

// model returns the naive table: everything that was added, by key.
func model(its []item) string {
	by := map[string][]item{}
	for _, it := range its {
		k := fmt.Sprintf("%s\x00\x00\x00%d\x00%s", it.city, it.year+5, it.name)
		by[k] = append(by[k], it)
	}
	groups := make([][]item, 0, len(by))
	for _, g := range by {
		groups = append(groups, g)
	}
	sort.Slice(groups, func(i, j int) bool {
		a, b := groups[i][0], groups[j][0]
		if a.city != b.city {
			return a.city < b.city
		}
		if a.year != b.year {
			return a.year < b.year
		}
		return a.name < b.name
	})
	var w strings.Builder
	for _, g := range groups {
		w.WriteString(modelRow(g))
	}
	return w.String()
}

func modelRow(g []item) string {
	sum := int64(0)
	var f big.Rat
	counts, wide := map[int64]int64{}, map[int64]int64{}
	var texts []string
	for _, it := range g {
		sum += it.n
		counts[it.n%50] += 1 + it.year*it.year
		wide[it.n] += 1 + it.year*it.year
		f.Add(&f, new(big.Rat).SetFloat64(it.f))
		if !it.noText {
			texts = append(texts, it.text)
		}
	}
	slices.Sort(texts)
	first, last := "-", "-"
	if len(texts) > 0 {
		first, last = fmt.Sprintf("%q", texts[0]), fmt.Sprintf("%q", texts[len(texts)-1])
	}
	texts = slices.Compact(texts)
	value, _ := f.Float64()
	shift, steps := stepsOf(wide, 5)
	smallest := slices.Sorted(maps.Keys(wide))
	return fmt.Sprintf("%q %d %q: %d %v %s %s %q %v %d %v %v\n", g[0].city, g[0].year, g[0].name, sum, value, first, last,
		texts[:min(3, len(texts))], counts, shift, steps, smallest[:min(4, len(smallest))])
}

// dump writes a table of every as model does.
func dump(t *Table) string {
	var w strings.Builder
	show := func(p []byte, ok bool) string {
		if !ok {
			return "-"
		}
		return fmt.Sprintf("%q", p)
	}
	for _, row := range t.Sorted(nil) {
		shift, steps := t.Histogram(row, 6)
		fmt.Fprintf(&w, "%q %d %q: %d %v %s %s %q %v %d %v %v\n", t.KeyText(row, 0), t.KeyInt(row, 1), t.KeyText(row, 2),
			t.Sum(row, 0), t.Exact(row, 1).Value(), show(t.MinText(row, 2)), show(t.MaxText(row, 3)),
			t.Least(row, 4), maps.Collect(t.Counts(row, 5)), shift, maps.Collect(steps), t.Smallest(row, 7))
	}
	return w.String()
}

func diff(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return fmt.Sprintf("line %d:\n%s\nwant\n%s", i, x[i], y[i])
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(x), len(y))
}

func TestTableIsWhatANaiveFoldGives(t *testing.T) {
	table := NewTable(&every)
	for seed := uint64(0); seed < 20; seed++ {
		r := rand.New(rand.NewPCG(seed, 1))
		its := items(r, r.IntN(2000))
		table.Reset()
		for _, it := range its {
			it.addTo(table)
		}
		if got, want := dump(table), model(its); got != want || table.Err() != nil {
			t.Fatalf("seed %d: %v %s", seed, table.Err(), diff(got, want))
		}
	}
}

func TestD1_MergesInAnyOrderAndGroupingAreTheSame(t *testing.T) {
	for seed := uint64(0); seed < 20; seed++ {
		r := rand.New(rand.NewPCG(seed, 2))
		its := items(r, 1+r.IntN(3000))
		partials := split(r, its)
		n := 1 + r.IntN(4)
		merged := mergeByPartition(t, r, partials, n)
		whole := NewTable(&every)
		for p, part := range merged {
			if err := whole.Merge(part.AppendRows(nil, part.Rows())); err != nil {
				t.Fatal(err)
			}
			for row := range part.Len() {
				h := Hash(part.index.key(row))
				if h%uint64(n) != uint64(p) {
					t.Fatalf("seed %d: a key of partition %d came to %d", seed, h%uint64(n), p)
				}
			}
		}
		if got, want := dump(whole), model(its); got != want {
			t.Fatalf("seed %d: %s", seed, diff(got, want))
		}
		if again := roundTrip(t, whole); !bytes.Equal(again, canonical(whole)) {
			t.Fatalf("seed %d: a round trip changed the bytes", seed)
		}
	}
}

// split folds items into tables in random groups.
func split(r *rand.Rand, its []item) []*Table {
	tables := make([]*Table, 1+r.IntN(6))
	for i := range tables {
		tables[i] = NewTable(&every)
	}
	for _, i := range r.Perm(len(its)) {
		its[i].addTo(tables[r.IntN(len(tables))])
	}
	return tables
}

// mergeByPartition sends every partition of every table in chunks to its merged table, in random order.
func mergeByPartition(t *testing.T, r *rand.Rand, tables []*Table, n int) []*Table {
	type frame struct {
		to      int
		payload []byte
	}
	var frames []frame
	for _, table := range tables {
		for p, rows := range table.Partition(n) {
			for _, chunk := range table.Chunks(rows, 1+r.IntN(20000)) {
				frames = append(frames, frame{p, table.AppendRows(nil, chunk)})
			}
		}
	}
	merged := make([]*Table, n)
	for i := range merged {
		merged[i] = NewTable(&every)
	}
	for _, i := range r.Perm(len(frames)) {
		if err := merged[frames[i].to].Merge(frames[i].payload); err != nil {
			t.Fatal(err)
		}
	}
	return merged
}

func canonical(t *Table) []byte { return t.AppendRows(nil, t.Sorted(nil)) }

func roundTrip(t *testing.T, table *Table) []byte {
	back := NewTable(table.Spec())
	if err := back.Merge(canonical(table)); err != nil {
		t.Fatal(err)
	}
	return canonical(back)
}
