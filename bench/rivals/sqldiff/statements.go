package sqldiff

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/types"
)

// Statement is a random statement. Ordered says that the order of its rows is determined; Near, which of its columns may be rounded
// differently; Correlated, that it has a correlated query.
type Statement struct {
	Text       string
	Ordered    bool
	Correlated bool
	Near       []bool
}

// generator writes statements over the tables of a world.
type generator struct {
	*rand.Rand
	w       *World
	columns []plan.Field // columns that expressions may use, with the names of their tables
	lines   []string     // the _line of each table in FROM
	around  []plan.Field // columns of the query around this one
	inFrom  bool
	depth   int // nesting depth of queries
	looked  bool
}

// NewStatement writes a statement.
func NewStatement(r *rand.Rand, w *World) Statement {
	g := &generator{Rand: r, w: w}
	s := g.statement()
	s.Correlated = g.looked
	return s
}

func (g *generator) pick(list ...string) string { return list[g.IntN(len(list))] }

func (g *generator) statement() Statement {
	items, near := []string(nil), []bool(nil)
	var text string
	switch g.IntN(13) {
	case 0, 1:
		text, items, near = g.plain()
	case 8, 9:
		text, items, near = g.nested()
	case 10:
		text, items, near = g.distinctOn()
		return Statement{Text: text, Near: near, Ordered: true}
	case 11:
		text, items, near = g.windowed()
	case 12:
		if g.IntN(2) == 0 {
			return g.firstRows()
		}
		text, items, near = g.plain()
	case 2, 3, 4:
		text, items, near = g.grouped()
	case 5:
		text, near = g.sets()
		items = near2items(near)
	default:
		text, items, near = g.windows()
	}
	s := Statement{Text: text, Near: near}
	approximate := false
	for _, n := range near {
		approximate = approximate || n
	}
	if !approximate && g.IntN(2) == 0 {
		s.Ordered = true
		var by []string
		for i := range items {
			by = append(by, fmt.Sprint(i+1)+g.pick("", " DESC", " ASC")+g.pick("", "", " NULLS FIRST", " NULLS LAST"))
		}
		s.Text += " ORDER BY " + strings.Join(by, ", ")
		if g.IntN(2) == 0 {
			s.Text += fmt.Sprintf(" LIMIT %d", g.IntN(10))
		}
		if g.IntN(3) == 0 {
			s.Text += fmt.Sprintf(" OFFSET %d", g.IntN(5))
		}
	}
	return s
}

func near2items(near []bool) []string { return make([]string, len(near)) }

