package sqldiff

import (
	"fmt"
	"strings"

	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/types"
)

// function writes a call of a function whose result has type t, "" if there is none.
func (g *generator) function(t types.Type, d int) string {
	text := func() string { return g.expr(types.Of(types.Text), d) }
	integer := func() string { return g.expr(types.Of(types.BigInt), d) }
	double := func() string { return g.expr(types.Of(types.Double), d) }
	date := func() string { return g.expr(types.Of(types.Date), d) }
	stamp := func() string { return g.expr(types.Of(types.Timestamp), d) }
	when := func() string { return g.pick(date(), stamp()) }
	small := func() string { return g.pick("0", "1", "2", "3", "-1", "-2") }
	call := func(name string, args ...string) string { return name + "(" + strings.Join(args, ", ") + ")" }
	switch t.Kind {
	case types.Text:
		switch g.IntN(16) {
		case 0:
			return call(g.pick("lower", "upper", "trim", "ltrim", "rtrim", "reverse"), text())
		case 1:
			// For positions before a text, DuckDB counts differently in columns that are all ASCII.
			return call("substring", text(), g.pick("0", "1", "2", "3", "-1"), g.pick("0", "1", "2", "5"))
		case 2:
			return call(g.pick("left", "right"), text(), small())
		case 3:
			return call("replace", text(), g.pick("'a'", "''", "'é'", "'ab'"), g.pick("'xy'", "''"))
		case 4:
			return call("concat", text(), g.pick(text(), integer(), g.expr(types.Of(types.Bool), 0)))
		case 5:
			return call("concat_ws", "'~'", text(), text()) // DuckDB reads '-' between blanks as the number 0
		case 6:
			return "(" + text() + " || " + g.pick(text(), integer()) + ")"
		case 7:
			return call("split_part", text(), g.pick("'_'", "'a'", "'-'"), g.pick("1", "2", "-1"))
		case 8:
			// without a group in the pattern, \1 is empty
			return call("regexp_replace", text(), g.pick("'[ab]+'", "'^.'", "'\\d'", "'(.)(.)'"), g.pick("'<\\1>'", "'x'"))
		case 9:
			return call("regexp_extract", text(), g.pick("'[a-z]'", "'\\d+'", "'.$'"))
		case 10:
			return call(g.pick("lpad", "rpad"), text(), g.pick("0", "2", "5"), g.pick("'*'", "'ab'"))
		case 11:
			return "CAST(" + g.pick(integer(), date(), stamp(), g.expr(types.Of(types.Bool), d), g.expr(types.DecimalOf(18, 2), 0)) + " AS TEXT)"
		case 12:
			return call("strftime", when(), g.pick("'%Y-%m'", "'%d.%m.%y %H:%M'", "'%j %a'"))
		case 13:
			return call(g.pick("dayname", "monthname"), when())
		case 14:
			return call("md5", text())
		}
		return call("repeat", text(), g.pick("0", "1", "2"))
	case types.BigInt:
		switch g.IntN(12) {
		case 0:
			return call("strpos", text(), g.pick("'a'", "''", "'b'"))
		case 1:
			return call(g.pick("abs", "sign"), integer())
		case 2:
			return call(g.pick("year", "month", "day", "quarter", "week", "dayofweek", "isodow", "dayofyear", "hour", "minute", "second"), when())
		case 3:
			return "extract(" + g.pick("YEAR", "MONTH", "DOW", "WEEK", "QUARTER", "HOUR") + " FROM " + when() + ")"
		case 4:
			unit := g.pick("'day'", "'month'", "'year'", "'hour'", "'week'")
			return call("date_diff", unit, stamp(), stamp())
		case 5:
			return "(" + date() + " - " + date() + ")"
		case 6:
			return "CAST(" + g.pick(double(), g.expr(types.Of(types.Bool), d), g.expr(types.DecimalOf(18, 2), 0)) + " AS BIGINT)"
		case 7:
			return "TRY_CAST(" + text() + " AS BIGINT)"
		case 8:
			return call(g.pick("greatest", "least"), integer(), integer())
		case 9:
			return "(" + integer() + " % " + integer() + ")"
		case 10:
			return "(" + g.columnOf(g.columns, t) + " * " + g.pick("2", "-3", "7") + ")"
		}
		return call("unicode", "'a' || "+text())
	case types.Double:
		switch g.IntN(7) {
		case 0:
			return call(g.pick("abs", "floor", "ceil", "trunc"), double())
		case 1:
			return call("round", double(), g.pick("0", "1"))
		case 2:
			return call("sqrt", call("abs", double()))
		case 3:
			return "(" + integer() + " / " + g.pick(integer(), double()) + ")"
		case 4:
			return "TRY_CAST(" + text() + " AS DOUBLE)"
		case 5:
			return "CAST(" + integer() + " AS DOUBLE)"
		}
		return "epoch(" + stamp() + ")"
	case types.Date:
		switch g.IntN(4) {
		case 0:
			return "CAST(" + stamp() + " AS DATE)"
		case 1:
			return call("make_date", g.pick("2023", "2024"), "1 + abs("+g.columnOf(g.columns, types.Of(types.BigInt))+" % 12)", g.pick("1", "28"))
		case 2:
			return "TRY_CAST(" + text() + " AS DATE)"
		}
		return call(g.pick("greatest", "least"), date(), date())
	case types.Timestamp:
		switch g.IntN(4) {
		case 0:
			return call("date_trunc", g.pick("'year'", "'month'", "'week'", "'day'", "'hour'", "'quarter'"), stamp())
		case 1:
			return "(" + when() + g.pick(" + ", " - ") + "INTERVAL " + g.pick("1 DAY", "1 MONTH", "36 HOUR", "'1 year 2 days'") + ")"
		case 2:
			return "CAST(" + date() + " AS TIMESTAMP)"
		}
		return call("time_bucket", "INTERVAL "+g.pick("1 DAY", "6 HOUR", "1 MONTH"), stamp())
	}
	return ""
}

