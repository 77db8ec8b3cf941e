package split

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"posta.dev/posta/analyses/sql/exec"

	"posta.dev/posta/analyses/sql/catalog"

	"posta.dev/posta/analyses"
	"posta.dev/posta/analyses/local"
	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/rows/fold"
)

// summarized is a column with what SUMMARIZE has to say of its quartiles.
type summarized struct {
	name  string
	t     types.Type
	value func() string // "" is NULL
	off   float64       // how far a quartile may be off, as a share of it; of dates and times as a share of the range
	cells []string
}

const (
	exactly = 0
	nearly  = 0.005       // what the documentation promises of numbers
	ofRange = 1.0 / 13000 // and of dates and times
)

// hostile returns columns of many kinds, with the given number of rows.
func hostile(r *rand.Rand, rows int) []*summarized {
	pick := func(of ...string) func() string { return func() string { return of[r.IntN(len(of))] } }
	whole := func(f func() int64) func() string {
		return func() string { return strconv.FormatInt(f(), 10) }
	}
	double := func(f func() float64) func() string {
		return func() string { return strconv.FormatFloat(f(), 'g', -1, 64) }
	}
	moment := func(layout string, from time.Time, span time.Duration) func() string {
		return func() string { return from.Add(time.Duration(r.Int64N(int64(span)))).Format(layout) }
	}
	bigint, float, date, timestamp := types.Of(types.BigInt), types.Of(types.Double), types.Of(types.Date), types.Of(types.Timestamp)
	start, n := time.Date(1955, 3, 1, 0, 0, 0, 0, time.UTC), int64(0)
	columns := []*summarized{
		{name: "one", t: bigint, value: pick("7"), off: exactly},
		{name: "small", t: bigint, value: whole(func() int64 { return r.Int64N(1001) - 500 }), off: exactly},
		{name: "year", t: bigint, value: whole(func() int64 { return 1990 + r.Int64N(1+r.Int64N(35)) }), off: exactly},
		{name: "six", t: bigint, value: whole(func() int64 { return 100 * r.Int64N(9000) }), off: exactly},
		{name: "id", t: bigint, value: whole(func() int64 { n++; return 87_654_321 + 10*n }), off: nearly},
		{name: "skewed", t: bigint, value: whole(func() int64 { return int64(r.Uint64()) >> r.IntN(64) }), off: nearly},
		{name: "extreme", t: bigint, value: pick("9223372036854775807", "-9223372036854775808", "-9223372036854775808", "0", ""), off: exactly},
		{name: "most", t: bigint, value: pick("9223372036854775807"), off: exactly},
		{name: "tied", t: bigint, value: whole(func() int64 {
			if r.IntN(3) > 0 {
				return 1234
			}
			return r.Int64N(1 << 40)
		}), off: nearly},
		{name: "normal", t: float, value: double(r.NormFloat64), off: nearly},
		{name: "spread", t: float, value: double(func() float64 { return math.Exp(10 * r.NormFloat64()) }), off: nearly},
		{name: "price", t: float, value: double(func() float64 { return float64(r.IntN(9000)) / 100 }), off: exactly},
		{name: "place", t: float, value: func() string { return fmt.Sprintf("-73.%04d", r.IntN(8000)) }, off: exactly},
		{name: "odd", t: float, value: pick("inf", "-inf", "nan", "", "-0", "0", "1e300"), off: exactly},
		{name: "zero", t: float, value: pick("0", "-0"), off: exactly},
		{name: "nan", t: float, value: pick("nan"), off: exactly},
		{name: "infinite", t: float, value: pick("-inf"), off: exactly},
		{name: "bits", t: float, value: double(func() float64 {
			for {
				if f := math.Float64frombits(r.Uint64()); math.Abs(f) > 1e-300 && !math.IsInf(f, 0) && f == f {
					return f
				}
			}
		}), off: 0.16}, // in all ranges of a DOUBLE, of which the documentation promises less
		{name: "money", t: types.DecimalOf(9, 2), value: func() string { return fmt.Sprintf("%.2f", r.Float64()*9e6) }, off: nearly},
		{name: "widest", t: types.DecimalOf(18, 0), value: pick("999999999999999999", "-999999999999999999", ""), off: 1e-15},
		{name: "day", t: date, value: moment(time.DateOnly, start, 40*365*24*time.Hour), off: exactly},
		{name: "age", t: date, value: moment(time.DateOnly, start, 250*365*24*time.Hour), off: ofRange},
		{name: "moment", t: timestamp, value: moment("2006-01-02 15:04:05.000000", start, 30*365*24*time.Hour), off: ofRange},
		{name: "minute", t: timestamp, value: moment("2006-01-02 15:04:05", start, time.Minute), off: exactly},
		{name: "none", t: bigint, value: pick("")},
		{name: "flag", t: types.Of(types.Bool), value: pick("true", "false", "")},
		{name: "word", t: types.Of(types.Text), value: pick("a", "née", `""`, "")},
		{name: "text", t: types.Of(types.Text), value: func() string { return fmt.Sprint("w", r.IntN(200_000)) }},
	}
	for _, c := range columns {
		for range rows {
			c.cells = append(c.cells, c.value())
		}
	}
	return columns
}

