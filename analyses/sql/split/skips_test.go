package split

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"posta.dev/posta/analyses/sql/exec"

	"posta.dev/posta/analyses/sql/catalog"

	"posta.dev/posta/analyses"
	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/rows/batch"
	"posta.dev/posta/rows/csv"
)

// skipColumn is a column of a file, with the kind and the order of its values.
type skipColumn struct {
	name  string
	kind  csv.Kind
	t     types.Type
	value func(r *rand.Rand) (text string, order float64)
}

var skipColumns = []skipColumn{
	{"i", csv.KindInteger, types.Of(types.BigInt), skipInt},
	{"u", csv.KindInteger, types.Of(types.BigInt), func(r *rand.Rand) (string, float64) { // some values are too large for the type
		v := r.Uint64N(20) << 60
		return strconv.FormatUint(v, 10), float64(v)
	}},
	{"x", csv.KindInteger, types.Of(types.Double), skipInt},
	{"h", csv.KindDecimal, types.Of(types.BigInt), func(r *rand.Rand) (string, float64) { // not all values are of the type
		v := float64(r.IntN(9)-4) / 2
		return strconv.FormatFloat(v, 'f', -1, 64), v
	}},
	{"d", csv.KindDecimal, types.Of(types.Double), func(r *rand.Rand) (string, float64) {
		v := float64(r.IntN(9)-4) / 2
		return strconv.FormatFloat(v, 'f', -1, 64), v
	}},
	{"p", csv.KindDecimal, types.DecimalOf(4, 1), func(r *rand.Rand) (string, float64) {
		v := r.IntN(40000) - 20000
		return fmt.Sprintf("%d.%02d", v/100, max(v, -v)%100), float64(v/100) + float64(v%100)/100
	}},
	{"day", csv.KindDate, types.Of(types.Date), skipDay},
	{"at", csv.KindDate, types.Of(types.Timestamp), skipDay},
	{"moment", csv.KindTime, types.Of(types.Timestamp), skipTime},
	{"late", csv.KindTime, types.Of(types.Date), skipTime}, // no value is of the type
	{"word", csv.KindBytes, types.Of(types.Text), func(r *rand.Rand) (string, float64) {
		v := r.IntN(5)
		return []string{"A", "a", "ab", "b", "é"}[v], float64(v)
	}},
	{"number", csv.KindBytes, types.Of(types.BigInt), func(r *rand.Rand) (string, float64) {
		v := r.IntN(5)
		return strconv.Itoa(v),
			float64(v)
	}},
	{"size", csv.KindBytes, types.Of(types.Double), skipInt},
	{"text", csv.KindInteger, types.Of(types.Text), skipInt},
}

func skipInt(r *rand.Rand) (string, float64) {
	v := r.IntN(21) - 10
	return strconv.Itoa(v), float64(v)
}

func skipDay(r *rand.Rand) (string, float64) {
	v := r.IntN(9)
	return fmt.Sprintf("2024-01-%02d", v+1), float64(v)
}

func skipTime(r *rand.Rand) (string, float64) {
	v := r.IntN(9)
	return fmt.Sprintf("2024-01-%02d 00:00:00", v+1), float64(v)
}