// test writes a condition of a kind that condition does not write.
func (g *generator) test(d int) string {
	text := g.expr(types.Of(types.Text), d)
	t := kinds[g.IntN(len(kinds))].typ
	not := g.pick("", "NOT ")
	switch g.IntN(8) {
	case 0:
		return fmt.Sprintf("(%s %sBETWEEN %s AND %s)", g.expr(t, d), not, g.expr(t, 0), g.expr(t, 0))
	case 1:
		return fmt.Sprintf("(%s %sILIKE %s)", text, not, g.pick("'A%'", "'%B'", "'É'", "'a_'"))
	case 2:
		return fmt.Sprintf("(%s %sLIKE %s ESCAPE '!')", text, not, g.pick("'a!_b'", "'!%'", "'%!_%'"))
	case 3:
		return fmt.Sprintf("regexp_matches(%s, %s)", text, g.pick("'^a'", "'b$'", "'[0-9]'", "'a.b'"))
	case 4:
		return fmt.Sprintf("%s(%s, %s)", g.pick("starts_with", "ends_with", "contains"), text,
			g.pick("'a'", "''", "'é'", g.columnOf(g.columns, types.Of(types.Text))))
	case 5:
		return fmt.Sprintf("(%s IS %s%s)", g.condition(d), not, g.pick("TRUE", "FALSE"))
	case 6:
		if t.Kind != types.Decimal {
			return fmt.Sprintf("(%s %sIN (%s, NULL, %s))", g.expr(t, d), not, g.literal(t), g.expr(t, 0))
		}
	}
	return fmt.Sprintf("CASE %s WHEN %s THEN %s ELSE %s END", g.expr(t, 0), g.expr(t, 0), g.condition(d), g.condition(d))
}

// derived writes a query in FROM, and makes its columns those of alias.
func (g *generator) derived(alias string) string {
	var fields []plan.Field
	text := g.inner(func() string {
		g.around = nil // no LATERAL
		from := g.from()
		var items, keys []string
		grouped := g.IntN(3) == 0
		for i, k := range kinds {
			item := g.expr(k.typ, 1)
			if grouped && i < 2 {
				item = g.columnOf(g.columns, k.typ)
				keys = append(keys, item)
			} else if grouped {
				item = g.pick("min", "max") + "(" + item + ")"
				if k.typ.Kind == types.Bool {
					item = "bool_or(" + g.columnOf(g.columns, k.typ) + ")"
				}
			}
			name := "k" + k.letter
			items, fields = append(items, item+" AS "+name), append(fields, plan.Field{Name: alias + "." + name, Type: k.typ})
		}
		text := "SELECT " + g.pick("", "DISTINCT ") + strings.Join(items, ", ") + from + g.where()
		if grouped {
			text += " GROUP BY " + g.pick(strings.Join(keys, ", "), strings.Join(keys, ", "), "1, 2", "ALL")
		}
		return text
	})
	g.columns = append(g.columns, fields...)
	return "(" + text + ") AS " + alias
}