// tableOf returns a table with the rows in the given order.
func tableOf(columns []*summarized, order []int) (catalog.Table, fstest.MapFS) {
	t := catalog.Table{Name: "t", Files: "t.csv"}
	var b strings.Builder
	for i, c := range columns {
		t.Columns = append(t.Columns, catalog.Column{Name: c.name, Type: c.t})
		b.WriteString(strings.Repeat(",", min(i, 1)) + c.name)
	}
	b.WriteByte('\n')
	for _, row := range order {
		for i, c := range columns {
			b.WriteString(strings.Repeat(",", min(i, 1)) + c.cells[row])
		}
		b.WriteByte('\n')
	}
	return t, fstest.MapFS{"t.csv": {Data: []byte(b.String())}}
}

// number returns a value as a number: of dates and times, seconds.
func (c *summarized) number(t *testing.T, text string) float64 {
	t.Helper()
	switch c.t.Kind {
	case types.Date, types.Timestamp:
		for _, layout := range []string{time.DateOnly, "2006-01-02 15:04:05.999999"} {
			if at, err := time.Parse(layout, text); err == nil {
				return float64(at.UnixMicro()) / 1e6
			}
		}
		t.Fatalf("%s: %s is no date", c.name, text)
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(c.name, err)
	}
	return f + 0
}

// check compares quartiles with exact ones, and the number of distinct values with the true one.
func (c *summarized) check(t *testing.T, unique any, quartiles []any) {
	t.Helper()
	distinct, values := map[string]bool{}, []float64{}
	has := c.t.Kind != types.Bool && c.t.Kind != types.Text
	for _, cell := range c.cells {
		if cell == "" {
			continue
		}
		if has {
			values = append(values, c.number(t, cell))
			if c.t.Kind == types.Double {
				cell = fmt.Sprint(values[len(values)-1])
			}
		}
		distinct[cell] = true
	}
	n := float64(len(distinct))
	if got := unique.(float64); got != n && (n <= 1024 || math.Abs(got-n) > 0.1*n) {
		t.Errorf("%s: %v distinct values, want %v", c.name, got, n)
	}
	slices.SortFunc(values, func(a, b float64) int {
		if a != a || b != b { // NaN is the greatest
			return cmp.Compare(b, a)
		}
		return cmp.Compare(a, b)
	})
	for k, q := range quartiles {
		if len(values) == 0 {
			if q != nil {
				t.Errorf("%s: quartile %d is %v of no values", c.name, k+1, q)
			}
			continue
		}
		want := values[(len(values)*(k+1)+3)/4-1]
		if q == nil {
			t.Errorf("%s: no quartile %d, want %v", c.name, k+1, want)
			continue
		}
		got, off := c.number(t, q.(string)), c.off*math.Abs(want)
		if c.t.Kind == types.Date || c.t.Kind == types.Timestamp {
			off = c.off * (values[len(values)-1] - values[0])
		}
		if got != want && !(math.Abs(got-want) <= off) && !(got != got && want != want) {
			t.Errorf("%s: quartile %d is %v, want %v, off by no more than %v", c.name, k+1, got, want, off)
		}
	}
}

