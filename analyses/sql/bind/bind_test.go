package bind

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"posta.dev/posta/analyses/sql/functions"
	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/test/sqlplan"

	"posta.dev/posta/analyses/sql/syntax"
	"posta.dev/posta/analyses/sql/types"
)

var update = flag.Bool("update", false, "rewrite the expected plans and messages")

func fields(spec string) (out []plan.Field) {
	for _, f := range strings.Fields(spec) {
		name, kind, _ := strings.Cut(f, ":")
		t, _, err := types.Parse(kind, nil, false)
		if err != nil {
			panic(err)
		}
		out = append(out, plan.Field{Name: name, Type: t})
	}
	return out
}

var tables = []plan.Table{
	{Name: "trips", Fields: fields("start:TIMESTAMP day:DATE duration:DOUBLE station:BIGINT member:BOOLEAN city:TEXT price:DECIMAL")},
	{Name: "stations", Fields: fields("id:BIGINT city:TEXT lat:DOUBLE lon:DOUBLE")},
	{Name: "t", Fields: fields("a:BIGINT b:BIGINT c:TEXT")},
	{Name: "x/*.csv", File: true, Fields: fields("a:BIGINT \u00fc:TEXT")},
}

func bindText(text string) (string, error) {
	script, err := syntax.Parse(text)
	if err != nil {
		return "", err
	}
	p, err := Bind(text, script, tables, Untyped(map[string]string{"n": "3", "day": "2024-05-06", "text": "abc",
		"current_date": "2024-02-29"}))
	if err != nil {
		return "", err
	}
	var out []string
	for _, s := range p.Statements {
		drawn := fmt.Sprint("kind ", s.Kind)
		if s.Plan != nil {
			if err := plan.Check(functions.Declared, s.Plan); err != nil {
				return "", err
			}
			drawn = sqlplan.Render(s.Plan)
		}
		out = append(out, drawn)
	}
	return strings.Join(out, "\n"), nil
}