// nested writes a statement over queries in FROM, in WITH, or side by side.
func (g *generator) nested() (string, []string, []bool) {
	g.columns, g.lines = nil, nil
	with, from, comma := "", "", false
	switch g.IntN(4) {
	case 0:
		from = " FROM " + g.derived("a")
	case 1:
		from = " FROM " + g.derived("a") + g.pick(" JOIN ", " LEFT JOIN ", " FULL JOIN ")
		left := len(g.columns)
		from += g.derived("b")
		k := kinds[g.IntN(len(kinds))].typ
		from += " ON " + g.columnOf(g.columns[:left], k) + " = " + g.columnOf(g.columns[left:], k)
	case 2:
		query := g.derived("w") // it is used twice
		with = "WITH w AS " + strings.TrimSuffix(query, " AS w") + " "
		var again []plan.Field
		for i := range g.columns {
			name := strings.TrimPrefix(g.columns[i].Name, "w.")
			again = append(again, plan.Field{Name: "z." + name, Type: g.columns[i].Type})
		}
		from = " FROM w" + g.pick(" JOIN ", " LEFT JOIN ") + "w AS z ON w.ki = z.ki AND w.kc " + g.pick("=", "<>", "IS NOT DISTINCT FROM") +
			" z.kc"
		g.columns = append(g.columns, again...)
	default:
		comma = true
		var where []string
		for i, t := range []*plan.Table{&g.w.Tables[g.IntN(3)], &g.w.Tables[g.IntN(3)], &g.w.Tables[g.IntN(3)]} {
			alias := string(rune('a' + i))
			left := len(g.columns)
			for _, f := range t.Fields {
				g.columns = append(g.columns, plan.Field{Name: alias + "." + f.Name, Type: f.Type})
			}
			from += []string{" FROM ", ", ", ", "}[i] + t.Name + " AS " + alias
			if i > 0 {
				k := kinds[g.IntN(4)].typ
				where = append(where, g.columnOf(g.columns[:left], k)+" = "+g.columnOf(g.columns[left:], k))
			}
		}
		where = append(where, g.condition(1))
		if g.IntN(3) == 0 {
			where = []string{"(" + strings.Join(append(where[:2:2], g.condition(1)), " AND ") + " OR " + strings.Join(where, " AND ") + ")"}
		}
		from += " WHERE " + strings.Join(where, " AND ")
	}
	if !comma {
		from += g.where()
	}
	var items []string
	for range 1 + g.IntN(3) {
		items = append(items, g.expr(kinds[g.IntN(len(kinds))].typ, 1))
	}
	return with + "SELECT " + g.pick("", "DISTINCT ") + strings.Join(items, ", ") + from, items, make([]bool, len(items))
}

// distinctOn writes DISTINCT ON: the first row of each key, in an order that determines everything.
func (g *generator) distinctOn() (string, []string, []bool) {
	from := g.from()
	for len(g.lines) > 1 {
		from = g.from()
	}
	t := kinds[g.IntN(len(kinds))].typ
	key := g.columnOf(g.columns, t)
	items := []string{key, g.expr(kinds[g.IntN(len(kinds))].typ, 1), g.lines[0]}
	text := "SELECT DISTINCT ON (" + key + ") " + strings.Join(items, ", ") + from + g.where()
	text += " ORDER BY " + key + g.pick("", " DESC", " NULLS FIRST") + ", " + g.columnOf(g.columns, kinds[g.IntN(len(kinds))].typ) +
		g.pick("", " DESC") + ", " + g.lines[0]
	return text, items, make([]bool, 3)
}

// windowed writes windows over groups, and keeps some rows by QUALIFY.
func (g *generator) windowed() (string, []string, []bool) {
	from := g.from()
	k := g.columnOf(g.columns, kinds[g.IntN(len(kinds))].typ)
	n, bigint := g.columnOf(g.columns, types.Of(types.BigInt)), g.columnOf(g.columns, types.Of(types.Text))
	items := []string{k + " AS k", "count(*) AS n", "min(" + n + ") AS least"}
	over := g.pick("ORDER BY k", "ORDER BY k DESC NULLS FIRST", "PARTITION BY count(*) ORDER BY k")
	items = append(items, g.pick("row_number()", "rank()", "sum(count(*))", "max(max("+n+"))", "lag(count("+bigint+"))", "count(*)",
		"first_value(min("+n+"))")+" OVER ("+over+") AS w")
	text := "SELECT " + strings.Join(items, ", ") + from + g.where() + " GROUP BY " + g.pick("k", "1", k)
	if g.IntN(3) == 0 {
		text += " HAVING n " + g.pick("> 1", "< 4")
	}
	if g.IntN(3) == 0 {
		text += " QUALIFY w " + g.pick("> 1", "IS NOT NULL", "<= 3")
	}
	return text, items, make([]bool, len(items))
}

// firstRows writes LIMIT without an order over one table, which means the table's first rows.
func (g *generator) firstRows() Statement {
	for { // DuckDB's SEMI and ANTI joins change the order, also those by which it computes correlated queries
		from := g.from()
		items := []string{g.expr(kinds[g.IntN(len(kinds))].typ, 1), g.lines[0]}
		where := g.where()
		if g.looked || strings.Contains(from, "JOIN") {
			g.looked = false
			continue
		}
		return Statement{Text: "SELECT " + strings.Join(items, ", ") + from + where + fmt.Sprintf(" LIMIT %d OFFSET %d", g.IntN(8), g.IntN(3)),
			Near: make([]bool, 2), Ordered: true}
	}
}
