package fold

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"posta.dev/posta/rows/exact"
)

func TestHashIsPinned(t *testing.T) {
	long := make([]byte, 100)
	for i := range long {
		long[i] = byte(i)
	}
	for n, want := range map[int]uint64{0: pinned0, 1: pinned1, 5: pinned5, 16: pinned16, 17: pinned17, 100: pinned100} {
		if got := Hash(long[:n]); got != want {
			t.Errorf("hash of %d bytes is %#x, want %#x: keys would change their aggregator", n, got, want)
		}
	}
}

func TestHashSpreadsSmallKeysOverPartitionsAndSlots(t *testing.T) {
	spec := Spec{Name: "t", Keys: []Key{{"day", KeyInt}}}
	table := NewTable(&spec)
	for day := range int64(6000) {
		table.Row(table.Key().Int(day))
	}
	for n := 2; n < 9; n++ {
		for p, rows := range table.Partition(n) {
			if want := 6000 / n; len(rows) < want*8/10 || len(rows) > want*12/10 {
				t.Errorf("partition %d of %d has %d rows", p, n, len(rows))
			}
		}
	}
	top := make([]int, 64)
	for slot, s := range table.index.slots {
		if s != 0 {
			top[slot*len(top)/len(table.index.slots)]++
		}
	}
	if lo, hi := slices.Min(top), slices.Max(top); lo < 50 || hi > 150 {
		t.Errorf("slots get %d to %d of 94 keys", lo, hi)
	}
}

func TestKeysThatLookAlikeAreDifferent(t *testing.T) {
	spec := Spec{Name: "t", Keys: []Key{{"a", KeyText}, {"b", KeyText}}}
	table := NewTable(&spec)
	seen := map[string]int{}
	for _, a := range words {
		for _, b := range words {
			seen[fmt.Sprintf("%q %q", a, b)] = table.Row(table.Key().String(a).String(b))
		}
	}
	if table.Len() != len(seen) {
		t.Fatalf("%d keys became %d rows", len(seen), table.Len())
	}
	for k, row := range seen {
		if got := fmt.Sprintf("%q %q", table.KeyText(row, 0), table.KeyText(row, 1)); got != k {
			t.Errorf("row of %s says %s", k, got)
		}
	}
}

func TestKeysMayBeLong(t *testing.T) {
	table := NewTable(&every)
	for n := 1; n < 1<<18; n *= 7 {
		first, last := bytes.Repeat([]byte{'f'}, n), bytes.Repeat([]byte{'l'}, n+1)
		row := table.Row(table.Key().Text(first).Int(int64(n)).Text(last))
		if !bytes.Equal(table.KeyText(row, 0), first) || table.KeyInt(row, 1) != int64(n) || !bytes.Equal(table.KeyText(row, 2), last) {
			t.Fatalf("a key of %d bytes does not come back", n)
		}
	}
	if !bytes.Equal(roundTrip(t, table), canonical(table)) {
		t.Fatal("a round trip changed long keys")
	}
}

func TestLeastKeepsTheSmallestAndTidiesUp(t *testing.T) {
	spec := Spec{Name: "t", Aggs: []Agg{{Name: "l", Kind: Least, N: 10}}}
	table := NewTable(&spec)
	row := table.Row(table.Key())
	r := rand.New(rand.NewPCG(4, 4))
	var all [][]byte
	for i := range 20000 {
		v := bytes.Repeat([]byte{byte('z' - r.IntN(26))}, 1+r.IntN(100))
		v = append(v, fmt.Sprint(20000-i)...)
		all = append(all, v)
		table.PutLeast(row, 0, v)
	}
	slices.SortFunc(all, bytes.Compare)
	all = slices.CompactFunc(all, bytes.Equal)
	if got := table.Least(row, 0); !slices.EqualFunc(got, all[:10], bytes.Equal) {
		t.Fatalf("%q", got)
	}
	for i := range 20000 { // each one displaces another
		table.PutLeast(row, 0, fmt.Appendf(nil, "\x00%05d%s", 20000-i, bytes.Repeat([]byte{'x'}, i%90)))
	}
	if table.Bytes() > 64<<10 {
		t.Fatalf("ten texts take %d bytes", table.Bytes())
	}
}

func TestTextsThatGrowLeaveNoHolesForEver(t *testing.T) {
	spec := Spec{Name: "t", Keys: []Key{{"k", KeyInt}}, Aggs: []Agg{{Name: "m", Kind: MaxText}}}
	table := NewTable(&spec)
	for n := 1; n < 3000; n++ {
		for k := range int64(3) {
			table.PutMaxText(table.Row(table.Key().Int(k)), 0, bytes.Repeat([]byte{'x'}, n))
		}
	}
	for row := range 3 {
		if v, ok := table.MaxText(row, 0); !ok || len(v) != 2999 {
			t.Fatalf("row %d: %d bytes", row, len(v))
		}
	}
	if table.Bytes() > 128<<10 {
		t.Fatalf("three texts of 3 kB take %d bytes", table.Bytes())
	}
}

