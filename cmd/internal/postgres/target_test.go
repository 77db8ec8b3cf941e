package postgres

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"posta.dev/posta/client"
	"posta.dev/posta/protocol"
)

func TestURLs(t *testing.T) {
	t.Setenv("PGPASSFILE", "/nonexistent")
	t.Setenv("PGSERVICEFILE", "/nonexistent")
	for text, want := range map[string][4]string{
		"postgres://me@db.example/stats/trips":                    {"stats", "", "trips", "postgres://me@db.example/stats"},
		"postgresql://me:pw@db.example:5433/stats?table=x.trips":  {"stats", "x", "trips", "postgres://me@db.example/stats"},
		"postgres://me@/stats/?host=/run/pg":                      {"stats", "", "", "postgres://me@/run/pg/stats"},
		"postgres://me@h/stats/a.b?sslmode=disable&password=pw":   {"stats", "a", "b", "postgres://me@h/stats"},
		"postgres://me@h/stats?table=Odd%20name&sslmode=disable":  {"stats", "", "Odd name", "postgres://me@h/stats"},
		"postgres://me:p%40ss@h/stats?table=t&connect_timeout=10": {"stats", "", "t", "postgres://me@h/stats"},
	} {
		target, err := Parse(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := [4]string{target.cfg.Database, target.schema, target.table, target.String()}; got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	for _, text := range []string{
		"", "stats", "mysql://h/x", "postgres://me:hush@h/a/b/c", "postgres://me:hush@h/a/b?table=c", "postgres://me:hush@h/a?table=.b",
		"postgres://me:hush@h/a?table=b.",
		"postgres://me:hush@h:port/a", "postgres://me:hush@h/a?sslmode=hush", "postgres://me:hush@h/%zz",
		"postgres://h/a?password=hush&sslmode=none",
	} {
		if target, err := Parse(text); !errors.Is(err, ErrUse) || strings.Contains(err.Error(), "hush") {
			t.Errorf("%q: %v, %v", text, target, err)
		}
	}
}

// TestNoPasswordIsShown: this holds for every text of the driver and the server.
func TestNoPasswordIsShown(t *testing.T) {
	t.Setenv("PGPASSFILE", "/nonexistent")
	t.Setenv("PGPASSWORD", "from the environment")
	target, err := Parse("postgres://me@h/stats/t?sslmode=disable")
	if err != nil {
		t.Fatal(err)
	}
	why := errors.New(`login with "from the environment" failed, or from+the+environment`)
	if err := target.hide(why); strings.Contains(err.Error(), "environment") || !errors.Is(err, why) {
		t.Error(err)
	}
	for text, has := range map[string]bool{"postgres://a:b@h/c": true, "postgres://a@h/c?password=b": true, "postgres://a@h/c": false,
		"postgres://a:b@h/%zz": true} {
		if HasPassword(text) != has {
			t.Errorf("%s has a password: %v", text, !has)
		}
	}
}

func tableOf(t *testing.T, name string, columns []string, all ...[]protocol.Value) client.Table {
	t.Helper()
	rows := protocol.NewRows(len(columns))
	for _, row := range all {
		if err := rows.Add(row...); err != nil {
			t.Fatal(err)
		}
	}
	return client.NewTable(name, columns, rows)
}

func whole(n int64) protocol.Value       { return protocol.Value{Kind: protocol.Int, Int: n} }
func fraction(x float64) protocol.Value  { return protocol.Value{Kind: protocol.Float, Float: x} }
func written(text string) protocol.Value { return protocol.Value{Text: text} }

// typesOf returns the types of the columns that are made for a table.
func typesOf(q *client.Table) (names []string) {
	for _, of := range q.ColumnTypes() {
		names = append(names, made(of))
	}
	return names
}

func TestTypesHoldEveryValue(t *testing.T) {
	q := tableOf(t, "q", []string{"int", "float", "text", "both", "large", "any"},
		[]protocol.Value{whole(math.MinInt64), fraction(math.NaN()), written("é\xff"), whole(exactInt), whole(exactInt + 1), whole(1)},
		[]protocol.Value{whole(1), fraction(1), written(""), fraction(0.5), fraction(0.5), written("x")})
	types := typesOf(&q)
	if want := []string{bigint, double, text, double, text, text}; !reflect.DeepEqual(types, want) {
		t.Errorf("%q, want %q", types, want)
	}
	for what, columns := range map[string][]string{"twice": {"a", "a"}, "ours": {"row_number"}, "long": {strings.Repeat("x", 64)},
		"empty": {""}} {
		a := &client.Answer{Analysis: "a", Queries: []client.Table{client.NewTable("q", columns)}}
		if _, err := (&Target{}).tableOf(a, &a.Queries[0]); !errors.Is(err, ErrUse) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestMain(m *testing.M) {
	child()
	goleak.VerifyTestMain(m)
}
