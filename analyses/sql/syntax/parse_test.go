package syntax

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
)

// normal are expressions with their normal forms; "" stands for the same text.
var normal = []struct{ text, want string }{
	{"a + b * c", ""}, {"(a + b) * c", ""}, {"a + (b * c)", "a + b * c"}, {"a - (b - c)", ""}, {"(a - b) - c", "a - b - c"},
	{"a or b and not c = d", "a OR b AND NOT c = d"}, {"(a OR b) AND c", ""}, {"NOT (a AND b)", ""}, {"NOT NOT a", ""},
	{"a = b IS NULL", ""}, {"a = (b IS NULL)", ""}, {"(a = b) = c", ""}, {"a == b", "a = b"}, {"a != b", "a <> b"},
	{"a IS DISTINCT FROM b = c", ""}, {"a IS NOT DISTINCT FROM b", ""}, {"a is not true", "a IS DISTINCT FROM TRUE"},
	{"a IS FALSE", "a IS NOT DISTINCT FROM FALSE"},
	{"a || b + c", ""}, {"(a || b) + c", ""}, {"a || b = c", ""}, {"a ->> 'x' = 'y'", ""}, {"a -> 'b' ->> 'c'", ""}, {"a // b % c / d", ""},
	{"a ~ '^x'", ""}, {"a !~ 'x'", ""},
	{"-a::INTEGER", ""}, {"(-a)::INTEGER", ""}, {"- -a", ""}, {"-(-1)", "- -1"}, {"+a", "a"}, {"-(a + b)", ""}, {"-a * b", ""}, {"a - -1", ""},
	{"a BETWEEN b + 1 AND c AND d", ""}, {"a NOT BETWEEN (b AND c) AND d", ""}, {"a BETWEEN b AND c = d", ""},
	{"a IN (1, 2)", ""}, {"a NOT IN (1)", ""}, {"a IN (SELECT b FROM t)", ""}, {"a IN ((SELECT 1), 2)", ""}, {"a IN ((SELECT 1) + 1)", ""},
	{"a IN ((SELECT 1) UNION (SELECT 2))", "a IN (SELECT 1 UNION SELECT 2)"},
	{"a LIKE 'x%' ESCAPE '!'", ""}, {"a NOT ILIKE b || '%'", ""},
	{"case when a then b else c end", "CASE WHEN a THEN b ELSE c END"}, {"CASE a WHEN 1 THEN b WHEN 2 THEN c END", ""},
	{"CAST(a + b AS DECIMAL(9, 2))", "(a + b)::DECIMAL(9, 2)"}, {"a::varchar[]", "a::VARCHAR[]"}, {"TRY_CAST(a AS DATE)", ""},
	{"a::double precision", "a::DOUBLE"},
	{"date '2024-01-02'", "'2024-01-02'::DATE"}, {"TIMESTAMP '2024-01-02 03:04:05'", "'2024-01-02 03:04:05'::TIMESTAMP"},
	{"INTERVAL 1 day", "INTERVAL 1 DAY"}, {"INTERVAL '1 day 2 hours'", ""}, {"INTERVAL (n + 1) months", "INTERVAL (n + 1) MONTH"},
	{"extract(year from d)", "date_part('year', d)"}, {"substring(a from 2 for 3)", "substring(a, 2, 3)"},
	{"substring(a FOR 3)", "substring(a, 1, 3)"},
	{"position('x' IN a)", "strpos(a, 'x')"}, {"trim(both 'x' from a)", "trim(a, 'x')"}, {"trim(LEADING FROM a)", "ltrim(a)"}, {"trim(a)", ""},
	{"left(a, 2)", ""}, {"Replace(a, 'b', 'c')", "replace(a, 'b', 'c')"}, {"if(a, b, c)", ""}, {"current_date", ""}, {`"current_date"`, ""},
	{"count(*)", ""}, {"count(DISTINCT a)", ""}, {"string_agg(a, ',' ORDER BY b DESC NULLS FIRST)", ""},
	{"sum(a) FILTER (b > 1)", "sum(a) FILTER (WHERE b > 1)"},
	{"lag(a) IGNORE NULLS OVER (PARTITION BY b ORDER BY c)", "lag(a IGNORE NULLS) OVER (PARTITION BY b ORDER BY c)"},
	{"a() ignore nulls", "a() IGNORE NULLS"},
	{"sum(a) OVER (ORDER BY b ROWS 2 PRECEDING)", "sum(a) OVER (ORDER BY b ROWS BETWEEN 2 PRECEDING AND CURRENT ROW)"},
	{"sum(a) OVER (RANGE BETWEEN UNBOUNDED PRECEDING AND INTERVAL 1 DAY FOLLOWING)", ""}, {"rank() OVER w", ""}, {"count(*) OVER ()", ""},
	{"string_split(a, ',')[1]", ""}, {"['a', b]", ""}, {"[]", ""}, {"EXISTS (SELECT 1)", ""}, {"NOT EXISTS (SELECT 1)", ""},
	{"(SELECT 1) + 1", ""}, {"(((SELECT 1)))", "(SELECT 1)"},
	{"((SELECT 1) UNION ALL (SELECT 2))", "(SELECT 1 UNION ALL SELECT 2)"}, {"((SELECT 1) LIMIT 1)", "(SELECT 1 LIMIT 1)"}, {"(((a)))", "a"},
	{"((a) + b) * c", "(a + b) * c"},
	{"t.a", ""}, {`"T a"."b""c"`, ""}, {"Städte", ""}, {":n + $m", "$n + $m"}, {"1_000 + .5 + 5. + 1e3", "1000 + .5 + 5. + 1e3"},
	{"'it''s'", ""}, {"/* a /* b */ */ a -- c", "a"},
}

