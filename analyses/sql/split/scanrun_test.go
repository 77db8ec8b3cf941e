package split

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"posta.dev/posta/analyses"
	"posta.dev/posta/analyses/parse"
	"posta.dev/posta/analyses/sql/catalog"
	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/rows/batch"
	"posta.dev/posta/rows/columnar"
	"posta.dev/posta/rows/csv"
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

// runTables returns two tables and statements over them.
func runTables() (table, wide catalog.Table, statements []string) {
	table = catalog.Table{Name: "t", Files: "t.csv"}
	kinds := map[string]types.Type{"i": types.Of(types.BigInt), "x": types.Of(types.Double), "p": types.DecimalOf(8, 2),
		"day": types.Of(types.Date),
		"at":  types.Of(types.Timestamp), "b": types.Of(types.Bool), "word": types.Of(types.Text), "other": types.Of(types.Text)}
	for _, name := range []string{"i", "x", "p", "day", "at", "b", "word", "other"} {
		table.Columns = append(table.Columns, catalog.Column{Name: name, Type: kinds[name]})
	}
	wide = catalog.Table{Name: "w", Files: "w.csv"}
	sums := []string{}
	for c := range 70 { // the NULL bits do not fit one column
		wide.Columns = append(wide.Columns, catalog.Column{Name: fmt.Sprint("i", c), Type: types.Of(types.BigInt)})
		sums = append(sums, fmt.Sprintf("sum(i%d)", c))
	}
	statements = []string{
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
	return table, wide, statements
}

// TestRunsOfRowsAreRows: a file read in runs gives the same batches, counts and rejects as the same file read row by row.
func TestRunsOfRowsAreRows(t *testing.T) {
	r := rand.New(rand.NewPCG(51, 52))
	table, wide, statements := runTables()
	many := 0
	for round := range 250 {
		text := statements[round%len(statements)]
		of := table
		if strings.HasSuffix(text, "FROM w") {
			of = wide
		}
		columns := of.Columns
		header, data, first := runFile(r, columns)
		inRuns, oneByOne, _ := runParsers(t, text, of, []byte(header))
		for chunk := range 2 {
			if chunk == 1 {
				_, data, _ = runFile(r, columns)
			}
			many += analysistest.SameInRuns(t, text, inRuns, oneByOne, data, first, analysistest.SameBytes)
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

// runParsers returns two parsers of a file, of which the second one reads each row alone.
func runParsers(t *testing.T, text string, table catalog.Table, header []byte) (inRuns, oneByOne *parse.FileParser,
	schema []batch.FieldSpec) {
	t.Helper()
	p := &Plan{Text: text, Tables: []catalog.Table{table}}
	for k := 1; k <= strings.Count(text, ";"); k++ {
		p.Also = append(p.Also, Part{Statement: k})
	}
	a, err := Analysis(p)
	if err != nil {
		t.Fatal(text, err)
	}
	alone := *a
	alone.NewRunParser, alone.NewColumnParser = nil, nil
	var parsers []*parse.FileParser
	for _, a := range []*analyses.Analysis{a, &alone} {
		f, err := parse.NewFile(a, 0, nil, analyses.File{Name: "t.csv"}, header)
		if err != nil {
			t.Fatal(err)
		}
		parsers = append(parsers, f)
	}
	return parsers[0], parsers[1], a.Streams[0].Schema
}

// TestColumnsOfChunksAreRows: a columnar chunk read column by column gives the same batches, counts and rejects as the same chunk read row
// by row, whatever kinds its columns have.
func TestColumnsOfChunksAreRows(t *testing.T) {
	r := rand.New(rand.NewPCG(53, 54))
	table, wide, statements := runTables()
	many := 0
	for round := range 100 {
		text := statements[round%len(statements)]
		of := table
		if strings.HasSuffix(text, "FROM w") {
			of = wide
		}
		var names []string
		for _, c := range of.Columns {
			names = append(names, c.Name)
		}
		inRuns, oneByOne, schema := runParsers(t, text, of, csv.MarkedColumnar([]byte(strings.Join(names, ",")), ',', 18))
		w := columnar.NewWriter(len(of.Columns))
		for range 2 {
			w.Reset()
			rows, odd := 1+r.IntN(4000), []int{0, 0, 40, 2000}[r.IntN(4)]
			for i, c := range of.Columns {
				drawColumn(r, w.Column(i), c.Type.Kind, rows, odd)
			}
			many += analysistest.SameInRuns(t, text, inRuns, oneByOne, w.Append(nil), 2+r.Uint64N(100), analysistest.SameValues(t, schema))
		}
	}
	if many < 10000 {
		t.Errorf("%d rows", many)
	}
}

// drawColumn draws the values of a column. Of odd rows, one is unusual; 0: none.
func drawColumn(r *rand.Rand, c *columnar.Column, kind types.Kind, rows, odd int) {
	fields := runFields[kind]
	usual := fields[:2]
	if odd > 0 && r.IntN(2) == 0 {
		usual = fields
	}
	const numbers, words, texts, nulls = 0, 1, 2, 3
	mode := []int{numbers, numbers, numbers, numbers, words, words, texts, nulls}[r.IntN(8)]
	as := []columnar.Kind{columnar.Int, columnar.Days, columnar.Micros, columnar.Float}[r.IntN(4)] // of most types no value
	if r.IntN(8) > 0 {
		switch kind {
		case types.Date:
			as = columnar.Days
		case types.Timestamp:
			as = columnar.Micros
		case types.Double:
			as = []columnar.Kind{columnar.Int, columnar.Float, columnar.Decimal(3)}[r.IntN(3)]
		case types.Decimal:
			as = []columnar.Kind{columnar.Int, columnar.Decimal(1), columnar.Decimal(2), columnar.Decimal(3)}[r.IntN(4)]
		case types.Bool:
			as = columnar.Bool
		default:
			as = columnar.Int
		}
	}
	spread := int64(1) << r.IntN(40)
	c.Dictionary(len(fields))
	many := kind == types.Text && r.IntN(3) == 0 // different texts
	if many {
		usual = nil
		for range 1000 {
			usual = append(usual, fmt.Sprint("text ", r.IntN(1000)))
		}
		c.Dictionary(len(usual))
	}
	for range rows {
		usualRow := odd == 0 || r.IntN(odd) > 0
		n := r.IntN(len(usual))
		switch {
		case mode == nulls, !usualRow && r.IntN(2) == 0:
			c.AppendNull()
		case !usualRow && r.IntN(4) == 0:
			c.AppendText([]byte(fields[r.IntN(len(fields))]))
		case mode == words:
			c.AppendWord(uint32(n), []byte(usual[n]))
		case mode == texts:
			c.AppendText([]byte(usual[n]))
		case as == columnar.Float && !usualRow:
			c.AppendFloat(math.NaN())
		case as == columnar.Float:
			c.AppendFloat(float64(r.Int64N(spread)) / 8)
		default:
			v := r.Int64N(spread) - spread/2
			if as == columnar.Bool {
				v &= 1
			}
			c.AppendInt(as, v)
		}
	}
}
