package bind

import (
	"fmt"
	"strconv"
	"strings"

	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/syntax"
	"posta.dev/posta/analyses/sql/types"
)

// figure is a column of the answer to SUMMARIZE. In its text, $ is a column of the query that is summarised, and @ the type of that column.
type figure struct {
	name, typ, text string
	of              func(types.Type) bool // of columns of other types, the figure is NULL
}

// figures follow the names and types of the columns. Exact quartiles and numbers of distinct values would need every value of every column
// in memory. So they are estimated, as in DuckDB: see the aggregates quartiles and approx_unique in package aggregate.
var figures = []figure{
	{"min", "TEXT", "min($)", compared},
	{"max", "TEXT", "max($)", compared},
	{"approx_unique", "BIGINT", "least(approx_unique($), count($))", compared}, // an estimate may exceed the number of values
	{"avg", "TEXT", "avg($)", types.Type.IsNumber},
	{"std", "TEXT", "stddev_samp($)", types.Type.IsNumber},
	{"q25", "TEXT", quartile("1"), measured},
	{"q50", "TEXT", quartile("2"), measured},
	{"q75", "TEXT", quartile("3"), measured},
	{"count", "BIGINT", "count(*)", always},
	{"null_percentage", "DECIMAL(9, 2)", "CAST(100 - 100 * (count($) / nullif(count(*), 0)) AS DECIMAL(9, 2))", always},
}

// quartile returns the text of the nth quartile. Rounding may have moved it beyond the smallest or the largest value. Years beyond 9999 are
// not read again, so such a quartile stays as it is.
func quartile(n string) string {
	text := "list_extract(quartiles($), " + n + ")"
	value := "TRY_CAST(" + text + " AS @)"
	return "if(" + value + " IS NULL, " + text + ", greatest(min($), least(max($), " + value + "))::TEXT)"
}

func always(types.Type) bool     { return true }
func compared(t types.Type) bool { return t.Kind != types.TextList && t.Kind != types.Null }
func measured(t types.Type) bool {
	return t.IsNumber() || t.Kind == types.Date || t.Kind == types.Timestamp
}

// summary binds SUMMARIZE: a row of statistics for each column of a query. It is one aggregation of the query. Lists hold the
// values, and UNNEST turns them into rows:
//
//	SELECT unnest(['a', 'b']) AS column_name, unnest([min(c0)::TEXT, min(c1)::TEXT]) AS min, … FROM (query) AS s (c0, c1)
func (b *binder) summary(d *syntax.Describe, at syntax.Pos, c *ctes) plan.Node {
	fields := b.query(d.Query, nil, c).Fields()
	b.named = map[*ctes]bool{} // what was bound just now is not part of the plan
	from := &syntax.Derived{At: at, Query: d.Query, Alias: syntax.Alias{Name: syntax.Ident{At: at, Name: "s"}}}
	for i := range fields {
		from.Alias.Columns = append(from.Alias.Columns, syntax.Ident{At: at, Name: "c" + strconv.Itoa(i)})
	}
	name := func(i int) string { return syntax.PrintExpr(&syntax.String{Value: fields[i].Name}) }
	kind := func(i int) string { return syntax.PrintExpr(&syntax.String{Value: fields[i].Type.String()}) }
	items := []string{unnested(len(fields), "TEXT", name) + " AS column_name", unnested(len(fields), "TEXT", kind) + " AS column_type"}
	for _, f := range figures {
		values := unnested(len(fields), f.typ, func(i int) string {
			t := fields[i].Type
			if !f.of(t) {
				return "NULL"
			}
			if t.Kind == types.Decimal {
				t.Precision = types.MaxPrecision // rounding may have added a digit
			}
			return strings.NewReplacer("$", from.Alias.Columns[i].Name, "@", t.String()).Replace(f.text)
		})
		items = append(items, values+" AS "+f.name)
	}
	q := syntax.Written("SELECT "+strings.Join(items, ", "), at)
	q.Body.(*syntax.Select).From = from
	return b.query(q, nil, c)
}

// unnested returns values as a column of so many rows.
func unnested(rows int, typ string, value func(i int) string) string {
	values := make([]string, rows)
	for i := range values {
		values[i] = value(i) + "::TEXT"
	}
	return fmt.Sprintf("unnest([%s])::%s", strings.Join(values, ", "), typ)
}