func TestQ4_NormalFormsOfExpressions(t *testing.T) {
	for _, c := range normal {
		want := c.want
		if want == "" {
			want = c.text
		}
		s, err := Parse("SELECT " + c.text + " FROM t")
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		got := PrintExpr(s.Statements[0].Node.(*Query).Body.(*Select).Items[0].X)
		if got != want {
			t.Errorf("%s\n got %s\nwant %s", c.text, got, want)
		}
		comesBack(t, s)
	}
}

var statements = []struct{ text, want string }{
	{"SELECT 1", ""}, {"from t", "SELECT * FROM t"}, {"FROM 'a/*.csv' SELECT a WHERE b GROUP BY ALL",
		"SELECT a FROM 'a/*.csv' WHERE b GROUP BY ALL"},
	{"SELECT DISTINCT a AS \"select\", b c FROM t", "SELECT DISTINCT a AS \"select\", b AS c FROM t"},
	{"SELECT DISTINCT ON (a, b) c FROM t ORDER BY d", ""},
	{"SELECT * EXCLUDE a REPLACE (b + 1 AS b), t.* FROM t", "SELECT * EXCLUDE (a) REPLACE (b + 1 AS b), t.* FROM t"},
	{"SELECT a FROM t x (b, c), u", "SELECT a FROM t AS x (b, c) CROSS JOIN u"},
	{"SELECT 1 FROM a INNER JOIN b ON a.x = b.x LEFT OUTER JOIN c USING (y, z) NATURAL JOIN d CROSS JOIN e SEMI JOIN f USING (g) ANTI JOIN " +
		"h USING (i) FULL JOIN j ON TRUE RIGHT JOIN k ON FALSE",
		"SELECT 1 FROM a JOIN b ON a.x = b.x LEFT JOIN c USING (y, z) NATURAL JOIN d CROSS JOIN e SEMI JOIN f USING (g) ANTI JOIN h USING (i) " +
			"FULL JOIN j ON TRUE RIGHT JOIN k ON FALSE"},
	{"SELECT 1 FROM a JOIN (b JOIN c USING (x)) USING (y)", ""}, {"SELECT 1 FROM ((a JOIN b USING (x)) JOIN c USING (y))",
		"SELECT 1 FROM a JOIN b USING (x) JOIN c USING (y)"},
	{"SELECT 1 FROM (SELECT 2) AS t (a)", ""}, {"SELECT 1 FROM ((SELECT 2) UNION (SELECT 3)) t",
		"SELECT 1 FROM (SELECT 2 UNION SELECT 3) AS t"},
	{"SELECT 1 FROM ((SELECT 2) AS a JOIN b USING (x))", "SELECT 1 FROM (SELECT 2) AS a JOIN b USING (x)"},
	{"FROM (VALUES (1, 'a'), (2, 'b')) AS v (x, y)", "SELECT * FROM (VALUES (1, 'a'), (2, 'b')) AS v (x, y)"},
	{"SELECT 1 FROM read_csv('a.csv', delim=';', header = true, columns={'a': 'BIGINT', b: 'TEXT'}) r",
		"SELECT 1 FROM read_csv('a.csv', delim = ';', header = TRUE, columns = {'a': 'BIGINT', 'b': 'TEXT'}) AS r"},
	{"SELECT grouping(a), left(a, 1) FROM t GROUP BY CUBE (a)", "SELECT grouping(a), left(a, 1) FROM t GROUP BY CUBE (a)"},
	{"SELECT unnest(string_split(g, '|')) FROM t, unnest(l) AS u (x)",
		"SELECT unnest(string_split(g, '|')) FROM t CROSS JOIN unnest(l) AS u (x)"},
	{"SELECT a FROM t GROUP BY 1, (a), (a, b), ROLLUP (a, (b, c)), CUBE (a), GROUPING SETS ((), (a), ROLLUP (b)) HAVING count(*) > 1",
		"SELECT a FROM t GROUP BY 1, a, (a, b), ROLLUP (a, (b, c)), CUBE (a), GROUPING SETS ((), a, ROLLUP (b)) HAVING count(*) > 1"},
	{"SELECT a FROM t GROUP BY (a) + 1", "SELECT a FROM t GROUP BY a + 1"},
	{"SELECT rank() OVER w FROM t WINDOW w AS (ORDER BY a) QUALIFY r = 1 ORDER BY a DESC NULLS FIRST, b ASC NULLS LAST LIMIT 3 OFFSET 2",
		"SELECT rank() OVER w FROM t WINDOW w AS (ORDER BY a) QUALIFY r = 1 ORDER BY a DESC NULLS FIRST, b LIMIT 3 OFFSET 2"},
	{"SELECT a FROM t ORDER BY ALL DESC OFFSET 1 LIMIT 2", "SELECT a FROM t ORDER BY ALL DESC LIMIT 2 OFFSET 1"},
	{"SELECT 1 UNION SELECT 2 EXCEPT SELECT 3 INTERSECT SELECT 4", ""}, {"SELECT 1 UNION (SELECT 2 EXCEPT SELECT 3)", ""},
	{"(SELECT 1 UNION SELECT 2) INTERSECT SELECT 3", ""}, {"(SELECT 1 INTERSECT SELECT 2) INTERSECT SELECT 3",
		"SELECT 1 INTERSECT SELECT 2 INTERSECT SELECT 3"},
	{"(SELECT 1 LIMIT 1) UNION ALL BY NAME SELECT 2 ORDER BY 1", ""}, {"((SELECT 1))", "SELECT 1"}, {"VALUES (1), (2)", ""},
	{"WITH a AS (SELECT 1), b (c) AS (FROM a) SELECT * FROM b", "WITH a AS (SELECT 1), b (c) AS (SELECT * FROM a) SELECT * FROM b"},
	{"DESCRIBE t", "DESCRIBE SELECT * FROM t"}, {"SUMMARIZE 'a.csv'", "SUMMARIZE SELECT * FROM 'a.csv'"}, {"DESCRIBE SELECT 1", ""},
	{"SHOW TABLES", ""},
}