// TestD1_SummariesDoNotDependOnTheOrderOfRows, nor on replicas, chunks, and whether rows are folded where they are parsed. The
// quartiles and numbers of distinct values are as near to the true ones as the documentation says.
func TestD1_SummariesDoNotDependOnTheOrderOfRows(t *testing.T) {
	r := rand.New(rand.NewPCG(25, 75))
	for _, rows := range []int{0, 1, 2, 7, 24_000} {
		columns := hostile(r, rows)
		order := r.Perm(rows)
		table, files := tableOf(columns, order)
		p := &Plan{Text: "SUMMARIZE t", Tables: []catalog.Table{table}}
		if s, err := p.statement(); err != nil || len(s.Leaves) != 1 || s.Leaves[0].Keep != exec.KeepGroups {
			t.Fatalf("not folded: %v", err)
		}
		want, err := answer(t, p, files, local.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var all [][]any
		if err := json.Unmarshal([]byte(want), &all); err != nil || len(all) != len(columns) {
			t.Fatalf("%d rows, %v", len(all), err)
		}
		for i, c := range columns {
			c.check(t, all[i][4], all[i][7:10])
		}
		again := func(how, text string, order []int, o local.Options) {
			t.Helper()
			table, files := tableOf(columns, order)
			if got, err := answer(t, &Plan{Text: text, Tables: []catalog.Table{table}}, files, o); err != nil || got != want {
				t.Errorf("%d rows, %s: %v\n got  %.600s\n want %.600s", rows, how, err, got, want)
			}
		}
		for seed := range uint64(3) {
			again(fmt.Sprint("seed ", seed), p.Text, r.Perm(rows), local.Options{Joiners: 1 + int(seed), Aggregators: 3 - int(seed), Seed: seed,
				ChunkBytes: 20_000 << (3 * seed)})
		}
		slices.SortFunc(order, func(a, b int) int { return cmp.Compare(columns[4].cells[a], columns[4].cells[b]) })
		again("in order", p.Text, order, local.Options{Aggregators: 2})
		again("not folded", "SUMMARIZE SELECT * EXCLUDE (n) FROM (SELECT *, row_number() OVER () AS n FROM t)", r.Perm(rows), local.Options{})
	}
}

// TestEachChunkIsSummarizedByItself: the tables of a chunk have all its values, also those that the chunk before it had. The chunk
// before may be sent to another process.
func TestEachChunkIsSummarizedByItself(t *testing.T) {
	f := newFolding(t, "SUMMARIZE t", catalog.Table{Name: "t", Columns: []catalog.Column{{Name: "id", Type: types.Of(types.BigInt)},
		{Name: "word", Type: types.Of(types.Text)}}})
	var b strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&b, "%d,w%d\n", i%2000, i%7)
	}
	for chunk := range uint64(3) {
		if folded, _ := f.chunk(t, 2+3000*chunk, b.String()); !folded {
			t.Fatalf("chunk %d is not folded", chunk)
		}
	}
}

// TestSummariesAreBounded: a million rows, with a million distinct values in each column, are folded where they are parsed into
// small cells, and an aggregator keeps little of them.
func TestSummariesAreBounded(t *testing.T) {
	const chunks, rows = 50, 20_000
	table := catalog.Table{Name: "t", Columns: []catalog.Column{{Name: "id", Type: types.Of(types.BigInt)},
		{Name: "x", Type: types.Of(types.Double)},
		{Name: "at", Type: types.Of(types.Timestamp)}, {Name: "word", Type: types.Of(types.Text)}}}
	f := newFolding(t, "SUMMARIZE t", table)
	var merged *fold.Table
	r := rand.New(rand.NewPCG(1, 1))
	start, most := time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC), 0
	for chunk := range chunks {
		var b strings.Builder
		for i := range rows {
			n := chunk*rows + i
			fmt.Fprintf(&b, "%d,%v,%s,w%d\n", n*977, math.Exp(r.NormFloat64()), start.Add(time.Duration(n)*time.Minute).Format(time.DateTime), n)
		}
		line := uint64(2 + chunk*rows)
		if _, _, err := f.rows.Chunk([]byte(b.String()), line); err != nil {
			t.Fatal(err)
		}
		tables, folded := f.folder.Fold(f.rows.Builder(), analyses.Position{File: analyses.File{Name: "t.csv"}, Line: line})
		if !folded {
			t.Fatalf("chunk %d is not folded", chunk)
		}
		partial := tables[0].AppendRows(nil, tables[0].Rows())
		most = max(most, len(partial))
		if merged == nil {
			merged = fold.NewTable(tables[0].Spec())
		}
		if err := merged.Merge(partial); err != nil {
			t.Fatal(err)
		}
	}
	if most > 300<<10 || merged.Bytes() > 8<<20 {
		t.Errorf("a chunk of %d rows becomes %d bytes, and the aggregator has %d bytes", rows, most, merged.Bytes())
	}
	for i, a := range merged.Spec().Aggs {
		if a.Kind == fold.Smallest && len(merged.Smallest(0, i)) != a.N {
			t.Errorf("%d hashes", len(merged.Smallest(0, i)))
		}
	}
}
