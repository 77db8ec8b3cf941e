package sqldiff

import (
	"cmp"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"posta.dev/posta/analyses/sql/bind"
	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/exec/operators"
	"posta.dev/posta/analyses/sql/functions"
	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/syntax"
	"posta.dev/posta/analyses/sql/types"
)

var calls = flag.Int("calls", 40, "how many rows of values each function is called with, and how often each cast of constants is compared")

// oddValues are values of each type at which implementations differ: extremes, halves, and texts that are nearly a value of another type.
var oddValues = map[types.Kind][]any{
	types.Bool: {true, false},
	types.BigInt: {int64(0), int64(1), int64(-1), int64(2), int64(-42), int64(127), int64(128), int64(255), int64(-129), int64(65536),
		int64(1 << 31), int64(1 << 53), int64(1<<53 + 1), int64(math.MaxInt64), int64(math.MinInt64)},
	types.Decimal: {int64(0), int64(5), int64(-5), int64(50), int64(150), int64(-250), int64(145), int64(12345),
		int64(999_999_999_999_999_999), int64(-999_999_999_999_999_999)},
	types.Double: {0.0, math.Copysign(0, -1), 0.5, -0.5, 1.5, 2.5, 1.45, 0.285, -1.45, 1e15, 1e16, 123456789.987, 9.3e18, -9.3e18, 1e300,
		5e-324, 0.1, math.Inf(1), math.Inf(-1), math.NaN()},
	types.Text: {"", " ", "a", "A", "ß", "ǆ", "İ", "ΑΣ", "日本", "e\u0301", "👩‍👩‍👧", "🇩🇪🇫🇷", "👍🏽x",
		"12", " 12 ", " 1", "true ", " f ", "0b11", "5e-1", "-4e-1", "25E-1", "-15e-1", "9007199254740993e0", "9223372036854775807e+0",
		"92233720368547758075e-1", "-092233720368547758085e-1", "28e-2", "1e-400", "-0.4", "-0.6", "-1e-9", "12345678901.67819999999999999999",
		"1E-3", "+7", "-7", "1_000", "0x1F", "12.", ".5", "1.45", "-1.5", "2.5", "1e3", "1E-1", "1e400", "nan", "-inf", "Infinity", "true",
		"TRUE", " t", "yes", "no", "y", "on", "2024-02-29", "2023-02-29",
		"2024-2-9", "2024/02/29", "24-02-29", "1111-11-11 (bc)", "1111-11-11 (BC)", "1111-11-11 BC", "0000-01-01", "10000-01-01", "99999-12-31",
		"-0044-03-15", "2024-02-29 12:00:00", "2024-02-29T12:00:00Z", "2024-02-29 12:00:00+02", "2024-02-29 12:00", "2024-02-29 25:00:00",
		"2024-02-29 12:00:00.1234567", "2024-02-29 24:00:00", "infinity", "epoch",
		"12:00:00", "12:00", "1:2:3", "12:00:00.5", "23:59:60", "24:00:00", "25:99", "12:00:00+02", " 12:00:00 ", "12", "1 day",
		"2 months 3 days", "1 year 02:03:04", "-1 day", "{}", `{"": 1, "a": {"b": [1, "x", null]}}`, "[1, 2]", "null", `"s"`, "%Y-%m-%d",
		"%d/%m/%Y %H:%M", "%Q", "a,b,,c", ",", "(a)|b", "a%", "_", "$", "$.a", "$.a.b[1]", "/a", "a"},
	types.Date: {int64(0), int64(-1), int64(19782), int64(11016), int64(-719528), int64(-719529), int64(-141428), int64(2932896),
		int64(2932897)},
	types.Timestamp: {int64(0), int64(-1), int64(1709164800000000), int64(1709208000123456), int64(1709208000500000),
		int64(-62135596800000001), int64(253402300800000000)},
	types.Interval: {plan.Interval{}, plan.Interval{Months: 1}, plan.Interval{Months: -13, Days: 5},
		plan.Interval{Days: 31, Micros: 3_600_000_001}, plan.Interval{Micros: -1}},
	types.TextList: {eval.List{Items: []string{}}, eval.List{Items: []string{""}},
		eval.List{Items: []string{"a", "", "b"}, Nulls: []bool{false, true, false}}, eval.List{Items: []string{""}, Nulls: []bool{true}}},
}

// oddTypes are the types of the columns of oddTable.
var oddTypes = []types.Type{types.Of(types.Bool), types.Of(types.BigInt), types.DecimalOf(18, 2), types.Of(types.Double),
	types.Of(types.Text), types.Of(types.Date), types.Of(types.Timestamp), types.Of(types.Interval), types.Of(types.TextList)}