func TestQ4_NormalFormsOfStatements(t *testing.T) {
	for _, c := range statements {
		want := c.want
		if want == "" {
			want = c.text
		}
		s, err := Parse(c.text)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		if got := Print(s); got != "-- name: query_1\n"+want+";\n" {
			t.Errorf("%s\n got %swant %s", c.text, got, want)
		}
		comesBack(t, s)
	}
}

func TestQ4_AScriptOfManyStatements(t *testing.T) {
	s, err := Parse(`
-- Trips of Montreal; the name of a comment means nothing, but this one's does.
CREATE TABLE trips FROM '{city}/trips.csv' (start_date TIMESTAMP, duration_sec DOUBLE) WITH (delim ';', header true, missing = 'null');
create view long as select * from trips where duration_sec > 3600;
-- name: rain
SELECT 1;
;SELECT 2; -- Name:  per-day
SELECT 3`)
	if err != nil {
		t.Fatal(err)
	}
	want :=
		`CREATE TABLE trips FROM '{city}/trips.csv' (start_date TIMESTAMP, duration_sec DOUBLE) WITH (delim ';', header TRUE, missing 'null');
CREATE VIEW long AS SELECT * FROM trips WHERE duration_sec > 3600;
-- name: rain
SELECT 1;
-- name: query_2
SELECT 2;
-- name: per-day
SELECT 3;
`
	if got := Print(s); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	comesBack(t, s)
}

// comesBack checks that the printed form parses to the same tree.
func comesBack(t *testing.T, s *Script) {
	t.Helper()
	text := Print(s)
	again, err := Parse(text)
	if err != nil {
		t.Errorf("%s is not read: %v", text, err)
		return
	}
	if withoutPositions(s) != withoutPositions(again) {
		t.Errorf("%s is read as another tree: %s", text, Print(again))
	}
}

// withoutPositions renders a tree with all its fields but those of type Pos.
func withoutPositions(s *Script) string {
	var b strings.Builder
	render(&b, reflect.ValueOf(s))
	return b.String()
}