// golden runs the statements of a file. Each statement is followed by ---- and its result. go test -update rewrites the
// results.
func golden(t *testing.T, path string, least int) {
	t.Helper()
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	cases := strings.Split(strings.TrimSpace(string(file)), "\n\n")
	for _, c := range cases {
		text, want, _ := strings.Cut(c, "\n----")
		want = strings.TrimPrefix(want, "\n")
		got, err := bindText(text)
		if err != nil {
			got = err.Error()
		}
		if got != want && !*update {
			t.Errorf("%s\n got\n%s\nwant\n%s", text, got, want)
		}
		out.WriteString(text + "\n----\n" + got + "\n\n")
	}
	if len(cases) < least {
		t.Errorf("%d cases; has the form of %s changed?", len(cases), path)
	}
	if *update {
		if err := os.WriteFile(path, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestQ4_Plans(t *testing.T)    { golden(t, "testdata/plans.txt", 60) }
func TestQ4_Messages(t *testing.T) { golden(t, "testdata/errors.txt", 60) }

// Aliases, views and queries of WITH that use each other twice make graphs. As trees, these would have 2 to the power of their depth nodes.
func TestQ4_WhatIsUsedTwiceIsBoundOnce(t *testing.T) {
	var b strings.Builder
	b.WriteString("WITH q0 AS (SELECT 1 AS a)")
	for i := 1; i <= 200; i++ {
		fmt.Fprintf(&b, ", q%d AS (SELECT l.a FROM q%d AS l JOIN q%d AS r USING (a))", i, i-1, i-1)
	}
	b.WriteString(" SELECT * FROM q200")
	start := time.Now()
	if _, err := bindText(b.String()); err != nil {
		t.Error(err)
	}
	b.Reset()
	b.WriteString("SELECT a AS x0")
	for i := 1; i <= 200; i++ {
		fmt.Fprintf(&b, ", x%d + x%d AS x%d", i-1, i-1, i)
	}
	_, err := bindText(b.String() + " FROM t")
	if e := (*syntax.Error)(nil); !errors.As(err, &e) || !strings.Contains(e.Message, "too large an expression") {
		t.Errorf("%v", err)
	}
	b.Reset()
	b.WriteString("SELECT a AS x0")
	for i := 1; i <= 3_000; i++ { // each item is small, but all together are too large
		fmt.Fprintf(&b, ", x%d + 1 AS x%d", i-1, i)
	}
	for text, want := range map[string]string{
		b.String() + " FROM t": "too large an expression",
		"SELECT *" + strings.Repeat(",*", 30_000) + " FROM trips":                                                  "too large an expression",
		"SELECT a" + strings.Repeat("+a", 2_000) + " AS x FROM t WHERE x > 1" + strings.Repeat(" OR x > 1", 6_000): "too large an expression",
		// a query that is named once more has its columns once more
		"WITH w AS (SELECT *" + strings.Repeat(",*", 20) + " FROM trips) SELECT 1 FROM w" + strings.Repeat(" UNION ALL SELECT 1 FROM w",
			1_500): "columns in all",
		"SELECT 1 FROM t" + strings.Repeat(" CROSS JOIN (SELECT 1)",
			300): "more than 256 joins",
	} {
		_, err := bindText(text)
		if e := (*syntax.Error)(nil); !errors.As(err, &e) || !strings.Contains(e.Message, want) {
			t.Errorf("%.40s …: %.200v, want %q", text, err, want)
		}
	}
	chain := "SELECT a" + strings.Repeat(" + a", 3_000) + " AS s, count(*) FROM t GROUP BY s ORDER BY s"
	if _, err := bindText(chain); err != nil {
		t.Error(err)
	}
	if d := time.Since(start); d > 20*time.Second {
		t.Errorf("%v", d)
	}
}

func TestQ5_Literals(t *testing.T) {
	for _, c := range []struct {
		text string
		typ  types.Type
		want any
	}{
		{"2024-02-29", types.Of(types.Date), int64(19782)}, {"2023-02-29", types.Of(types.Date), nil},
		{"1969-12-31", types.Of(types.Date), int64(-1)}, {"2024-1-2", types.Of(types.Date), int64(19724)},
		{"1970-01-01 00:00:01.5", types.Of(types.Timestamp), int64(1500000)}, {"1970-01-02", types.Of(types.Timestamp), int64(86400e6)},
		{"1970-01-01T02:00:00+02:00", types.Of(types.Timestamp), int64(0)},
		{"1970-01-01 00:00:00Z", types.Of(types.Timestamp), int64(0)}, {"1970-01-01 25:00:00", types.Of(types.Timestamp), nil},
		{"1970-01-01 00:01", types.Of(types.Timestamp), int64(60e6)}, {"1969-12-31 23:59:59.999999", types.Of(types.Timestamp), int64(-1)},
		{"1.005", types.DecimalOf(9, 2), int64(101)}, {"-1.005", types.DecimalOf(9, 2), int64(-101)},
		{"1.0049", types.DecimalOf(9, 2), int64(100)}, {"99999999.99", types.DecimalOf(9, 2), nil}, {"1e1000000000", types.DecimalOf(9, 2), nil},
		{"1/2", types.DecimalOf(9, 2), nil},
		{" 12 ", types.Of(types.BigInt), int64(12)}, {"9223372036854775808", types.Of(types.BigInt), nil},
		{"1.5e3", types.Of(types.Double), 1500.0}, {"0x10", types.Of(types.Double), nil},
		{"Yes", types.Of(types.Bool), true}, {"nein", types.Of(types.Bool), nil},
		{"1 day 2 hours", types.Of(types.Interval), plan.Interval{Days: 1, Micros: 7200e6}}, {"3 months 1 year", types.Of(types.Interval),
			plan.Interval{Months: 15}},
		{"2 centuries", types.Of(types.Interval), plan.Interval{Months: 2400}}, {"01:02:03", types.Of(types.Interval),
			plan.Interval{Micros: 3723e6}},
		{"-2 weeks", types.Of(types.Interval), plan.Interval{Days: -14}}, {"1.5 days", types.Of(types.Interval), nil},
		{"9999999999 days", types.Of(types.Interval), nil}, {"9223372036854775807 hours", types.Of(types.Interval), nil},
		{"5", types.Of(types.Interval), nil}, {"", types.Of(types.Interval), nil},
	} {
		got, ok := parseLiteral(c.text, c.typ)
		if ok != (c.want != nil) || ok && got != c.want {
			t.Errorf("%q as %s: %v, %t; want %v", c.text, c.typ, got, ok, c.want)
		}
	}
}

func FuzzBind(f *testing.F) {
	for _, path := range []string{"testdata/plans.txt", "testdata/errors.txt"} {
		file, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		for _, c := range strings.Split(strings.TrimSpace(string(file)), "\n\n") {
			text, _, _ := strings.Cut(c, "\n----")
			f.Add(text)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		script, err := syntax.Parse(text)
		if err != nil {
			return
		}
		if _, err := Bind(text, script, tables, nil); err != nil {
			if e := (*syntax.Error)(nil); !errors.As(err, &e) {
				t.Fatalf("%q: %v", text, err)
			}
		}
	})
}
