package split

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"posta.dev/posta/analyses/local"
)

// manyFiles returns a plan over one table of several files, whose columns the files declare.
func manyFiles(t *testing.T, r *rand.Rand, text string) (*Plan, fstest.MapFS) {
	files := fstest.MapFS{}
	for _, name := range []string{"p 1.csv", "p 7 .csv", "p0.csv"} {
		files[name] = someTables(r)["t.csv"]
	}
	p := planOf(t, text, fstest.MapFS{"t.csv": {Data: []byte("tk,tn,tx,tc\n1,2,0.5,a\n")}})
	p.Tables[0].Files, p.Tables[0].Rows = "p*.csv", 1<<33
	for i := range p.Tables[0].Columns {
		c := &p.Tables[0].Columns[i]
		c.Inferred, c.Typed = false, true
	}
	return p, files
}

// TestQ7_FirstRowsInTwoPasses: the rows of an ORDER BY with a LIMIT are the same, in the same order, whether one pass reads all columns of
// all rows, or a first pass finds them. Many rows have equal keys.
func TestQ7_FirstRowsInTwoPasses(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 2))
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	two := 0
	for range 150 {
		text := "SELECT " + pick("*", "tx, tc, tn", "tc || 'x' AS tc, tk, tn", "tn, tx, tc, tk + 0.5::DOUBLE AS d",
			"upper(tc) AS u, tk IS NULL, tx, tn") +
			" FROM " + pick("t", "(SELECT tk, tn, tx, tc, tn AS o FROM t) AS t", "(SELECT * FROM t WHERE tn < 25) AS t") +
			pick("", " WHERE tn > 3", " WHERE tc LIKE '%a%'", " WHERE tk IS NULL AND tn <> 7", " WHERE tn > 1000", " WHERE tx > tn") +
			" ORDER BY " + pick("tn", "tk DESC", "tk NULLS FIRST, tc", "tc DESC, tk", "tn % 3", "2") +
			pick(" LIMIT 1", " LIMIT 5", " LIMIT 7 OFFSET 4", " LIMIT 250", " LIMIT 3 OFFSET 1000")
		if r.IntN(9) == 0 {
			text = "SELECT tn, _line, _file, tx, tc FROM t WHERE _line > 9 ORDER BY tk, _file DESC LIMIT 12"
		}
		p, files := manyFiles(t, r, text)
		want, err := answer(t, p, files, local.Options{})
		if err != nil {
			t.Fatal(text, err)
		}
		got, passes, err := inPasses(t, p, files, local.Options{Joiners: 1 + r.IntN(3), Aggregators: 1 + r.IntN(2), Seed: r.Uint64(),
			ChunkBytes: 20 + r.IntN(200)})
		if err != nil || got != want {
			t.Errorf("%s\n   in %d passes %s, %v\n   in one       %s", text, passes, got, err, want)
		}
		two += passes - 1
	}
	if two < 60 {
		t.Errorf("%d of 150 statements take two passes", two)
	}
}