func render(b *strings.Builder, v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			b.WriteString("nil")
			return
		}
		render(b, v.Elem())
	case reflect.Struct:
		b.WriteString(v.Type().Name() + "{")
		for i := range v.NumField() {
			if v.Field(i).Type() != reflect.TypeOf(Pos(0)) {
				render(b, v.Field(i))
				b.WriteByte(' ')
			}
		}
		b.WriteByte('}')
	case reflect.Slice:
		b.WriteByte('[')
		for i := range v.Len() {
			render(b, v.Index(i))
			b.WriteByte(' ')
		}
		b.WriteByte(']')
	default:
		fmt.Fprintf(b, "%#v", v.Interface())
	}
}

func TestQ4_BoundsOfAText(t *testing.T) {
	deep := func(open, inner, close string, n int) string {
		return "SELECT " + strings.Repeat(open, n) + inner + strings.Repeat(close, n)
	}
	for _, c := range []string{"(|1|)", "-|1|", "NOT |a|", "abs(|1|)", "(SELECT |1|)", "CASE WHEN |a| THEN 1 END", "[|1|]", "a[|1|]",
		"1 IN (|2|)"} {
		part := strings.Split(c, "|")
		open := part[0]
		if open == "-" {
			open = "- "
		}
		if _, err := Parse(deep(open, part[1], part[2], 90)); err != nil {
			t.Errorf("%s 90 deep: %v", c, err)
		}
		for _, n := range []int{MaxDepth + 1, 2000} {
			_, err := Parse(deep(open, part[1], part[2], n))
			if e := (*Error)(nil); !errors.As(err, &e) || !strings.Contains(e.Message, "nested more than 200 deep") {
				t.Errorf("%s %d deep: %v", c, n, err)
			}
		}
	}
	for _, open := range []string{"(", "SELECT 1 FROM (", "SELECT (", "SELECT 1 GROUP BY CUBE ("} {
		if _, err := Parse("FROM " + strings.Repeat(open, 4000)); err == nil {
			t.Errorf("%s without end is taken", open)
		}
	}
	if _, err := Parse("SELECT '" + strings.Repeat("x", MaxText) + "'"); err == nil || !strings.Contains(err.Error(), "at most 65536") {
		t.Errorf("a text that is too long: %v", err)
	}
	if _, err := Parse("SELECT '\xff'"); err == nil || !strings.Contains(err.Error(), "line 1, column 9: the text is not valid UTF-8") {
		t.Errorf("a text that is not UTF-8: %v", err)
	}
}

// Texts of the greatest length take milliseconds. With an algorithm that is quadratic in the number of tokens they would take
// minutes.
func TestQ4_TimeIsLinear(t *testing.T) {
	for _, c := range []struct{ first, more string }{
		{"SELECT 1", "+1"}, {"SELECT 1", ",1"}, {"SELECT a", " OR a"}, {"SELECT a", "::INT"}, {"SELECT a", "[1]"},
		{"SELECT 1", " UNION SELECT 1"}, {"FROM t", ",t"}, {"SELECT 1;", "SELECT 1;"},
		{"SELECT a", " IS NULL"}, {"VALUES (1)", ",(1)"}, {"SELECT 1", "\n"}, {"SELECT 1", " -- name x\n"}, {"SELECT 1", ";"},
		{"FROM t", " JOIN t USING(a)"}, {"SELECT 1", "/**/"},
		{"SELECT '", "''"}, {"SELECT ", "((((1))))+"}, {"SELECT ", "(SELECT 1)+"}, {"SELECT CASE", " WHEN 1 THEN 2"},
		{"WITH a AS (FROM t)", ", a AS (FROM t)"}, {"SELECT ", "\""}, {"SELECT ", "/*"},
	} {
		text := c.first + strings.Repeat(c.more, (MaxText-len(c.first))/len(c.more))
		start := time.Now()
		if s, err := Parse(text); err == nil && len(s.Statements) == 0 {
			t.Errorf("%s %s …: nothing was read", c.first, c.more)
		}
		if d := time.Since(start); d > 10*time.Second {
			t.Errorf("%s %s …: %v", c.first, c.more, d)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, c := range normal {
		f.Add("SELECT " + c.text)
	}
	for _, c := range statements {
		f.Add(c.text)
	}
	f.Add("-- name: a\nSELECT 1; CREATE TABLE t FROM 'x' (a INT) WITH (delim ';'); CREATE VIEW v (a) AS FROM t")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse(text)
		if err != nil {
			if e := (*Error)(nil); !errors.As(err, &e) || e.Line < 1 || e.Column < 1 {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		if len(Print(s)) <= MaxText {
			comesBack(t, s)
		}
	})
}
