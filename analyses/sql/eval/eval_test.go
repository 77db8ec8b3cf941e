package eval_test

import (
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"posta.dev/posta/analyses/sql/bind"
	. "posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/syntax"
	"posta.dev/posta/analyses/sql/types"
)

var table = plan.Table{Name: "t", Fields: []plan.Field{
	{Name: "a", Type: types.Of(types.BigInt)}, {Name: "b", Type: types.Of(types.BigInt)}, {Name: "x", Type: types.Of(types.Double)},
	{Name: "y", Type: types.Of(types.Double)},
	{Name: "c", Type: types.Of(types.Text)}, {Name: "d", Type: types.Of(types.Text)}, {Name: "p", Type: types.Of(types.Bool)},
	{Name: "q", Type: types.Of(types.Bool)},
	{Name: "e", Type: types.Of(types.Date)}, {Name: "f", Type: types.Of(types.Timestamp)},
}}

// bound returns the expression of SELECT text FROM t.
// byNumber is the layout of rows in which column 1 of a plan is the first, as the only table of a statement has them.
var byNumber = func() plan.Layout {
	at := plan.Layout{}
	for i := range 100 {
		at[plan.ColumnID(i+1)] = i
	}
	return at
}()

func bound(t testing.TB, text string) plan.Expr {
	t.Helper()
	text = "SELECT " + text + " FROM t"
	script, err := syntax.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	p, err := bind.Bind(text, script, []plan.Table{table}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p.Statements[0].Plan.(*plan.Project).Exprs[0]
}

// generator writes random expressions of a type.
type generator struct{ *rand.Rand }

func (g generator) pick(list ...string) string { return list[g.IntN(len(list))] }

func (g generator) expr(kind string, depth int) string {
	leaf := map[string][]string{
		"int":   {"a", "b", "a", "b", "3::BIGINT", "-7::BIGINT", "0::BIGINT", "9223372036854775807"},
		"float": {"x", "y", "x", "y", "1.5e0", "-0e0", "2e300"},
		"text":  {"c", "d", "'m'", "''"}, "bool": {"p", "q", "TRUE", "FALSE"}, "time": {"f", "e::TIMESTAMP", "TIMESTAMP '2024-01-01 12:00'"},
		"date": {"e", "DATE '2024-01-01'"},
	}
	if depth <= 0 || g.IntN(8) == 0 {
		return g.pick(leaf[kind]...)
	}
	sub := func(k string) string { return g.expr(k, depth-1) }
	switch g.IntN(6) {
	case 0:
		return "CASE WHEN " + sub("bool") + " THEN " + sub(kind) + " WHEN " + sub("bool") + " THEN " + sub(kind) +
			g.pick(" END", " ELSE "+sub(kind)+" END")
	case 1:
		return "coalesce(" + sub(kind) + ", " + sub(kind) + ")"
	case 2:
		return g.pick("nullif("+sub(kind)+", "+sub(kind)+")", "if("+sub("bool")+", "+sub(kind)+", "+sub(kind)+")")
	}
	switch kind {
	case "int":
		return g.pick("("+sub("int")+g.pick(" + ", " - ", " * ", " // ", " % ")+sub("int")+")", "(-("+sub("int")+"))",
			"("+sub("float")+")::BIGINT", "TRY_CAST("+sub("float")+" AS SMALLINT)", "("+sub("int")+")::INTEGER",
			"TRY_CAST("+sub("int")+" AS TINYINT)", "length("+sub("text")+")")
	case "float":
		return g.pick("("+sub("float")+g.pick(" + ", " - ", " * ", " / ", " % ")+sub("float")+")", "(-("+sub("float")+"))",
			"("+sub("int")+" / "+sub("int")+")", "("+sub("int")+")::DOUBLE", "("+sub("float")+" * "+sub("int")+")")
	case "bool":
		k := g.pick("int", "float", "text", "bool", "time", "date")
		if g.IntN(3) == 0 {
			pattern := g.pick("'%a%'", "'m_'", "'_'", "'%'", "'a%'", "'!_%'", "'%!%'", "'%m%a'", "'_%_'", "''", "'%!'", "'%ü'", "'%_a%m%'")
			return g.pick("("+sub("text")+g.pick(" LIKE ", " NOT LIKE ")+pattern+g.pick("", " ESCAPE '!'")+")",
				g.pick("contains", "starts_with", "ends_with")+"("+sub("text")+", "+sub("text")+")",
				"("+sub(k)+g.pick(" IN (", " NOT IN (")+sub(k)+", "+sub(k)+g.pick("", ", NULL")+"))")
		}
		return g.pick("("+sub("bool")+g.pick(" AND ", " OR ")+sub("bool")+")", "(NOT "+sub("bool")+")",
			"("+sub(k)+g.pick(" = ", " <> ", " < ", " <= ", " > ", " >= ", " IS DISTINCT FROM ", " IS NOT DISTINCT FROM ")+sub(k)+")",
			"("+sub(k)+" IS "+g.pick("", "NOT ")+"NULL)", "("+sub(k)+" BETWEEN "+sub(k)+" AND "+sub(k)+")")
	}
	return g.pick(leaf[kind]...)
}

// rows makes random rows: small values, extremes and NULLs.
func (g generator) rows(n int) [][]any {
	ints := []int64{0, 1, -1, 2, 3, 5, 127, 128, 1 << 31, math.MaxInt64, math.MinInt64}
	floats := []float64{0, math.Copysign(0, -1), 0.5, 1.5, 2.5, -3.5, 1e10, 9.3e18, math.Inf(1), math.NaN(), 0.1}
	rows := make([][]any, n)
	for i := range rows {
		row := make([]any, len(table.Fields))
		for j, f := range table.Fields {
			switch {
			case g.IntN(5) == 0:
			case f.Type.Kind == types.BigInt:
				row[j] = ints[g.IntN(len(ints)-g.IntN(6))]
			case f.Type.Kind == types.Double:
				row[j] = floats[g.IntN(len(floats)-g.IntN(6))]
			case f.Type.Kind == types.Text:
				row[j] = []string{"", "a", "m", "ma", "ü", "\xff", "a%", "_a", "mamam", "aü\xffm"}[g.IntN(10)]
			case f.Type.Kind == types.Bool:
				row[j] = g.IntN(2) == 0
			case f.Type.Kind == types.Date:
				row[j] = 19720 + int64(g.IntN(6))
			default:
				row[j] = (19723+int64(g.IntN(2)))*MicrosPerDay + int64(g.IntN(3))*MicrosPerDay/2
			}
		}
		rows[i] = row
	}
	return rows
}

// columns turns rows into vectors. A NULL has a value below it that would do harm if it were used.
func columns(rows [][]any) []*Vector {
	var out []*Vector
	for j, f := range table.Fields {
		v := NewVector(f.Type.Kind, len(rows))
		for i := range rows {
			switch x := rows[i][j].(type) {
			case nil:
				v.SetNull(int32(i))
				if v.Ints != nil {
					v.Ints[i] = math.MinInt64
				}
			case int64:
				v.Ints[i] = x
			case float64:
				v.Floats[i] = x
			case string:
				v.Texts[i] = x
			case bool:
				v.Bools[i] = x
			}
		}
		out = append(out, v)
	}
	return out
}

func at(v *Vector, i int32) any {
	switch {
	case v.IsNull(i):
		return nil
	case v.Kind == types.Double:
		return v.Floats[i]
	case v.Kind == types.Bool:
		return v.Bools[i]
	case v.Kind == types.Text:
		return v.Texts[i]
	}
	return v.Ints[i]
}

func same(a, b any) bool {
	x, isX := a.(float64)
	y, isY := b.(float64)
	if isX && isY { // equal to the last bit, except for the bits of NaN
		return math.Float64bits(x) == math.Float64bits(y) || math.IsNaN(x) && math.IsNaN(y)
	}
	if i, ok := b.(*big.Int); ok {
		b = i.Int64()
	}
	return a == b
}

// FuzzKernels: for random expressions over random rows, a naive evaluator finds the same values, and the same first row that fails.
func FuzzKernels(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) { kernels(t, seed, 50) })
}