// from writes FROM, and sets the columns that it gives.
func (g *generator) from() string {
	g.columns, g.lines = nil, nil
	defer func(in bool) { g.inFrom = in }(g.inFrom)
	g.inFrom = true
	a, b := "a", "b"
	if g.depth > 0 {
		a, b = fmt.Sprint("a", g.depth), fmt.Sprint("b", g.depth)
	}
	use := func(t *plan.Table, alias string) {
		for _, f := range t.Fields {
			g.columns = append(g.columns, plan.Field{Name: alias + "." + f.Name, Type: f.Type})
		}
		g.lines = append(g.lines, alias+"._line")
	}
	first := &g.w.Tables[g.IntN(3)]
	if g.IntN(5) > 1 || g.depth > 1 {
		use(first, a)
		return " FROM " + first.Name + " AS " + a
	}
	second := &g.w.Tables[g.IntN(3)]
	kind := g.pick("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "SEMI JOIN", "ANTI JOIN", "CROSS JOIN")
	use(first, a)
	text := " FROM " + first.Name + " AS " + a + " " + kind + " " + second.Name + " AS " + b
	left := len(g.columns)
	use(second, b)
	if kind != "CROSS JOIN" {
		var on []string
		for range 1 + g.IntN(2) {
			k := kinds[g.IntN(len(kinds))].typ
			on = append(on, g.columnOf(g.columns[:left], k)+" = "+g.columnOf(g.columns[left:], k))
		}
		// DuckDB supports no FULL JOIN with other conditions than equalities, and RIGHT, SEMI and ANTI with few.
		if g.IntN(3) == 0 && (kind == "JOIN" || kind == "LEFT JOIN") {
			on = append(on, g.condition(1))
		}
		text += " ON " + strings.Join(on, " AND ")
	}
	if kind == "SEMI JOIN" || kind == "ANTI JOIN" {
		g.columns, g.lines = g.columns[:left], g.lines[:1]
	}
	return text
}

func (g *generator) columnOf(columns []plan.Field, t types.Type) string {
	var names []string
	for _, c := range columns {
		if c.Type == t {
			names = append(names, c.Name)
		}
	}
	return g.pick(names...)
}

func (g *generator) where() string {
	if g.IntN(2) == 0 {
		return ""
	}
	return " WHERE " + g.condition(2)
}

// literal writes a value.
func (g *generator) literal(t types.Type) string {
	if g.IntN(12) == 0 {
		return "NULL::" + t.String()
	}
	switch t.Kind {
	case types.Double:
		return g.pick("0e0", "0.25e0", "-1.5e0", "100e0")
	case types.Text:
		return "'" + strings.ReplaceAll(texts[g.IntN(len(texts))], "'", "''") + "'"
	case types.Bool:
		return g.pick("TRUE", "FALSE")
	case types.Date:
		return g.pick("DATE '2024-01-01'", "DATE '2023-12-30'")
	case types.Timestamp:
		return g.pick("TIMESTAMP '2024-01-01 00:00:00'", "TIMESTAMP '2024-01-03 12:30:00.5'")
	case types.Decimal:
		return g.pick("1.25", "0.00", "-3.50") + "::DECIMAL(18, 2)"
	}
	return g.pick("0", "1", "2", "-1", "7", "100")
}

// expr writes an expression of a type.
func (g *generator) expr(t types.Type, depth int) string {
	if depth <= 0 || g.IntN(3) == 0 {
		if g.IntN(6) == 0 {
			return g.literal(t)
		}
		return g.columnOf(g.columns, t)
	}
	d := depth - 1
	if t.Kind == types.Bool {
		return g.condition(d)
	}
	if g.IntN(3) == 0 && t.Kind != types.Decimal {
		switch g.IntN(4) {
		case 0:
			return fmt.Sprintf("CASE WHEN %s THEN %s ELSE %s END", g.condition(d), g.expr(t, d), g.expr(t, d))
		case 1:
			return fmt.Sprintf("CASE WHEN %s THEN %s END", g.condition(d), g.expr(t, d))
		case 2:
			return fmt.Sprintf("coalesce(%s, %s)", g.expr(t, d), g.expr(t, d))
		case 3:
			return fmt.Sprintf("nullif(%s, %s)", g.expr(t, d), g.expr(t, d))
		}
	}
	if g.IntN(3) == 0 {
		if f := g.function(t, d); f != "" {
			return f
		}
	}
	switch t.Kind {
	case types.BigInt:
		switch g.IntN(5) {
		case 0:
			return "length(" + g.expr(types.Of(types.Text), d) + ")"
		case 1:
			return fmt.Sprintf("(%s %s %s)", g.expr(t, d), g.pick("//", "%"), g.pick("2", "3", "7", "0", "-2"))
		default:
			return fmt.Sprintf("(%s %s %s)", g.expr(t, d), g.pick("+", "-"), g.expr(t, 0))
		}
	case types.Double:
		if g.IntN(4) == 0 {
			return fmt.Sprintf("(%s %s %s)", g.expr(t, 0), g.pick("*", "+"), g.pick("2e0", "0.5e0", "-1e0"))
		}
		return fmt.Sprintf("(%s %s %s)", g.expr(t, d), g.pick("+", "-"), g.expr(t, 0))
	}
	return g.columnOf(g.columns, t)
}

// condition writes a condition.
func (g *generator) condition(depth int) string {
	d := depth - 1
	t := kinds[g.IntN(len(kinds))].typ
	if depth > 0 {
		switch g.IntN(9) {
		case 0:
			return fmt.Sprintf("(%s AND %s)", g.condition(d), g.condition(d))
		case 1:
			return fmt.Sprintf("(%s OR %s)", g.condition(d), g.condition(d))
		case 2:
			return fmt.Sprintf("(NOT %s)", g.condition(d))
		case 3:
			if g.depth < 2 && t.Kind != types.Decimal {
				return g.subquery(t)
			}
		}
	}
	switch g.IntN(10) {
	case 7, 8, 9:
		if depth > 0 {
			return g.test(d)
		}
	case 0:
		return fmt.Sprintf("(%s IS %sNULL)", g.expr(t, d), g.pick("", "NOT "))
	case 1:
		return fmt.Sprintf("(%s LIKE %s)", g.expr(types.Of(types.Text), d), g.pick("'a%'", "'%b%'", "'_'", "'%'", "''", "'a_b'"))
	case 2:
		if t.Kind != types.Decimal {
			return fmt.Sprintf("(%s %sIN (%s, %s))", g.expr(t, d), g.pick("", "NOT "), g.literal(t), g.literal(t))
		}
	case 3:
		return g.columnOf(g.columns, types.Of(types.Bool))
	}
	return fmt.Sprintf("(%s %s %s)", g.expr(t, d), g.pick("=", "<>", "<", "<=", ">", ">=", "IS DISTINCT FROM", "IS NOT DISTINCT FROM"),
		g.expr(t, d))
}

// inner writes something inside of another query.
func (g *generator) inner(write func() string) string {
	columns, lines, around := g.columns, g.lines, g.around
	g.around = columns
	if g.inFrom {
		g.around = nil // DuckDB supports few correlated queries in ON
	}
	g.depth++
	defer func() { g.columns, g.lines, g.around, g.depth = columns, lines, around, g.depth-1 }()
	return write()
}

// correlated writes WHERE, half of the time with a comparison with the row around the query.
func (g *generator) correlated() string {
	where := g.where()
	if g.around == nil || g.IntN(2) == 0 {
		return where
	}
	g.looked = true
	for range 1 + g.IntN(2) {
		t := kinds[g.IntN(len(kinds))].typ
		cond := g.columnOf(g.columns, t) + " = " + g.columnOf(g.around, t)
		if where == "" {
			where = " WHERE " + cond
		} else {
			where += " AND " + cond
		}
	}
	return where
}

func (g *generator) subquery(t types.Type) string {
	x := g.expr(t, 1)
	switch g.IntN(4) {
	case 0:
		return fmt.Sprintf("(%s %sIN (%s))", x, g.pick("", "NOT "), g.inner(
			func() string { f := g.from(); return "SELECT " + g.expr(t, 1) + f + g.correlated() }))
	case 1:
		return fmt.Sprintf("(%sEXISTS (%s))", g.pick("", "NOT "), g.inner(
			func() string { f := g.from(); return "SELECT 1" + f + g.correlated() }))
	case 2:
		return fmt.Sprintf("(%s %s)", g.count(), g.pick("> 0", "= 0", "< 3", "IS NULL", "% 2 = 1"))
	}
	return fmt.Sprintf("(%s %s (%s))", x, g.pick("=", "<", ">="), g.scalar(t))
}

// scalar writes a query with one value.
func (g *generator) scalar(t types.Type) string {
	return g.inner(func() string {
		f := g.from()
		text := "SELECT " + g.pick("min", "max") + "(" + g.columnOf(g.columns, t) + ")" + f + g.correlated()
		if g.IntN(4) == 0 {
			text += " HAVING count(*) " + g.pick("> 1", "= 0", "< 5")
		}
		return text
	})
}

// count writes a query that counts: for no rows it gives 0.
func (g *generator) count() string {
	return "(" + g.inner(func() string {
		f := g.from()
		return "SELECT " + g.pick("count(*)", "count(*) + 1", "count("+g.columnOf(g.columns, types.Of(types.Text))+")",
			"coalesce(sum(length("+g.columnOf(g.columns, types.Of(types.Text))+")), -1)") + f + g.correlated()
	}) + ")"
}

// lists sometimes adds the items of a list to FROM, which gives another column, and several rows with the same line.
func (g *generator) lists() string {
	if g.IntN(6) > 0 {
		return ""
	}
	list := g.list()
	g.columns = append(g.columns, plan.Field{Name: "w.item", Type: types.Of(types.Text)})
	g.lines = nil
	return g.pick(", UNNEST("+list+") AS w (item)", " CROSS JOIN UNNEST("+list+") AS w (item)",
		" LEFT JOIN UNNEST("+list+") AS w (item) ON TRUE")
}

// list writes a list of texts.
func (g *generator) list() string {
	return "string_split(" + g.columnOf(g.columns, types.Of(types.Text)) + ", " + g.pick("'a'", "'_'", "'-'", "' '") + ")"
}

func (g *generator) plain() (string, []string, []bool) {
	from := g.from() + g.lists()
	var items []string
	for range 1 + g.IntN(4) {
		t := kinds[g.IntN(len(kinds))].typ
		switch {
		case g.IntN(8) > 0:
			items = append(items, g.expr(t, 2))
		case g.IntN(4) == 0:
			items = append(items, "unnest("+g.list()+")")
		case g.IntN(2) == 0:
			items = append(items, g.count())
		default:
			items = append(items, "("+g.scalar(t)+")")
		}
	}
	text := "SELECT " + g.pick("", "", "DISTINCT ") + strings.Join(items, ", ") + from + g.where()
	return text, items, make([]bool, len(items))
}

// sets writes UNION, EXCEPT and INTERSECT.
func (g *generator) sets() (string, []bool) {
	var typ []types.Type
	for range 1 + g.IntN(3) {
		typ = append(typ, kinds[g.IntN(len(kinds))].typ)
	}
	side := func() string {
		from := g.from()
		var items []string
		for _, t := range typ {
			items = append(items, g.expr(t, 1))
		}
		return "SELECT " + strings.Join(items, ", ") + from + g.where()
	}
	text := side()
	for range 1 + g.IntN(2) {
		text += g.pick(" UNION ", " UNION ALL ", " EXCEPT ", " EXCEPT ALL ", " INTERSECT ", " INTERSECT ALL ") + side()
	}
	return text, make([]bool, len(typ))
}

// rounds reports whether an expression makes DOUBLEs with many binary digits, whose sum DuckDB rounds at every step.
func rounds(x string) bool {
	for _, f := range []string{"round(", "sqrt(", " / ", "epoch(", "AS DOUBLE"} {
		if strings.Contains(x, f) {
			return true
		}
	}
	return false
}

// aggregate writes an aggregate, and reports whether it may be rounded differently.
func (g *generator) aggregate() (string, bool) {
	t := kinds[g.IntN(len(kinds))].typ
	bigint, double, text := types.Of(types.BigInt), types.Of(types.Double), types.Of(types.Text)
	filter := ""
	if g.IntN(4) == 0 {
		filter = " FILTER (WHERE " + g.condition(1) + ")"
	}
	distinct := g.pick("", "", "", "DISTINCT ")
	switch g.IntN(17) {
	case 0:
		return "count(*)" + filter, false
	case 1:
		return "count(" + distinct + g.expr(t, 1) + ")" + filter, false
	case 2, 3:
		x := g.expr([]types.Type{bigint, double, types.DecimalOf(18, 2)}[g.IntN(3)], 1)
		return "sum(" + distinct + x + ")" + filter, rounds(x)
	case 4:
		return "avg(" + distinct + g.expr([]types.Type{bigint, double, types.DecimalOf(18, 2)}[g.IntN(3)], 1) + ")" + filter, true
	case 5, 6, 7:
		return g.pick("min", "max") + "(" + distinct + g.expr(t, 1) + ")" + filter, false
	case 8:
		return g.pick("bool_and", "bool_or") + "(" + g.condition(1) + ")" + filter, false
	case 9:
		c := g.columnOf(g.columns, text)
		return fmt.Sprintf("string_agg(%s%s, '-' ORDER BY %s%s)%s", distinct, c, c, g.pick("", " DESC"), filter), false
	case 10:
		c := g.columnOf(g.columns, t)
		return fmt.Sprintf("%s(%s ORDER BY %s%s)%s", g.pick("first", "last", "any_value"), c, c, g.pick("", " DESC", " NULLS FIRST"), filter),
			false
	case 11:
		return g.pick("var_samp", "var_pop", "stddev_samp", "stddev_pop") + "(" + g.columnOf(g.columns, bigint) + " % 1000)" + filter, true
	case 12:
		return g.pick("median(", "quantile_cont(") + g.columnOf(g.columns, double) + ", 0.3)" + filter, true
	case 13:
		return fmt.Sprintf("quantile_disc(%s, %s)%s", g.columnOf(g.columns, t), g.pick("0", "0.1", "0.3", "0.5", "0.7", "1"), filter), false
	case 14:
		return fmt.Sprintf("quantile_cont(%s, %s)%s", g.columnOf(g.columns,
			[]types.Type{bigint, double, types.DecimalOf(18, 2), types.Of(types.Timestamp)}[g.IntN(4)]),
			g.pick("0", "0.1", "0.3", "0.5", "0.75", "1"), filter), true
	case 15:
		c := g.columnOf(g.columns, text)
		return fmt.Sprintf("list(%s ORDER BY %s%s)%s", c, c, g.pick("", " DESC", " NULLS FIRST"), filter), false
	}
	if len(g.lines) == 1 { // the key has no equal values
		return fmt.Sprintf("%s(%s, %s)%s", g.pick("min_by", "max_by"), g.columnOf(g.columns, t), g.lines[0], filter), false
	}
	return "count(*)", false
}

func (g *generator) grouped() (string, []string, []bool) {
	from := g.from() + g.lists()
	var items, keys []string
	var near []bool
	for range g.IntN(3) {
		k := g.expr(kinds[g.IntN(len(kinds))].typ, g.IntN(2))
		if strings.Trim(k, "0123456789-") == "" || strings.HasPrefix(k, "'") || strings.HasPrefix(k, "NULL") {
			continue // a constant would be read as a position
		}
		keys, items, near = append(keys, k), append(items, k), append(near, false)
	}
	for range 1 + g.IntN(3) {
		a, n := g.aggregate()
		if strings.HasPrefix(a, "median(") {
			a = strings.Replace(a, ", 0.3)", ")", 1)
		}
		items, near = append(items, a), append(near, n)
	}
	by := ""
	if len(keys) > 0 {
		list := strings.Join(keys, ", ")
		by = " GROUP BY " + []string{list, list, list, "ROLLUP (" + list + ")", "CUBE (" + list + ")",
			"GROUPING SETS ((" + list + "), (" + keys[0] + "), ())"}[g.IntN(6)]
		if g.IntN(3) == 0 {
			items, near = append(items, g.pick("grouping(", "grouping_id(")+g.pick(list, keys[0], keys[len(keys)-1])+")"), append(near, false)
		}
	}
	text := "SELECT " + strings.Join(items, ", ") + from + g.where() + by
	if g.IntN(3) == 0 {
		text += " HAVING " + g.pick("count(*) > 1", "count(*) < 3", "max("+g.columnOf(g.columns, types.Of(types.BigInt))+") > 0")
	}
	return text, items, near
}

// windows writes window functions. If a row's place matters, the order ends with the line.
func (g *generator) windows() (string, []string, []bool) {
	from := g.from()
	for len(g.lines) > 1 {
		from = g.from()
	}
	items, near := []string{g.lines[0]}, []bool{false}
	for range 1 + g.IntN(3) {
		w, n := g.window()
		items, near = append(items, w), append(near, n)
	}
	text := "SELECT " + strings.Join(items, ", ") + from + g.where()
	if g.IntN(5) == 0 {
		text += " QUALIFY row_number() OVER (ORDER BY " + g.lines[0] + ") < 5"
	}
	return text, items, near
}

func (g *generator) window() (string, bool) {
	bigint, double := types.Of(types.BigInt), types.Of(types.Double)
	t := kinds[g.IntN(len(kinds))].typ
	over := ""
	if g.IntN(3) > 0 {
		over = "PARTITION BY " + g.columnOf(g.columns, kinds[g.IntN(len(kinds))].typ) + " "
	}
	total := over + "ORDER BY " + g.columnOf(g.columns, t) + g.pick("", " DESC", " NULLS FIRST") + ", " + g.lines[0]
	loose := over
	if g.IntN(3) > 0 {
		loose += "ORDER BY " + g.columnOf(g.columns, t) + g.pick("", " DESC", " NULLS FIRST", " DESC NULLS FIRST")
	}
	arg := kinds[g.IntN(len(kinds))].typ
	switch g.IntN(8) {
	case 0:
		return "row_number() OVER (" + total + ")", false
	case 1:
		return g.pick("rank", "dense_rank") + "() OVER (" + loose + ")", false
	case 2:
		return fmt.Sprintf("ntile(%d) OVER (%s)", 1+g.IntN(5), total), false
	case 3:
		return fmt.Sprintf("%s(%s%s%s) OVER (%s)", g.pick("lag", "lead"), g.columnOf(g.columns, arg),
			g.pick("", ", 0", ", 2", ", -1", ", 2, "+g.literal(arg)), g.pick("", "", " IGNORE NULLS"), total), false
	case 4:
		return fmt.Sprintf("%s(%s%s) OVER (%s %s)", g.pick("first_value", "last_value"), g.columnOf(g.columns, arg), g.pick("", " IGNORE NULLS"),
			total, g.rows()), false
	}
	frame, by := "", loose
	switch g.IntN(3) {
	case 0:
		frame, by = g.rows(), total
	case 1:
		key := []types.Type{bigint, double, types.Of(types.Date), types.Of(types.Timestamp)}[g.IntN(4)]
		distance := func() string {
			switch key.Kind {
			case types.Double:
				return g.pick("0.5e0", "2e0")
			case types.Timestamp, types.Date:
				return "INTERVAL " + g.pick("1 DAY", "36 HOUR", "1 MONTH")
			}
			return g.pick("0", "1", "3")
		}
		if key.Kind == types.Date {
			distance = func() string { return "INTERVAL " + g.pick("1 DAY", "1 MONTH") }
		}
		c := g.columnOf(g.columns, key)
		if key.Kind == types.BigInt {
			c = "(" + c + " % 1000)"
		}
		by = over + "ORDER BY " + c + g.pick("", " DESC", " NULLS FIRST")
		frame = fmt.Sprintf("RANGE BETWEEN %s AND %s", g.pick("UNBOUNDED PRECEDING", "CURRENT ROW", distance()+" PRECEDING"),
			g.pick("UNBOUNDED FOLLOWING", "CURRENT ROW", distance()+" FOLLOWING"))
	}
	filter := ""
	if g.IntN(5) == 0 {
		filter = " FILTER (WHERE " + g.columnOf(g.columns, types.Of(types.Bool)) + ")"
	}
	distinct := g.pick("", "", "DISTINCT ")
	switch g.IntN(5) {
	case 0:
		return fmt.Sprintf("count(%s)%s OVER (%s %s)", g.pick("*", distinct+g.columnOf(g.columns, arg)), filter, by, frame), false
	case 1:
		return fmt.Sprintf("avg(%s%s)%s OVER (%s %s)", distinct, g.columnOf(g.columns,
			[]types.Type{bigint, double, types.DecimalOf(18, 2)}[g.IntN(3)]), filter, by, frame), true
	case 2:
		return fmt.Sprintf("%s(%s%s)%s OVER (%s %s)", g.pick("min", "max"), distinct, g.columnOf(g.columns, arg), filter, by, frame), false
	}
	return fmt.Sprintf("sum(%s%s)%s OVER (%s %s)", distinct, g.columnOf(g.columns,
		[]types.Type{bigint, double, types.DecimalOf(18, 2)}[g.IntN(3)]), filter, by, frame), false
}

// rows writes a frame of rows.
func (g *generator) rows() string {
	lo, hi := g.IntN(4), g.IntN(4)
	switch {
	case lo == 2 && hi == 0, lo == 3 && hi < 2:
		hi = 2
	}
	first, last := g.IntN(4), g.IntN(4)
	if lo == 1 && hi == 0 || lo == 3 && hi == 2 { // for frames that end before they start, DuckDB counts -1 rows
		first, last = max(first, last), min(first, last)
		if lo == 3 {
			first, last = last, first
		}
	}
	from := []string{"UNBOUNDED PRECEDING", fmt.Sprintf("%d PRECEDING", first), "CURRENT ROW", fmt.Sprintf("%d FOLLOWING", first)}
	to := []string{fmt.Sprintf("%d PRECEDING", last), "CURRENT ROW", fmt.Sprintf("%d FOLLOWING", last), "UNBOUNDED FOLLOWING"}
	return "ROWS BETWEEN " + from[lo] + " AND " + to[hi]
}
