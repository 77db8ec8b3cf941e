package split

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"posta.dev/posta/analyses/local"
	"posta.dev/posta/analyses/sql/bind"
	"posta.dev/posta/analyses/sql/catalog"
	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/exec/operators"
	"posta.dev/posta/analyses/sql/functions"
	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/syntax"
	"posta.dev/posta/analyses/sql/types"
)

// hostileValues are values of each type with which a careless kernel fails: extremes, nothing, bytes that are no UTF-8, and texts that are
// nearly something. A statement cannot write all of them, but a file or another function can give them.
var hostileValues = map[types.Kind][]any{
	types.Bool: {true, false},
	types.BigInt: {int64(0), int64(1), int64(-1), int64(2), int64(3), int64(65), int64(1 << 31), int64(math.MaxInt64),
		int64(math.MinInt64), int64(math.MinInt64 + 1)},
	types.Decimal: {int64(0), int64(1), int64(-1), int64(250), int64(999_999_999_999_999_999), int64(-999_999_999_999_999_999)},
	types.Double:  {0.0, math.Copysign(0, -1), 0.5, -1.0, 3.0, 9.3e18, 1e308, 5e-324, math.Inf(1), math.Inf(-1), math.NaN()},
	types.Text: {"", "a", "ß", "\xff", "a\xc3", "e\u0301", "\u0301", "12", "-7.5", "1e400", "nan", "true", "2024-02-29", "23:59:60",
		"9999-12-31 25:00", "290000-01-01 (bc)", "month", "{}", `["a", {"b": [1`, `{"a": null, "b": [[1], "x"]}`, "$", "$.b[*]", "$.b[-1]",
		"$.b[99999999999999999999]", "%", "!", "(", "[a-", "(a)|(b)", "%Y-%m-%d", "%", "%-", "%5", "{}", "{:>", "{0}", "g",
		"['a', None, {'b': 'c'}]", "P1DT2H", strings.Repeat("ü{", 500)},
	types.Date: {int64(0), int64(-1), int64(19782), int64(math.MaxInt32), int64(math.MinInt32), int64(math.MaxInt64),
		int64(math.MinInt64)},
	types.Timestamp: {int64(0), int64(-1), int64(1709164800000000), int64(math.MaxInt64), int64(math.MinInt64)},
	types.Interval: {plan.Interval{}, plan.Interval{Months: 1}, plan.Interval{Days: 1, Micros: -1},
		plan.Interval{Months: math.MaxInt32, Days: math.MaxInt32, Micros: math.MaxInt64},
		plan.Interval{Months: math.MinInt32, Days: math.MinInt32, Micros: math.MinInt64}},
	types.TextList: {eval.List{}, eval.List{Items: []string{""}}, eval.List{Items: []string{"a", ""}, Nulls: []bool{false, true}},
		eval.List{Items: make([]string, 300)}},
}

// hostileTable has two columns of each type: those of TEXT are called text1 and text2.
var hostileTable = func() (t plan.Table) {
	t.Name = "t"
	for k := types.Bool; k <= types.TextList; k++ {
		typ := types.Of(k)
		if k == types.Decimal {
			typ = types.DecimalOf(18, 2)
		}
		for n := 1; n <= 2; n++ {
			t.Fields = append(t.Fields, plan.Field{Name: fmt.Sprintf("%s%d", hostileName(k), n), Type: typ})
		}
	}
	return t
}()

func hostileName(k types.Kind) string {
	return strings.ToLower(strings.ReplaceAll(k.String(), "[]", "s"))
}

// hostileConstants are constants of each type as a statement writes them.
var hostileConstants = map[types.Kind][]string{
	types.Null: {"NULL"}, types.Bool: {"TRUE"}, types.BigInt: {"0", "1", "-1", "9223372036854775807", "-9223372036854775808"},
	types.Decimal: {"0.5", "-1.00", "99999999999999999.9"},
	types.Double:  {"0e0", "0.5e0", "-1e308", "'nan'::DOUBLE"}, types.Text: {"''", "'a'", "'month'", "'$.a[*]'", "'['", "'%Y'", "'12'",
		"chr(228)", "'2024-02-29'"}, types.Date: {"DATE '2024-02-29'"}, types.Timestamp: {"TIMESTAMP '0001-01-01 00:00:01'"},
	types.Interval: {"INTERVAL 1 MONTH", "INTERVAL 0 DAY"}, types.TextList: {"['a', NULL]", "[]"},
}