// oddWorld is a table v with three columns of each type, called like the type with 1 to 3. The first n rows of the first columns have each
// value in turn, the other cells have random ones, and one in ten is NULL.
func oddWorld(r *rand.Rand, n int) *World {
	t, rows := plan.Table{Name: "v"}, &operators.Batch{N: n}
	for _, typ := range oddTypes {
		for c := 1; c <= 3; c++ {
			t.Fields = append(t.Fields, plan.Field{Name: oddColumn(typ.Kind, c), Type: typ})
			v, values := eval.NewVector(typ.Kind, n), oddValues[typ.Kind]
			for i := range n {
				x := values[r.IntN(len(values))]
				if typ.Kind == types.BigInt && c > 1 {
					x = int64(r.IntN(12) - 4) // a length, a place or a number of digits: repeat with more takes all memory
				}
				if c == 1 && i < len(values) {
					x = values[i]
				} else if r.IntN(10) == 0 {
					v.Nulls[i/64] |= 1 << (i % 64)
					v.Any = true
				}
				switch x := x.(type) {
				case bool:
					v.Bools[i] = x
				case int64:
					v.Ints[i] = x
				case float64:
					v.Floats[i] = x
				case string:
					v.Texts[i] = x
				case plan.Interval:
					v.Intervals[i] = x
				case eval.List:
					v.Lists[i] = x
				}
			}
			rows.Columns = append(rows.Columns, v)
		}
	}
	file, line := eval.NewVector(types.Text, n), eval.NewVector(types.BigInt, n)
	for i := range n {
		line.Ints[i] = int64(i)
	}
	rows.Columns = append(rows.Columns, file, line)
	return &World{Tables: []plan.Table{t}, Source: &operators.Tables{Rows: map[string]*operators.Batch{"v": rows}}}
}

func oddColumn(k types.Kind, n int) string {
	return fmt.Sprintf("%s%d", strings.ToLower(strings.ReplaceAll(k.String(), "[]", "s")), n)
}

// cells computes an expression for each row of the table v. A value that cannot be computed is the text "error".
func (w *World) cells(expr string) ([]string, types.Type, error) {
	text := "SELECT " + expr + " FROM v"
	script, err := syntax.Parse(text)
	if err != nil {
		return nil, types.Type{}, err
	}
	p, err := bind.Bind(text, script, w.Tables, nil)
	if err != nil {
		return nil, types.Type{}, err
	}
	project := p.Statements[0].Plan.(*plan.Project)
	e := project.Exprs[0]
	program, err := eval.Compile(e, plan.LayoutOf(project.Input.Fields()))
	if err != nil {
		return nil, e.Type(), err
	}
	rows := w.Source.Rows["v"]
	out := make([]string, rows.N)
	for i := range int32(rows.N) {
		v, err := program.Run(rows.Columns, rows.N, []int32{i})
		if err != nil {
			out[i] = "error"
			continue
		}
		out[i] = our(v, i, e.Type())
	}
	return out, e.Type(), nil
}

// cells is World.cells of DuckDB. Its TRY makes NULL of an error, so each NULL is asked for once more, alone.
func (o *Oracle) cells(expr string, t types.Type) ([]string, error) {
	if t.Kind == types.Text {
		expr = "(" + expr + ")::VARCHAR"
	}
	rows, err := o.Query("SELECT TRY(" + expr + ") FROM v ORDER BY _line")
	if err != nil {
		return nil, err
	}
	out := make([]string, len(rows))
	for i, row := range rows {
		if out[i] = their(row[0], t); out[i] == "NULL" {
			if _, err := o.Query(fmt.Sprintf("SELECT %s FROM v WHERE _line = %d", expr, i)); err != nil {
				out[i] = "error"
			}
		}
	}
	return out, nil
}

// differ compares an expression of columns in both, row by row, and reports each pair of values that differ. It returns how many were
// compared.
func differ(t *testing.T, w *World, o *Oracle, expr string, columns ...string) int {
	t.Helper()
	got, typ, err := w.cells(expr)
	if err != nil {
		return 0 // refused, or not computed
	}
	want, err := o.cells(expr, typ)
	if err != nil {
		return 0 // DuckDB has other types: an INTEGER where Posta has a BIGINT, or a constant
	}
	args := make([][]string, len(columns))
	for k, c := range columns {
		if args[k], _, err = w.cells(c); err != nil {
			t.Fatal(err)
		}
	}
	said := map[string]bool{}
	for i := range got {
		if got[i] == want[i] || typ.Kind == types.Double && close(got[i], want[i]) {
			continue
		}
		given := []string{}
		for k := range args {
			given = append(given, args[k][i])
		}
		line := fmt.Sprintf("%s of %s: %s; DuckDB: %s", expr, strings.Join(given, ", "), got[i], want[i])
		if !said[line] && !deliberately(line) {
			said[line] = true
			t.Error(line)
		}
	}
	return len(got)
}

