package split

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"posta.dev/posta/analyses"
	"posta.dev/posta/analyses/parse"
	"posta.dev/posta/analyses/sql/catalog"
	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/test/analysistest"
)

// runFields are fields of each type: those in the usual form come first, the last ones reject their rows.
var runFields = map[types.Kind][]string{
	types.BigInt:    {"1", "-5", "0", "12345678", "", "\"\"", "\"7\"", "123456789", "-9223372036854775808", " 7 ", "+3", "1.5", "x"},
	types.Double:    {"1.5", "-0.1", "0", "99.99", "", "\"-2.5\"", "-0", "1e300", "1e-300", "nan", "-inf", "0.12345678901", "-", "x"},
	types.Decimal:   {"1.50", "-3", "0.7", "", "123456.78", "0.005", "-0.005", "12345678", "99999999999", "x"},
	types.Date:      {"2024-01-01", "1999-12-31", "", "2024-1-1", "2024-02-30"},
	types.Timestamp: {"2024-01-01 10:00:00", "2024-01-01", "", "now"},
	types.Bool:      {"true", "f", "", "2"},
	types.Text:      {"a", "bb", "", "eight by", "a text of more than sixteen bytes", "\"\"", "\"quoted,\"\"text\"\"\"", "sixteen bytes..."},
}

// TestRunsOfRowsAreRows: a file read in runs gives the same batches, counts and rejects as the same file read row by row.
func TestRunsOfRowsAreRows(t *testing.T) {
	r := rand.New(rand.NewPCG(51, 52))
	table := catalog.Table{Name: "t", Files: "t.csv"}
	kinds := map[string]types.Type{"i": types.Of(types.BigInt), "x": types.Of(types.Double), "p": types.DecimalOf(8, 2),
		"day": types.Of(types.Date),
		"at":  types.Of(types.Timestamp), "b": types.Of(types.Bool), "word": types.Of(types.Text), "other": types.Of(types.Text)}
	for _, name := range []string{"i", "x", "p", "day", "at", "b", "word", "other"} {
		table.Columns = append(table.Columns, catalog.Column{Name: name, Type: kinds[name]})
	}
	wide := catalog.Table{Name: "w", Files: "w.csv"}
	sums := []string{}
	for c := range 70 { // the NULL bits do not fit one column
		wide.Columns = append(wide.Columns, catalog.Column{Name: fmt.Sprint("i", c), Type: types.Of(types.BigInt)})
		sums = append(sums, fmt.Sprintf("sum(i%d)", c))
	}
	statements := []string{
		"SELECT word, min(x), avg(x), max(x) FROM t GROUP BY word",
		"SELECT * FROM t",
		"SELECT count(*) FROM t",
		"SELECT sum(i) FROM t WHERE day >= DATE '2024-01-01' AND p < 100 AND word IN ('a', 'bb')",
		"SELECT word, sum(i) FROM t WHERE x > 0 AND i BETWEEN -5 AND 100 GROUP BY word",
		"SELECT other, count(*) FROM t WHERE word = 'a' AND at < TIMESTAMP '2025-01-01 00:00:00' GROUP BY other",
		"SELECT sum(i) FROM t WHERE x > 1; SELECT count(day) FROM t; SELECT word, sum(p) FROM t WHERE p > 1 GROUP BY word",
		"SELECT _line, i FROM t",
		"SELECT " + strings.Join(sums, ", ") + " FROM w",
	}
	many := 0
	for round := range 250 {
		text := statements[round%len(statements)]
		p := &Plan{Text: text, Tables: []catalog.Table{table}}
		if strings.HasSuffix(text, "FROM w") {
			p.Tables = []catalog.Table{wide}
		}
		for k := 1; k <= strings.Count(text, ";"); k++ {
			p.Also = append(p.Also, Part{Statement: k})
		}
		a, err := Analysis(p)
		if err != nil {
			t.Fatal(text, err)
		}
		columns := p.Tables[0].Columns
		header, data, first := runFile(r, columns)
		alone := *a
		alone.NewRunParser = nil
		var parsers []*parse.FileParser
		for _, a := range []*analyses.Analysis{a, &alone} {
			f, err := parse.NewFile(a, 0, nil, analyses.File{Name: "t.csv"}, []byte(header))
			if err != nil {
				t.Fatal(err)
			}
			parsers = append(parsers, f)
		}
		inRuns, oneByOne := parsers[0], parsers[1]
		for chunk := range 2 {
			if chunk == 1 {
				_, data, _ = runFile(r, columns)
			}
			many += analysistest.SameInRuns(t, text, inRuns, oneByOne, data, first)
		}
	}
	if many < 20000 {
		t.Errorf("%d rows", many)
	}
}

// runFile makes a file whose columns are in any order. Most of its fields are in the usual form.
func runFile(r *rand.Rand, columns []catalog.Column) (header string, data []byte, first uint64) {
	var names []string
	for _, c := range columns {
		names = append(names, c.Name)
	}
	end := []string{"\n", "\r\n"}[r.IntN(2)]
	odd := []int{0, 2, 60, 2000}[r.IntN(4)] // of so many fields, one is not usual; 0: none
	bad := []int{0, 30, 400}[r.IntN(3)]     // so many rows, one of which is rejected
	for range r.IntN(1500) {
		reject := -1
		if bad > 0 && r.IntN(bad) == 0 {
			reject = r.IntN(len(columns))
		}
		for i, c := range columns {
			if i > 0 {
				data = append(data, ',')
			}
			all := runFields[c.Type.Kind]
			switch {
			case i == reject:
				data = append(data, all[len(all)-1]...)
			case odd > 0 && r.IntN(odd) == 0 && !strings.Contains(all[len(all)-1], "quoted"):
				data = append(data, all[r.IntN(len(all)-1)]...)
			case odd > 0 && r.IntN(odd) == 0:
				data = append(data, all[r.IntN(len(all))]...)
			default:
				data = append(data, all[r.IntN(2)]...)
			}
		}
		if bad > 0 && r.IntN(bad) == 0 {
			data = append(data, []string{",more", "\n", "\nshort"}[r.IntN(3)]...)
		}
		data = append(data, end...)
	}
	return strings.Join(names, ","), data, 2 + r.Uint64N(100)
}