// TestWhatIsSkippedParsersPassOver: if Skips says that a part of a file is not needed, the parser skips each of its rows, and rejects none.
func TestWhatIsSkippedParsersPassOver(t *testing.T) {
	table := catalog.Table{Name: "t", Files: "t.csv"}
	for _, c := range skipColumns {
		table.Columns = append(table.Columns, catalog.Column{Name: c.name, Type: c.t})
	}
	r := rand.New(rand.NewPCG(3, 5))
	constant := func(c skipColumn) string {
		switch c.t.Kind {
		case types.BigInt, types.Text:
			v, _ := c.value(r)
			if c.name == "h" {
				v = strconv.Itoa(r.IntN(5) - 2)
			}
			if c.name == "u" {
				v = strconv.Itoa(r.IntN(7) << 60)
			}
			if c.t.Kind == types.Text {
				v = "'" + v + "'"
			}
			return v
		case types.Double:
			return fmt.Sprintf("CAST('%s' AS DOUBLE)", []string{"-2", "-0.5", "0", "0.5", "2", "inf", "nan"}[r.IntN(7)])
		case types.Decimal:
			return fmt.Sprintf("%d.%0*d", 100+r.IntN(100), 1+r.IntN(2), r.IntN(10)) // with more digits than the column has, too
		case types.Timestamp:
			return fmt.Sprintf("TIMESTAMP '2024-01-%02d 00:00:00'", 1+r.IntN(9))
		}
		return fmt.Sprintf("DATE '2024-01-%02d'", 1+r.IntN(9))
	}
	skipped := map[string]int{}
	for range 600 {
		where, of := "", ""
		for range 1 + r.IntN(3) {
			c := skipColumns[r.IntN(len(skipColumns))]
			if r.IntN(5) == 0 {
				where += " AND " + c.name + " IN (" + constant(c) + ", " + constant(c) + ")"
			} else {
				where += " AND " + c.name + []string{" = ", " < ", " <= ", " > ", " >= "}[r.IntN(5)] + constant(c)
			}
			of += c.name + " "
		}
		p := &Plan{Text: "SELECT count(*), count(i), count(d) FROM t WHERE " + where[5:], Tables: []catalog.Table{table}}
		if r.IntN(4) == 0 {
			c := skipColumns[r.IntN(len(skipColumns))]
			p.Text += fmt.Sprintf("; SELECT min(word) FROM t WHERE %s < %s", c.name, constant(c))
			p.Also = []Part{{Statement: 1}}
			of = "two"
		}
		a, err := Analysis(p)
		if errors.Is(err, ErrApart) {
			continue
		}
		if err != nil {
			t.Fatal(p.Text, err)
		}
		skips := a.Streams[0].Skips
		if skips == nil {
			continue
		}
		var alone []*analyses.Analysis
		for i := range p.Parts() {
			one, err := Analysis(p.Alone(i))
			if err != nil {
				t.Fatal(err)
			}
			alone = append(alone, one)
		}
		for range 40 {
			rows, ranges := skipPart(r, a.Streams[0].Columns)
			if !skips(ranges) {
				continue
			}
			if !slices.ContainsFunc(ranges, func(r csv.Range) bool { return r.Kind == csv.KindNone }) {
				skipped[of]++
			}
			for _, one := range alone {
				parse, err := one.NewParser(nil, 0, analyses.File{Name: "t.csv", Line: func() uint64 { return 2 }},
					batch.NewBuilder(one.Streams[0].Schema))
				if err != nil {
					t.Fatal(err)
				}
				for _, row := range rows {
					var fields [][]byte
					for _, c := range one.Streams[0].Columns {
						fields = append(fields, row[c.Name])
					}
					if err := parse(fields); err != analyses.ErrSkip {
						t.Fatalf("%s: a row is skipped with %q, from %v, that the parser takes or rejects: %v", p.Text, fields, ranges, err)
					}
				}
			}
		}
	}
	for _, c := range skipColumns {
		never := exec.Reader(c.t, c.kind) == nil && c.t.Kind != types.Text || c.name == "text"
		if n := skipped[c.name+" "]; never && n > 0 || !never && n < 5 {
			t.Errorf("%d parts are skipped by %s", n, c.name)
		}
	}
	if skipped["two"] < 10 {
		t.Errorf("%d parts are skipped by two statements: %v", skipped["two"], skipped)
	}
}

// skipPart makes the rows of a part of a file, and the file's ranges for them.
func skipPart(r *rand.Rand, columns []csv.Column) (rows []map[string][]byte, ranges []csv.Range) {
	rows = make([]map[string][]byte, 1+r.IntN(3))
	for i := range rows {
		rows[i] = map[string][]byte{}
	}
	for _, c := range columns {
		of := skipColumns[slices.IndexFunc(skipColumns, func(o skipColumn) bool { return o.name == c.Name })]
		type value struct {
			text  string
			order float64
		}
		var values []value
		null := r.IntN(20) == 0
		for i := range rows {
			text, order := of.value(r)
			if null || r.IntN(6) == 0 {
				null = true
				continue
			}
			rows[i][c.Name] = []byte(text)
			if order == order {
				values = append(values, value{text, order})
			}
		}
		switch {
		case len(values) == 0 && slices.ContainsFunc(rows, func(row map[string][]byte) bool { return row[c.Name] != nil }), r.IntN(10) == 0:
			ranges = append(ranges, csv.Range{})
			continue
		case len(values) == 0:
			ranges = append(ranges, csv.Range{Kind: csv.KindNone})
			continue
		}
		if r.IntN(4) == 0 { // a wider range than the values have
			text, order := of.value(r)
			values = append(values, value{text, order})
		}
		slices.SortStableFunc(values, func(a, b value) int { return cmp.Compare(a.order, b.order) })
		ranges = append(ranges, csv.Range{Kind: of.kind, Least: []byte(values[0].text), Most: []byte(values[len(values)-1].text)})
	}
	return rows, ranges
}

// TestRangesThatCannotBeAreNotBelieved: a range that is impossible skips nothing.
func TestRangesThatCannotBeAreNotBelieved(t *testing.T) {
	a, err := Analysis(&Plan{Text: "SELECT count(*) FROM t WHERE i = 5",
		Tables: []catalog.Table{{Name: "t", Files: "t.csv", Columns: []catalog.Column{{Name: "i", Type: types.Of(types.BigInt)}}}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		least, most string
		kind        csv.Kind
		want        bool
	}{{"6", "7", csv.KindInteger, true}, {"7", "6", csv.KindInteger, false}, {"6", "x", csv.KindInteger, false},
		{"", "4", csv.KindInteger, false}, {"6", "7", csv.KindBytes, false}, {"6", "7", csv.KindUnknown, false}, {"", "", csv.KindNone, true}} {
		if got := a.Streams[0].Skips([]csv.Range{{Kind: c.kind, Least: []byte(c.least), Most: []byte(c.most)}}); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
	if a.Streams[0].Skips(nil) {
		t.Error("without ranges")
	}
}