// deliberate are the differences that are meant: an expression for the lines that differ reports, and the beginning of the line about it in
// the table of docs/sql-reference.md.
var deliberate = []struct{ line, documented string }{
	{`CAST\(text1 AS .*(1_000|0x1F|0b11|1e400)".*: error;`, "a number as TEXT"},
	{`CAST\(text1 AS (DATE|TIMESTAMP|TIME)\) of ".*(inf|Infinity|epoch|bc|BC|10000-|99999-|-0044-).*: error;`, "a date as TEXT"},
	{`CAST\(text1 AS TIME\) of ".*24:00:00": error;`, "`'24:00:00'::TIME`"},
	{`CAST\(text1 AS TIMESTAMP\) of ".*\+02"`, "an offset"},
	{`CAST\(text1 AS INTERVAL\) of "[-0-9:. +]*": error;`, "an INTERVAL as TEXT"},
	{`(split|string_to_array)\(text1, text2\) of .*, NULL: NULL; DuckDB: \[`, "`string_split(x, NULL)`"},
	{`array_to_string\(texts1, NULL::VARCHAR\) of .*: NULL; DuckDB: "`, "`string_split(x, NULL)`"},
	{`array_to_string\(.*: ""; DuckDB: NULL`, "`array_to_string([NULL], ',')`"},
	{`CAST\(text1 AS BOOLEAN\) of "(true | f | 1| [^"]*|[^"]* )": (true|false); DuckDB: error`, "blanks around"},
	{`CAST\((text1 AS DECIMAL\(4,4\)\) of ".*[eE]-?\d+": .*; DuckDB: error|boolean1 AS DECIMAL\(4,4\)\) of true)`, "a DECIMAL without"},
	{`json_extract(_string)?\(.* of "-?\d[\d.]*([eE][-+]?\d+)?"`, "numbers in JSON"},
	{`json_.* of "(nan|-inf|infinity|Infinity)"`, "`nan` and `inf` as JSON"},
	{`json_.*, "/a": error;`, "a path of JSON such as `/a/b`"},
	{`json_.*, "\$.*": error; DuckDB: NULL`, "a path of JSON that is none"},
	{`regexp_extract\(.*: error; DuckDB: ""`, "a group that a pattern lacks"},
	{`round\(bigint1, -1\) of -?92233720368547758`, "`round` of the greatest numbers"},
	{`mod\(bigint1, decimal\d\) of -?92233720368547758`, "a BIGINT of more than 16 digits"},
	{`printf\('\[%08[eEfFgG]\]', double2\) of .*, [-+](Inf|NaN)|printf\('\[%08[eEfFgG]\]', double2\) of .*(Inf|NaN): `,
		"`printf('%08f', 'inf'::DOUBLE)`"},
	{`printf\('\[%[-+# .0-9]*[fF]\]', double2\) of .*p\+996`, "`printf('%f', 1e300)`"},
	{`date_?diff\('quarter', .*-7195`, "quarters before Christ"},
}

func deliberately(line string) bool {
	return slices.ContainsFunc(deliberate, func(d struct{ line, documented string }) bool {
		return regexp.MustCompile(d.line).MatchString(line)
	})
}

// TestQ5_EveryCast: every type is cast to every other one, over odd values, as DuckDB does.
func TestQ5_EveryCast(t *testing.T) {
	o := newOracle(t)
	w := oddWorld(rand.New(rand.NewPCG(*seed, 28)), len(oddValues[types.Text]))
	if err := o.Load(w); err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, to := range strings.Split("BOOLEAN BIGINT INTEGER SMALLINT TINYINT UTINYINT USMALLINT UINTEGER DECIMAL(18,0) DECIMAL(18,3) "+
		"DECIMAL(3,1) DECIMAL(4,4) DOUBLE VARCHAR DATE TIMESTAMP TIME INTERVAL", " ") {
		for _, from := range oddTypes {
			c := oddColumn(from.Kind, 1)
			compared += differ(t, w, o, "CAST("+c+" AS "+to+")", c)
		}
	}
	t.Logf("%d values were compared", compared)
}

// TestQ5_EveryFunction: every function of values is called with odd values, and answers as DuckDB does.
func TestQ5_EveryFunction(t *testing.T) {
	o := newOracle(t)
	r := rand.New(rand.NewPCG(*seed, 29))
	w := oddWorld(r, len(oddValues[types.Text])+*calls)
	if err := o.Load(w); err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, f := range functions.All() {
		if f.Class != types.Scalar || f.Session || f.Group == "Posta's own" {
			continue
		}
		for _, name := range append([]string{f.Name}, f.Aliases...) {
			for _, form := range f.Forms {
				for _, columns := range argumentsOf(form) {
					for _, args := range writtenDown(f.Name, columns) {
						n := differ(t, w, o, name+"("+strings.Join(args, ", ")+")", columns...)
						if compared += n; n == 0 {
							t.Logf("not compared: %s(%s)", name, strings.Join(args, ", "))
						}
					}
				}
			}
		}
	}
	t.Logf("%d values were compared", compared)
}