// TestQ7_TwoPassesOnlyWhereTheyPay: and where the second pass rejects no row that the first one takes, and fails for none that it leaves.
func TestQ7_TwoPassesOnlyWhereTheyPay(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 3))
	for text, want := range map[string]int{
		"SELECT * FROM t ORDER BY tn LIMIT 10":                                        2,
		"SELECT * FROM t WHERE tk > 1 ORDER BY tn LIMIT 10":                           2,
		"SELECT tn FROM t WHERE tc <> '' ORDER BY tx LIMIT 10":                        2,
		"SELECT tn FROM t WHERE tn > 3 ORDER BY tn LIMIT 10":                          1,
		"SELECT * FROM t ORDER BY tn LIMIT 257":                                       1,
		"SELECT * FROM t ORDER BY tn LIMIT 200 OFFSET 57":                             1,
		"SELECT * FROM t ORDER BY tn":                                                 1,
		"SELECT * FROM t LIMIT 10":                                                    1,
		"SELECT tk + tk, tx FROM t ORDER BY tn LIMIT 10":                              1, // may fail
		"SELECT DISTINCT * FROM t ORDER BY tn LIMIT 10":                               1,
		"SELECT * FROM t AS a JOIN t AS b ON a.tk = b.tn ORDER BY a.tn LIMIT 10":      1,
		"SELECT tk, count(*) FROM t GROUP BY tk ORDER BY 2 LIMIT 10":                  1,
		"SELECT *, rank() OVER (ORDER BY tx) FROM t ORDER BY tn LIMIT 10":             1,
		"SELECT * FROM t ORDER BY tn LIMIT 10; SELECT count(*) FROM t":                2,
		"SELECT * FROM (SELECT * FROM t ORDER BY tn LIMIT 10) AS q ORDER BY tx":       1,
		"SELECT tc FROM (SELECT * FROM t ORDER BY tn LIMIT 10) AS q":                  2,
		"SELECT * FROM t WHERE tn > (SELECT min(tn) FROM t) ORDER BY tn LIMIT 10":     1,
		"SELECT * FROM (SELECT * FROM t ORDER BY tn LIMIT 9) AS q ORDER BY 1 LIMIT 3": 1,
	} {
		p, files := manyFiles(t, r, text)
		if _, passes, err := inPasses(t, p, files, local.Options{}); passes != want || err != nil {
			t.Errorf("%s: %d passes, %v", text, passes, err)
		}
	}
	for name, change := range map[string]func(*Plan){
		"of few rows":      func(p *Plan) { p.Tables[0].Rows = 1000 },
		"of unknown size":  func(p *Plan) { p.Tables[0].Rows = 0 },
		"of CSV":           func(p *Plan) { p.Tables[0].Columns[2].Typed, p.Tables[0].Columns[2].Inferred = false, true },
		"of declared CSV":  func(p *Plan) { p.Tables[0].Columns[3].Typed = false },
		"a query of two":   func(p *Plan) { p.Text += "; SELECT 1 AS x"; p.Statement = 1 },
		"of several parts": func(p *Plan) { p.Text += "; SELECT count(*) FROM t"; p.Also = []Part{{Statement: 1}} },
	} {
		p, _ := manyFiles(t, r, "SELECT * FROM t ORDER BY tn LIMIT 10")
		if change(p); p.NextPass() != nil {
			t.Errorf("%s: a first pass", name)
		}
	}
}

// TestQ7_LinesOfTheSecondPass: it says which lines of which file it reads, as what it shares the scan with allows.
func TestQ7_LinesOfTheSecondPass(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 4))
	const text = "SELECT * FROM t WHERE tn < 29 ORDER BY tn DESC LIMIT 5; SELECT * FROM t ORDER BY tx LIMIT 4; SELECT count(tc) FROM t"
	p, files := manyFiles(t, r, text)
	wanted := func(statement int) (*Plan, map[string][]uint64) {
		one := p.Of(statement)
		pass := one.NextPass()
		rows, err := answer(t, pass, files, local.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var cells [][]string
		if err := json.Unmarshal([]byte(rows), &cells); err != nil {
			t.Fatal(err)
		}
		next, err := one.Answered(pass, slices.Concat(cells...))
		if err != nil {
			t.Fatal(err)
		}
		lines := map[string][]uint64{}
		for _, place := range next.Rows {
			var line uint64
			space := strings.LastIndexByte(place, ' ')
			fmt.Sscan(place[space+1:], &line)
			lines[place[:space]] = append(lines[place[:space]], line)
		}
		return next, lines
	}
	first, a := wanted(0)
	second, b := wanted(1)
	if len(first.Rows) != 5 || len(second.Rows) != 4 {
		t.Fatalf("%v, %v", a, b)
	}
	for name, c := range map[string]struct {
		plans []*Plan
		want  []map[string][]uint64
	}{
		"one":           {[]*Plan{first}, []map[string][]uint64{a}},
		"two":           {[]*Plan{first, second}, []map[string][]uint64{a, b}},
		"with the rest": {[]*Plan{first, p.Of(2)}, nil},
	} {
		of, err := Analysis(Together(c.plans))
		if err != nil {
			t.Fatal(name, err)
		}
		lines := of.Streams[0].Lines
		if c.want == nil {
			if lines != nil {
				t.Errorf("%s: only some lines are read", name)
			}
			continue
		}
		for _, file := range []string{"p 1.csv", "p 7 .csv", "p0.csv", "another"} {
			want := []uint64{}
			for _, w := range c.want {
				want = append(want, w[file]...)
			}
			slices.Sort(want)
			want = slices.Compact(want)
			if got, all := lines(file); all || !slices.Equal(got, want) {
				t.Errorf("%s: of %q the lines %v, %t instead of %v", name, file, got, all, want)
			}
		}
	}
	if _, err := first.Answered(p.Of(0).NextPass(), []string{"00"}); err == nil {
		t.Error("an answer that is no place is taken")
	}
	bad := *p.Of(0)
	for _, place := range []string{"", "file", "file x", " ", "file 1.5", "file 99999999999999999999"} {
		bad.Rows = []string{place}
		if _, err := Analysis(&bad); err == nil {
			t.Errorf("%q is taken for a place", place)
		}
	}
}