func TestResetShrinksAfterALargeFold(t *testing.T) {
	spec := Spec{Name: "t", Keys: []Key{{"k", KeyInt}}}
	table := NewTable(&spec)
	for k := range int64(100000) {
		table.Row(table.Key().Int(k))
	}
	for range 20 {
		table.Reset()
		table.Row(table.Key().Int(7))
	}
	if len(table.index.slots) > smallIndex*4 || table.Len() != 1 {
		t.Fatalf("%d slots for %d row", len(table.index.slots), table.Len())
	}
}

func TestChunksCoverAllRowsInOrder(t *testing.T) {
	table := sample()
	for _, size := range []int{0, 1, 300, 700, 1500, 1 << 20} {
		var all []int
		for _, chunk := range table.Chunks(table.Rows(), size) {
			n := len(table.AppendRows(nil, chunk)) - len(table.AppendRows(nil, nil))
			if len(chunk) > 1 && n > size+40 { // 40, because the headers of blobs grow with them
				t.Errorf("chunk of %d bytes, wanted %d", n, size)
			}
			all = append(all, chunk...)
		}
		if !slices.Equal(all, table.Rows()) {
			t.Errorf("size %d: %v", size, all)
		}
	}
	if len(table.Chunks(nil, 10)) != 0 {
		t.Error("no rows make a chunk")
	}
}

func TestSortedByLessBreaksTiesByKey(t *testing.T) {
	spec := Spec{Name: "t", Keys: []Key{{"k", KeyInt}}, Aggs: []Agg{{Name: "n", Kind: Sum}}}
	table := NewTable(&spec)
	for _, k := range []int64{5, -7, 3, 9, math.MinInt64} {
		table.AddSum(table.Row(table.Key().Int(k)), 0, k&1)
	}
	var got []int64
	for _, row := range table.Sorted(func(a, b int) bool { return table.Sum(a, 0) > table.Sum(b, 0) }) {
		got = append(got, table.KeyInt(row, 0))
	}
	if want := []int64{-7, 3, 5, 9, math.MinInt64}; !slices.Equal(got, want) {
		t.Fatalf("%v, want %v", got, want)
	}
}

func TestAddExactKeepsWhatAFloatCannot(t *testing.T) {
	spec := Spec{Name: "t", Aggs: []Agg{{Name: "e", Kind: Exact}}}
	table := NewTable(&spec)
	var s exact.Sum
	s.AddInt(1 << 53)
	s.AddInt(1)
	row := table.Row(table.Key())
	table.AddExact(row, 0, &s)
	table.AddFloat(row, 0, -(1 << 53))
	if got := table.Exact(row, 0).Value(); got != 1 || s.Value() != 1<<53 {
		t.Fatalf("%v, and the addend is %v", got, s.Value())
	}
}

func TestSpecCheckNamesWhatIsWrong(t *testing.T) {
	for name, s := range map[string]Spec{
		"no name":      {Aggs: []Agg{{Name: "a", Kind: Sum}}},
		"nothing":      {Name: "t"},
		"same names":   {Name: "t", Keys: []Key{{"a", KeyInt}}, Aggs: []Agg{{Name: "a", Kind: Sum}}},
		"unknown key":  {Name: "t", Keys: []Key{{"a", 9}}},
		"unknown agg":  {Name: "t", Aggs: []Agg{{Name: "a", Kind: 99}}},
		"least of 0":   {Name: "t", Aggs: []Agg{{Name: "a", Kind: Least}}},
		"too many":     {Name: "t", Keys: make([]Key, 17)},
		"nameless agg": {Name: "t", Aggs: []Agg{{Kind: Sum}}},
	} {
		if err := s.Check(); !errors.Is(err, ErrSpec) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := every.Check(); err != nil {
		t.Error(err)
	}
}

func TestMisuseNamesTheColumn(t *testing.T) {
	table := NewTable(&every)
	row := table.Row(table.Key().String("a").Int(1).String("b"))
	for name, f := range map[string]func(){
		"kind of aggregate": func() { table.AddSum(row, 1, 1) },
		"kind of key":       func() { table.Key().Int(1) },
		"too many keys":     func() { table.Key().String("a").Int(1).String("b").Int(3) },
		"too few keys":      func() { table.Row(table.Key().String("a")) },
		"reading a key":     func() { table.KeyInt(row, 0) },
		"bad spec":          func() { NewTable(&Spec{}) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}