// TestQ6_KernelsMeetErrorsAndValues: the random expressions of FuzzKernels have both.
func TestQ6_KernelsMeetErrorsAndValues(t *testing.T) {
	if failed, values := kernels(t, 1, 500); failed < 25 || values < 10_000 {
		t.Errorf("%d batches without a value and %d values: too few to mean something", failed, values)
	}
}

// kernels compares expressions with the naive evaluator, and returns how many batches fail, and how many values there are.
func kernels(t *testing.T, seed uint64, expressions int) (failed, values int) {
	t.Helper()
	g := generator{rand.New(rand.NewPCG(seed, 2))}
	for range expressions {
		text := g.expr(g.pick("int", "float", "text", "bool", "time", "date"), 1+g.IntN(4))
		e := bound(t, text)
		p, err := Compile(e, byNumber)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		for range 2 { // the second run reuses the buffers of the first
			rows := g.rows(1 + g.IntN(130))
			var sel []int32
			for i := range rows {
				if g.IntN(3) > 0 {
					sel = append(sel, int32(i))
				}
			}
			if len(sel) == 0 || g.IntN(2) == 0 {
				sel = nil
			}
			got, err := p.Run(columns(rows), len(rows), sel)
			if sel == nil {
				for i := range rows {
					sel = append(sel, int32(i))
				}
			}
			for _, i := range sel {
				want, missing := reference(e, rows[i])
				if missing != nil {
					failed++
					if e := (*Error)(nil); !errors.As(err, &e) || e.Row != i {
						t.Fatalf("%s: %v; the reference has no value at row %d: %v", text, err, i, rows[i])
					}
					break
				}
				if err != nil {
					if e := (*Error)(nil); errors.As(err, &e) && e.Row > i {
						continue
					}
					t.Fatalf("%s: %v; the reference has %v at row %d: %v", text, err, want, i, rows[i])
				}
				values++
				if !same(at(got, i), want) {
					t.Fatalf("%s: %v, the reference has %v at row %d: %v", text, at(got, i), want, i, rows[i])
				}
			}
		}
	}
	return failed, values
}

