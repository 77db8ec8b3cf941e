package gen

import (
	"bytes"
	"encoding/csv"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// pinnedHits is a hash of the data of 5,000 rows and seed 3.
const pinnedHits = 0xa223880d47188e9

func hitsData(t *testing.T, rows int, seed uint64) memory {
	t.Helper()
	m := memory{}
	if err := Hits(m, rows, seed); err != nil {
		t.Fatal(err)
	}
	return m
}

func TestHitsDependOnRowsAndSeedAlone(t *testing.T) {
	a, b, other := hitsData(t, 5000, 3), hitsData(t, 5000, 3), hitsData(t, 5000, 4)
	if !bytes.Equal(a["hits.csv"].Bytes(), b["hits.csv"].Bytes()) || bytes.Equal(a["hits.csv"].Bytes(), other["hits.csv"].Bytes()) {
		t.Error("the same seed makes other data, or another seed the same")
	}
	pinned(t, a, pinnedHits)
	if err := Hits(memory{}, -1, 1); !errors.Is(err, errRows) {
		t.Error(err)
	}
	if n := len(hitsRows(t, 0, 1)["WatchID"]); n != 0 {
		t.Errorf("%d rows of 0", n)
	}
}

// hitsRows returns the columns.
func hitsRows(t *testing.T, rows int, seed uint64) map[string][]string {
	t.Helper()
	r := csv.NewReader(hitsData(t, rows, seed)["hits.csv"])
	all, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	columns := map[string][]string{}
	for i, name := range all[0] {
		for _, row := range all[1:] {
			columns[name] = append(columns[name], row[i])
		}
	}
	if len(all[0]) != 105 || len(all[0]) != len(Schema("hits")[0].Columns) {
		t.Errorf("%d columns", len(all[0]))
	}
	return columns
}

// TestHitsHaveTheCardinalitiesOfTheOriginal: for these numbers of rows, by the powers that give those of the original for 100 million.
func TestHitsHaveTheCardinalitiesOfTheOriginal(t *testing.T) {
	for column, want := range map[string]float64{"UserID": 17.6e6, "URL": 18.3e6, "SearchPhrase": 6.0e6, "CounterID": 6506, "RegionID": 9040,
		"Referer": 19.7e6} {
		g := newHits(0, 1)
		n := map[string]float64{"UserID": math.Pow(1e8, g.users.power), "URL": math.Pow(1e8, g.urls.power),
			"SearchPhrase": math.Pow(1e8*g.phrases.part, g.phrases.power), "CounterID": math.Pow(1e8, 0.4767),
			"RegionID": math.Pow(17.6e6, 0.546), "Referer": math.Pow(1e8*g.referers.part, g.referers.power)}[column]
		if n < 0.97*want || n > 1.03*want {
			t.Errorf("%.0f values of %s in 100 million rows, want %.0f", n, column, want)
		}
	}
	const rows = 30_000
	columns := hitsRows(t, rows, 1)
	for column, want := range map[string]float64{"WatchID": rows, "UserID": math.Pow(rows, 0.9057), "URL": math.Pow(rows, 0.9078),
		"URLHash": math.Pow(rows, 0.9078), "SearchPhrase": 1 + math.Pow(0.1317*rows, 0.9528), "Referer": 1 + math.Pow(0.81*rows, 0.9228),
		"CounterID": math.Pow(rows, 0.4767), "ClientIP": math.Pow(rows, 0.9057) * 9 / 16, "RegionID": math.Pow(rows, 0.4945),
		"AdvEngineID": 19, "EventDate": 31} {
		distinct := map[string]bool{}
		for _, v := range columns[column] {
			distinct[v] = true
		}
		if n := float64(len(distinct)); n < 0.93*want || n > 1.07*want {
			t.Errorf("%.0f values of %s, want %.0f", n, column, want)
		}
	}
}

// TestHitsHaveTheFrequenciesOfTheOriginal: how many rows are in what the statements look for.
func TestHitsHaveTheFrequenciesOfTheOriginal(t *testing.T) {
	const rows = 30_000
	columns := hitsRows(t, rows, 1)
	equal := func(v string) func(string) bool { return func(x string) bool { return x == v } }
	other := func(v string) func(string) bool { return func(x string) bool { return x != v } }
	within := func(v string) func(string) bool { return func(x string) bool { return strings.Contains(x, v) } }
	for _, c := range []struct {
		column      string
		is          func(string) bool
		least, most int // of a thousand
	}{
		{"SearchPhrase", equal(""), 860, 880},
		{"AdvEngineID", other("0"), 5, 8},
		{"MobilePhoneModel", other(""), 15, 40},
		{"URL", within("google"), 1, 9},
		{"Title", within("Google"), 1, 10},
		{"CounterID", equal("62"), 7, 30},
		{"UserID", equal("435090932899640449"), 0, 1},
		{"URLHash", equal("2868770270353813622"), 10, 150},
		{"RefererHash", equal("3594120000172545465"), 5, 80},
		{"IsRefresh", equal("1"), 80, 120},
		{"EventDate", func(d string) bool { return d >= "2013-07-01" && d <= "2013-07-31" }, 1000, 1000},
		{"GoodEvent", equal("1"), 1000, 1000},
	} {
		n := 0
		for _, v := range columns[c.column] {
			if c.is(v) {
				n++
			}
		}
		if n == 0 || 1000*n < rows*c.least || 1000*n > rows*c.most {
			t.Errorf("%d rows of %s, want %d to %d in a thousand", n, c.column, c.least, c.most)
		}
	}
	if !slices.IsSortedFunc(columns["CounterID"], func(a, b string) int {
		x, _ := strconv.Atoi(a)
		y, _ := strconv.Atoi(b)
		return x - y
	}) {
		t.Error("a part is not ordered by counter")
	}
}

// TestHitsNameNoTwoAlike: the texts of different URLs and phrases differ, in whatever order they occur.
func TestHitsNameNoTwoAlike(t *testing.T) {
	g, seen := newHits(0, 1), map[string]bool{}
	for n := range uint64(100_000) {
		for _, text := range [][]byte{g.appendURL(nil, n*180, 0), g.appendPhrase(nil, n*60)} {
			if seen[string(text)] {
				t.Fatalf("%d is %s, too", n, text)
			}
			seen[string(text)] = true
		}
	}
}
