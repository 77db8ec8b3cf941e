package gen

import (
	"bytes"
	"encoding/csv"
	"errors"
	"strings"
	"testing"
)

func tpchData(t testing.TB, rows int, seed uint64) memory {
	t.Helper()
	m := memory{}
	if err := TPCH(m, rows, seed); err != nil {
		t.Fatal(err)
	}
	return m
}

// pinnedTPCH is a hash of the data of 5,000 rows and seed 3.
const pinnedTPCH = 0xafd9fc5bb61b04e7

func TestTPCHDependsOnRowsAndSeedAlone(t *testing.T) {
	a, b, other := tpchData(t, 5000, 3), tpchData(t, 5000, 3), tpchData(t, 5000, 4)
	for name := range a {
		if !bytes.Equal(a[name].Bytes(), b[name].Bytes()) {
			t.Errorf("%s differs between two runs", name)
		}
		if bytes.Equal(a[name].Bytes(), other[name].Bytes()) {
			t.Errorf("%s does not depend on the seed", name)
		}
	}
	pinned(t, a, pinnedTPCH)
	if err := TPCH(memory{}, -1, 1); !errors.Is(err, errRows) {
		t.Error(err)
	}
}

// Keys that refer to rows of another table find them, and each table has the number of rows of its scale.
func TestTPCHHoldsTogether(t *testing.T) {
	for _, rows := range []int{0, 1, 60_000} {
		m := tpchData(t, rows, 1)
		tables := map[string][][]string{}
		for name, b := range m {
			all, err := csv.NewReader(b).ReadAll()
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			tables[strings.TrimSuffix(name, ".csv")] = all[1:]
		}
		if n := len(tables["lineitem"]); n != rows {
			t.Errorf("%d rows of lineitem, want %d", n, rows)
		}
		if rows == 60_000 {
			for name, want := range map[string]int{"supplier": 100, "part": 2000, "partsupp": 8000, "customer": 1500, "nation": 25, "region": 5} {
				if n := len(tables[name]); n != want {
					t.Errorf("%d rows of %s, want %d", n, name, want)
				}
			}
			if n := len(tables["orders"]); n < 14_500 || n > 15_500 {
				t.Errorf("%d orders", n)
			}
		}
		keys := func(table string, columns ...int) map[string]bool {
			set := map[string]bool{}
			for _, row := range tables[table] {
				key := ""
				for _, c := range columns {
					key += row[c] + " "
				}
				set[key] = true
			}
			return set
		}
		for _, c := range []struct {
			from, to string
			of, key  []int
		}{
			{"lineitem", "orders", []int{0}, []int{0}}, {"lineitem", "partsupp", []int{1, 2}, []int{0, 1}},
			{"orders", "customer", []int{1}, []int{0}}, {"orders", "lineitem", []int{0}, []int{0}},
			{"customer", "nation", []int{3}, []int{0}}, {"supplier", "nation", []int{3}, []int{0}}, {"nation", "region", []int{2}, []int{0}},
			{"partsupp", "supplier", []int{1}, []int{0}}, {"partsupp", "part", []int{0}, []int{0}},
		} {
			have := keys(c.to, c.key...)
			for key := range keys(c.from, c.of...) {
				if !have[key] {
					t.Fatalf("%s of %s is not in %s", key, c.from, c.to)
				}
			}
		}
	}
}