func TestQ4_WhatHasNoKernelIsRefused(t *testing.T) {
	for _, text := range []string{"INTERVAL 1 DAY = INTERVAL 1 DAY", "nullif(INTERVAL 1 DAY, INTERVAL 2 DAY)"} {
		if _, err := Compile(bound(t, text), byNumber); !errors.Is(err, ErrUnsupported) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestQ5_AnErrorNamesThePlaceInTheStatement(t *testing.T) {
	p, err := Compile(bound(t, "p OR a + 9223372036854775807 > 0"), byNumber)
	if err != nil {
		t.Fatal(err)
	}
	rows := generator{rand.New(rand.NewPCG(1, 1))}.rows(3)
	for i, r := range rows {
		r[0], r[6] = int64(i), i == 1
	}
	_, err = p.Run(columns(rows), 3, nil)
	e := (*Error)(nil)
	if !errors.As(err, &e) || e.Row != 2 || int(e.At) != strings.Index("SELECT p OR a + 9", "+") {
		t.Errorf("%v at %+v", err, e)
	}
	if _, err := p.Run(columns(rows), 2, nil); err != nil {
		t.Errorf("a row that the left side of OR decides: %v", err)
	}
}

// A run of a program that has already seen a batch of this size allocates nothing.
func TestQ6_NothingIsAllocatedForARow(t *testing.T) {
	rows := generator{rand.New(rand.NewPCG(3, 3))}.rows(1024)
	for _, r := range rows {
		r[0] = int64(5)
	}
	in := columns(rows)
	for _, text := range []string{"a * 2 + 1", "x * y + 1e0", "a > 3 AND x < y OR p IS NULL", "CASE WHEN p THEN c WHEN q THEN 'x' ELSE d END",
		"coalesce(x, y, 1e0)", "nullif(c, d)", "a / 3", "c IS NOT DISTINCT FROM d", "c LIKE '%a_%'", "a IN (1, 2, 5)", "length(c)"} {
		p, err := Compile(bound(t, text), byNumber)
		if err != nil {
			t.Fatal(err)
		}
		run := func() {
			if _, err := p.Run(in, len(rows), nil); err != nil {
				t.Fatal(err)
			}
		}
		run()
		if n := testing.AllocsPerRun(20, run); n > 2 {
			t.Errorf("%s: %v allocations for %d rows", text, n, len(rows))
		}
	}
}

func BenchmarkRun(b *testing.B) {
	rows := generator{rand.New(rand.NewPCG(3, 3))}.rows(2048)
	for _, r := range rows {
		r[0] = int64(5)
	}
	in := columns(rows)
	for _, text := range []string{"a * 2 + 1", "x * y + 1e0", "a > 3 AND x < y", "c = d", "CASE WHEN p THEN a ELSE 0 END", "c LIKE '%a%m'"} {
		b.Run(text, func(b *testing.B) {
			p, err := Compile(bound(b, text), byNumber)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if _, err := p.Run(in, len(rows), nil); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(rows)), "ns/row")
		})
	}
}

func TestQ5_Like(t *testing.T) {
	for _, c := range []struct {
		text, pattern string
		escape        byte
		want, ok      bool
	}{
		{"", "", 0, true, true}, {"", "%", 0, true, true}, {"", "_", 0, false, true}, {"abc", "a%c", 0, true, true},
		{"abc", "a_c", 0, true, true}, {"ac", "a_c", 0, false, true}, {"aüc", "a_c", 0, true, true}, {"a\xffc", "a_c", 0, true, true},
		{"a\nb", "a%b", 0, true, true}, {"ababab", "%ab", 0, true, true}, {"ababac", "%ab", 0, false, true}, {"a%", "a!%", '!', true, true},
		{"ab", "a!%", '!', false, true}, {"a!", "a!!", '!', true, true}, {"ab", "ab!", '!', false, false},
		{"a%b", "a%%b", '%', true, true}, {"axb", "a%%b", '%', false, true}, {"a_", "a__", '_', true, true},
		{"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab", "%a%a%a%a%a%a%a%a%a%a%a%a%c", 0, false, true},
	} {
		if got, ok := Matches(c.text, c.pattern, c.escape); got != c.want || ok != c.ok {
			t.Errorf("%q LIKE %q: %t, %t", c.text, c.pattern, got, ok)
		}
	}
}