// The table of the reference has a line about each difference that is meant.
func TestDifferencesAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../../../docs/sql-reference.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range deliberate {
		if !strings.Contains(string(page), "\n| "+d.documented) {
			t.Errorf("docs/sql-reference.md has no line about %s", d.documented)
		}
	}
}

// writtenDown returns the arguments of a function, with constants where one of the two demands them.
func writtenDown(function string, columns []string) (list [][]string) {
	at, values := -1, []string{}
	switch {
	case function == "date_part" || function == "date_trunc" || function == "date_diff":
		at, values = 0, []string{"'year'", "'quarter'", "'month'", "'week'", "'day'", "'hour'", "'minute'", "'second'", "'millisecond'",
			"'microsecond'", "'decade'", "'century'", "'millennium'", "'doy'", "'dow'", "'isodow'", "'isoyear'", "'epoch'"}
	case function == "regexp_matches" && len(columns) == 3:
		at, values = 2, []string{"'i'", "'s'"}
	case function == "regexp_replace" && len(columns) == 4:
		at, values = 3, []string{"'g'", "'gi'"}
	case function == "regexp_extract" && len(columns) == 3:
		at, values = 2, []string{"0", "1", "2"}
	case function == "printf" && len(columns) == 2: // with what DuckDB takes for each type
		at = 0
		verbs := map[string]string{"bigint2": "d i u x X o", "double2": "e E f F g G", "decimal2": "e f g"}[columns[1]]
		for verb := range strings.SplitSeq(cmp.Or(verbs, "s"), " ") {
			for _, flags := range []string{"", "+", "-6", "08", "#", " ", ".3"} {
				if flags == "#" && strings.Contains("gG", verb) {
					continue // of C it keeps zeros; DuckDB keeps them with an exponent alone
				}
				values = append(values, "'[%"+flags+verb+"]'")
			}
		}
	case function == "format" && columns[len(columns)-1] == "bigint2":
		at = 0
		for how := range strings.SplitSeq("d x X o b +d >8 <8 ^8 08d #x #o ,", " ") {
			values = append(values, "'[{:"+how+"}]'")
		}
	case strings.HasPrefix(function, "json_") && len(columns) == 2:
		at, values = 1, []string{columns[1], "''", "'$'", "'a'", "'$.\"\"'", "'$[0]'", "'$[#-1]'", "'$.a.b[1]'"}
	case function == "array_to_string":
		at, values = 1, []string{"'-'", "''", "NULL::VARCHAR"}
	case function == "round" && len(columns) == 2:
		at, values = 1, []string{"0", "1", "-1", "2"}
	}
	args := slices.Clone(columns)
	for i, c := range args {
		if strings.HasPrefix(c, "bigint") && i > 0 {
			args[i] += "::INTEGER" // as some functions of DuckDB demand
		}
	}
	if at < 0 {
		return [][]string{args}
	}
	for _, v := range values {
		list = append(list, slices.Replace(slices.Clone(args), at, at+1, v))
	}
	return list
}

// argumentsOf returns columns for each combination of types that a form takes, with and without the optional arguments.
func argumentsOf(form string) (list [][]string) {
	takes, _, _ := strings.Cut(form, "->")
	list = [][]string{nil}
	for i, p := range strings.Split(takes, ",") {
		p = strings.TrimSpace(p)
		if p == "" {
			return list
		}
		kinds := map[string][]types.Kind{"N": {types.BigInt, types.Decimal, types.Double}, "D": {types.Date, types.Timestamp},
			"T":   {types.BigInt, types.Decimal, types.Double, types.Text, types.Timestamp},
			"ANY": {types.BigInt, types.Decimal, types.Double, types.Text, types.Date, types.Timestamp}}[strings.TrimRight(p, "?.")]
		for _, typ := range oddTypes {
			if typ.Kind.String() == strings.TrimRight(p, "?.") {
				kinds = []types.Kind{typ.Kind}
			}
		}
		var longer [][]string
		for _, columns := range list {
			for _, k := range kinds {
				if len(columns) == i && (p[:1] != "T" || strings.HasPrefix(p, "TEXT") || i == 0 || strings.HasPrefix(columns[0], oddColumn(k, 1)[:3])) {
					longer = append(longer, append(append([]string{}, columns...), oddColumn(k, min(i+1, 3))))
				}
			}
		}
		if strings.HasSuffix(p, "?") {
			longer = append(list, longer...)
		}
		list = longer
	}
	return list
}