// hostileRows makes n rows with random values; about every sixth is NULL. Texts have a dictionary if coded is set, as those that a parser
// has read.
func hostileRows(r *rand.Rand, n int, coded bool) *operators.Batch {
	rows := &operators.Batch{N: n}
	for _, f := range append(hostileTable.Fields, plan.Field{Type: types.Of(types.Text)}, plan.Field{Type: types.Of(types.BigInt)}) {
		values := hostileValues[f.Type.Kind]
		v := eval.NewVector(f.Type.Kind, n)
		if coded && f.Type.Kind == types.Text {
			v.Dict = &eval.Dict{Rows: n, Batch: 1}
			for _, i := range r.Perm(len(values))[:n/2] { // a dictionary is used if half of the rows at most are distinct
				v.Dict.Texts = append(v.Dict.Texts, values[i].(string))
			}
			v.Codes, v.Entries = make([]uint32, n), n/2
		}
		for i := range n {
			if v.Dict != nil {
				v.Codes[i] = uint32(r.IntN(n / 2))
			}
			if f.Name != "" && r.IntN(6) == 0 {
				v.Nulls[i/64] |= 1 << (i % 64)
				v.Any = true
			}
			switch x := values[r.IntN(len(values))].(type) {
			case bool:
				v.Bools[i] = x
			case int64:
				v.Ints[i] = x
			case float64:
				v.Floats[i] = x
			case string:
				v.Texts[i] = x
				if v.Dict != nil {
					v.Texts[i] = v.Dict.Texts[v.Codes[i]]
				}
			case plan.Interval:
				v.Intervals[i] = x
			case eval.List:
				v.Lists[i] = x
			}
		}
		rows.Columns = append(rows.Columns, v)
	}
	return rows
}

// hostileScalars are all operators and functions of values, with ? where an operand stands.
func hostileScalars() []string {
	list := []string{"- ?", "NOT ?", "? IS NULL", "? BETWEEN ? AND ?", "? IN (?, ?)", "? NOT IN (SELECT ?)", "? LIKE ?", "? ILIKE ?",
		"? LIKE ? ESCAPE '!'", "? LIKE ? ESCAPE '%'", "CASE WHEN ? THEN ? END",
		"CASE ? WHEN ? THEN ? ELSE ? END", "(?)[?]", "[?, ?]", "INTERVAL (?) MONTH", "(SELECT ?)", "EXISTS (SELECT ? WHERE ?)"}
	for _, op := range strings.Fields("+ - * / // % = <> < >= || ~ !~ -> ->> AND OR") {
		list = append(list, "? "+op+" ?")
	}
	list = append(list, "? IS DISTINCT FROM ?", "? IS NOT DISTINCT FROM ?")
	for _, to := range []string{"BOOLEAN", "BIGINT", "TINYINT", "USMALLINT", "DECIMAL(18,0)", "DECIMAL(4,3)", "DOUBLE", "TEXT", "TEXT[]",
		"DATE", "TIME", "TIMESTAMP", "INTERVAL"} {
		list = append(list, "(?)::"+to, "TRY_CAST(? AS "+to+")")
	}
	units := map[string]bool{}
	for _, name := range types.Parts {
		units[name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(units)) {
		list = append(list, "date_part('"+name+"', ?)", "date_trunc('"+name+"', ?)", "date_diff('"+name+"', ?, ?)")
	}
	return append(list, hostileCalls(types.Scalar)...)
}

// hostileCalls are calls of all functions of a class, with each number of arguments.
func hostileCalls(class types.Class) (list []string) {
	for _, f := range functions.All() {
		// hostileScalars has these, with each unit
		if f.Class != class || f.Session || f.Name == "date_part" || f.Name == "date_trunc" || f.Name == "date_diff" {
			continue
		}
		seen := map[int]bool{}
		for _, form := range f.Forms {
			args, _, _ := strings.Cut(form, "->")
			most := len(strings.Split(args, ","))
			if strings.TrimSpace(args) == "" {
				most = 0
			}
			from := most - strings.Count(args, "?")
			if strings.Contains(args, "...") {
				most++
			}
			for n := from; n <= most; n++ {
				if !seen[n] {
					seen[n] = true
					list = append(list, f.Name+"("+strings.TrimSuffix(strings.Repeat("?, ", n), ", ")+")")
				}
			}
		}
	}
	return list
}

// hostileOperand returns what may stand in place of ?: a column or a constant of a type.
func hostileOperand(r *rand.Rand, k types.Kind) string {
	if list := hostileConstants[k]; k == types.Null || r.IntN(2) == 0 {
		return list[r.IntN(len(list))]
	}
	return fmt.Sprintf("%s%d", hostileName(k), 1+r.IntN(2))
}

var hostileRounds = flag.Int("hostile", 1, "how often each combination of types is tried, with other operands")

// fillings calls yield with the template's holes filled: one or two holes with operands of all combinations of types. More holes get random
// operands of two types and NULL, because most combinations of three types are refused.
func fillings(r *rand.Rand, template string, yield func(text string)) {
	const kinds = int(types.TextList) + 1
	parts := strings.Split(template, "?")
	all := []int{1, kinds, kinds * kinds}
	for i := range *hostileRounds * append(all, 100, 100, 100)[len(parts)-1] {
		text, some := parts[0], []int{0, r.IntN(kinds), r.IntN(kinds)}
		for _, part := range parts[1:] {
			k := i % kinds
			if i /= kinds; len(parts) > len(all) {
				k = some[r.IntN(len(some))]
			}
			text += hostileOperand(r, types.Kind(k)) + part
		}
		yield(text)
	}
}

// hostilePlan binds a statement over the table, nil if binding refuses it.
func hostilePlan(t *testing.T, text string) plan.Node {
	t.Helper()
	script, err := syntax.Parse(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	p, err := bind.Bind(text, script, []plan.Table{hostileTable}, nil)
	if err != nil {
		if e := (*syntax.Error)(nil); !errors.As(err, &e) || e.Message == "" {
			t.Errorf("%s: is refused without words: %v", text, err)
		}
		return nil
	}
	return p.Statements[0].Plan
}

// survives runs f and reports a panic as a failure of the test. It returns false if there was one.
func survives(t *testing.T, text string, f func()) (ok bool) {
	defer func() {
		if p := recover(); p != nil {
			ok = false
			t.Errorf("%s: panic: %v\n%s", text, p, stackOf(string(debug.Stack())))
		}
	}()
	f()
	return true
}

// stackOf returns the lines of a stack that say where it panicked.
func stackOf(stack string) string {
	_, stack, _ = strings.Cut(stack, "\npanic(")
	lines := strings.Split(stack, "\n")
	return strings.Join(lines[min(2, len(lines)):min(6, len(lines))], "\n")
}

// TestN7_NoExpressionPanics: every operator and every function is computed for all types of operands that binding accepts, as columns and
// as constants, over hostile values: alone and as a part of a plan, with and without dictionaries, for all rows, for each row, and for
// none.
func TestN7_NoExpressionPanics(t *testing.T) {
	r := rand.New(rand.NewPCG(28, 1))
	plain, coded := hostileRows(r, 24, false), hostileRows(r, 24, true)
	computed := map[string]int{}
	for _, template := range hostileScalars() {
		fillings(r, template, func(expr string) {
			text := "SELECT " + expr + " FROM t"
			root := hostilePlan(t, text)
			if root == nil {
				return
			}
			survives(t, text, func() {
				_, _ = operators.New(&operators.Tables{Rows: map[string]*operators.Batch{"t": coded}}, 1<<26, root).Run(root)
				project := root.(*plan.Project)
				if _, direct := project.Input.(*plan.Scan); !direct {
					return
				}
				p, err := eval.Compile(project.Exprs[0], plan.LayoutOf(project.Input.Fields()))
				if err != nil {
					return
				}
				computed[template]++
				for _, rows := range []*operators.Batch{plain, coded} {
					v, err := p.Run(rows.Columns, rows.N, nil)
					for i := range int32(rows.N) {
						if err != nil {
							v, _ = p.Run(rows.Columns, rows.N, []int32{i})
						}
						if v != nil && !v.IsNull(i) {
							_ = eval.AppendText(nil, v, i, project.Exprs[0].Type())
						}
					}
				}
				_, _ = p.Run(plain.Columns, 0, nil)
			})
		})
		if computed[template] == 0 && !strings.Contains(template, "SELECT") {
			t.Errorf("%s: binding accepts no operands that are computed", template)
		}
	}
	n := 0
	for _, c := range computed {
		n += c
	}
	t.Logf("%d expressions were computed", n)
}

// TestN7_NoAggregatePanics: as TestN7_NoExpressionPanics, for aggregates and window functions: by the tail from all rows, and by joiners
// that fold.
func TestN7_NoAggregatePanics(t *testing.T) {
	r := rand.New(rand.NewPCG(28, 2))
	rows := hostileRows(r, 24, true)
	empty := hostileRows(r, 0, false)
	templates := []string{}
	for _, call := range hostileCalls(types.Aggregate) {
		templates = append(templates, call, call+" FILTER (WHERE boolean2)", call+" OVER (PARTITION BY boolean1 ORDER BY ? ROWS 1 PRECEDING)")
		if open := strings.TrimSuffix(call, ")"); !strings.HasSuffix(open, "(") {
			templates = append(templates, strings.Replace(call, "(", "(DISTINCT ", 1), open+" ORDER BY ?)")
		}
	}
	for _, call := range hostileCalls(types.Window) {
		templates = append(templates, call+" OVER (ORDER BY ?)", call+" IGNORE NULLS OVER (PARTITION BY boolean1)")
	}
	for _, bound := range []string{"? PRECEDING", "UNBOUNDED PRECEDING", "? FOLLOWING"} {
		templates = append(templates, "sum(bigint1) OVER (ORDER BY ? RANGE BETWEEN "+bound+" AND ? FOLLOWING)",
			"count(*) OVER (ORDER BY ? ROWS BETWEEN "+bound+" AND ? FOLLOWING)")
	}
	var folded []string
	computed := 0
	for _, template := range templates {
		fillings(r, template, func(call string) {
			text := "SELECT " + call + " FROM t"
			root := hostilePlan(t, text)
			if root == nil {
				return
			}
			computed++
			survives(t, text, func() {
				for _, of := range []*operators.Batch{rows, empty} {
					_, _ = operators.New(&operators.Tables{Rows: map[string]*operators.Batch{"t": of}, Batch: 10}, 1<<26, root).Run(root)
				}
			})
			// no file has such columns
			if !strings.Contains(call, "OVER") && !strings.Contains(call, "interval") && !strings.Contains(call, "texts") {
				folded = append(folded, call)
			}
		})
	}
	t.Logf("%d calls were computed, %d of them folded", computed, len(folded))
	if computed < 1000 || len(folded) < 300 {
		t.Error("binding refuses nearly all calls")
	}
	table, files := hostileFile(rows)
	r.Shuffle(len(folded), func(i, k int) { folded[i], folded[k] = folded[k], folded[i] })
	for calls := range slices.Chunk(folded[:len(folded)/2], 20) {
		text := "SELECT text1, " + strings.Join(calls, ", ") + " FROM t GROUP BY text1"
		survives(t, text, func() {
			if a, err := Analysis(&Plan{Text: text, Tables: []catalog.Table{table}}); err == nil {
				_, _ = local.Run(a, files, local.Options{Joiners: 2, Aggregators: 2, ChunkBytes: 2000})
			}
		})
	}
}

// hostileFile writes rows as a file. A value that a field cannot hold rejects its row, so the file has two lines for each row: one has
// empty fields in place of dates, times and texts.
func hostileFile(rows *operators.Batch) (catalog.Table, fstest.MapFS) {
	table, b := catalog.Table{Name: "t", Files: "t.csv"}, strings.Builder{}
	var at []int
	for i, f := range hostileTable.Fields {
		if f.Type.Kind < types.Interval {
			b.WriteString(strings.Repeat(",", min(len(at), 1)) + f.Name)
			at = append(at, i)
			table.Columns = append(table.Columns, catalog.Column{Name: f.Name, Type: f.Type})
		}
	}
	for line := range 2 * rows.N {
		for k, i := range at {
			b.WriteString(",\n"[1-min(k, 1) : 2-min(k, 1)])
			if v, f := rows.Columns[i], hostileTable.Fields[i].Type; line%2 == 0 || f.Kind < types.Text {
				if i := int32(line / 2); !v.IsNull(i) {
					b.WriteString(`"` + strings.ReplaceAll(string(eval.AppendText(nil, v, i, f)), `"`, `""`) + `"`)
				}
			}
		}
	}
	b.WriteByte('\n')
	return table, fstest.MapFS{"t.csv": {Data: []byte(b.String())}}
}
