//go:build postgres

package postgres

import (
	"context"
	"errors"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"posta.dev/posta/analyses"
	"posta.dev/posta/analyses/bikes"
	"posta.dev/posta/analyses/flights"
	"posta.dev/posta/analyses/local"
	"posta.dev/posta/analyses/memes"
	"posta.dev/posta/analyses/movies"
	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/client"
	"posta.dev/posta/internal/gen"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/test/await"
	"posta.dev/posta/test/postgrestest"
)

func start(t *testing.T) *postgrestest.Server {
	t.Setenv("PGPASSWORD", postgrestest.Password)
	return postgrestest.Start(t)
}

func at(t *testing.T, url string) *Target {
	t.Helper()
	target, err := Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	return target
}

func write(t *testing.T, target *Target, a *client.Answer) Written {
	t.Helper()
	w, err := target.Write(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// ask runs a statement over a connection of its own.
func ask(t *testing.T, target *Target, query string, args ...any) [][]any {
	t.Helper()
	cfg, err := pgx.ParseConfig("")
	if err != nil {
		t.Fatal(err)
	}
	cfg.Config = *target.cfg.Copy()
	conn, err := pgx.ConnectConfig(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	rows, err := conn.Query(t.Context(), query, args...)
	if err != nil {
		t.Fatal(err)
	}
	all, err := pgx.CollectRows(rows, func(r pgx.CollectableRow) ([]any, error) { return r.Values() })
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return all
}

func count(t *testing.T, target *Target, table string) int64 {
	t.Helper()
	return ask(t, target, "select count(*) from "+target.name(table))[0][0].(int64)
}

// readsBack checks that a table holds the rows of a query, in their order.
func readsBack(t *testing.T, target *Target, id session.ID, table string, q *client.Table) {
	t.Helper()
	columns := make([]string, len(q.Columns))
	for i, c := range q.Columns {
		columns[i] = quoted(c)
	}
	got := ask(t, target, "select "+strings.Join(columns, ", ")+" from "+target.name(table)+" where session_id = $1 order by row_number",
		id.String())
	if len(got) != q.Len() {
		t.Fatalf("%s has %d rows, want %d", table, len(got), q.Len())
	}
	i := 0
	for row := range q.All() {
		for c, v := range row {
			same := false
			switch is := got[i][c].(type) {
			case int64:
				same = v.Kind == protocol.Int && is == v.Int
			case float64:
				same = v.Kind == protocol.Int && is == float64(v.Int) || v.Kind == protocol.Float &&
					(math.Float64bits(is) == math.Float64bits(v.Float) || math.IsNaN(is) && math.IsNaN(v.Float))
			case string:
				same = v.Kind == protocol.Text && is == protocol.UTF8(strings.ReplaceAll(v.Text, "\x00", "\uFFFD"))
			}
			if !same {
				t.Errorf("%s, row %d, %s is %v, want %v", table, i+1, q.Columns[c], got[i][c], v)
			}
		}
		i++
	}
}

func TestPostgres_AnswersReadBack(t *testing.T) {
	server := start(t)
	target := at(t, server.URL(""))
	if err := target.Prepare(t.Context(), &client.Answer{}); err != nil {
		t.Fatal(err)
	}
	for i, c := range []struct {
		analysis *analyses.Analysis
		generate func(gen.Dir, int, uint64) error
	}{{bikes.New(), gen.Bikes}, {flights.New(), gen.Flights}, {movies.New(), gen.Movies}, {memes.New(), gen.Memes}} {
		dir := t.TempDir()
		if err := c.generate(gen.OnDisk(dir), 10_000, 5); err != nil {
			t.Fatal(err)
		}
		found, err := local.Run(c.analysis, os.DirFS(dir), local.Options{})
		if err != nil {
			t.Fatal(err)
		}
		a := &client.Answer{Analysis: c.analysis.Name, Session: session.ID{1: byte(i)}}
		total := int64(0)
		for _, q := range found.Queries {
			rows := protocol.NewRows(len(q.Columns))
			for _, row := range q.Rows {
				cells := make([]protocol.Value, len(row))
				for i, v := range row {
					if cells[i], err = protocol.ValueOf(v); err != nil {
						t.Fatal(err)
					}
				}
				if err := rows.Add(cells...); err != nil {
					t.Fatal(err)
				}
			}
			total += int64(len(q.Rows))
			a.Queries = append(a.Queries, client.NewTable(q.Name, q.Columns, rows))
		}
		if w := write(t, target, a); w.Rows != total || total == 0 || w.Already || len(w.Tables) != len(a.Queries) {
			t.Errorf("%s: %+v, want %d rows", a.Analysis, w, total)
		}
		for i := range a.Queries {
			q := &a.Queries[i]
			name, err := target.tableOf(a, q)
			if err != nil {
				t.Fatal(err)
			}
			if q.Len() > 0 {
				readsBack(t, target, a.Session, name, q)
			}
		}
	}
	odd := tableOf(t, "q", []string{`Odd "name"`, "x", "n"})
	odd = tableOf(t, "q", odd.Columns,
		[]protocol.Value{written("\\.\n\t\r\\N\xff'\""), fraction(math.NaN()), whole(math.MinInt64)},
		[]protocol.Value{written(""), fraction(math.Inf(-1)), whole(math.MaxInt64)},
		[]protocol.Value{written("NULL"), fraction(math.Copysign(0, -1)), whole(0)},
		[]protocol.Value{written("é\x00"), fraction(math.SmallestNonzeroFloat64), whole(-1)})
	a := &client.Answer{Session: session.ID{2: 2}, Queries: []client.Table{odd}}
	named := at(t, server.URL(`Odd "table"`))
	if w := write(t, named, a); w.Changed != 2 {
		t.Errorf("%+v, want 2 texts that are not as they were: one is not UTF-8, and one holds NUL", w)
	}
	readsBack(t, named, a.Session, `Odd "table"`, &a.Queries[0])
}

// TestPostgres_WrittenOnce: this holds for two runs one after the other, for two at the same time, and under another name.
func TestPostgres_WrittenOnce(t *testing.T) {
	server := start(t)
	target := at(t, server.URL("trips"))
	a := &client.Answer{Session: session.ID{3: 3}, Queries: []client.Table{
		tableOf(t, "q", []string{"n"}, []protocol.Value{whole(1)}, []protocol.Value{whole(2)})}}
	var wg sync.WaitGroup
	firsts := make(chan Written, 8)
	for range cap(firsts) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			w, err := target.Write(context.Background(), a)
			if err != nil {
				t.Error(err)
			} else if !w.Already {
				firsts <- w
			}
		}()
	}
	wg.Wait()
	if len(firsts) != 1 || count(t, target, "trips") != 2 {
		t.Errorf("%d of 8 have written, and there are %d rows", len(firsts), count(t, target, "trips"))
	}
	if w := write(t, target, a); !w.Already || w.Rows != 0 {
		t.Errorf("once more: %+v", w)
	}
	other := *a
	other.Session = session.ID{3: 4}
	if w := write(t, target, &other); w.Already || count(t, target, "trips") != 4 {
		t.Errorf("another session: %+v, %d rows", w, count(t, target, "trips"))
	}
	none := &client.Answer{Session: session.ID{3: 5}, Queries: []client.Table{client.NewTable("q", []string{"n"})}}
	if w := write(t, at(t, server.URL("empty")), none); w.Rows != 0 || w.Already {
		t.Errorf("no rows: %+v", w)
	}
	if noted := ask(t, target, "select table_name, rows from posta_sessions order by 1, 2"); !reflect.DeepEqual(noted,
		[][]any{{"empty", int64(0)}, {"trips", int64(2)}, {"trips", int64(2)}}) {
		t.Errorf("noted is %v", noted)
	}
}

// copied waits until rows are being copied.
func copied(t *testing.T, target *Target) {
	t.Helper()
	await.Until(t, "rows are being copied", func() bool {
		rows := ask(t, target, "select tuples_processed from pg_stat_progress_copy")
		return len(rows) > 0 && rows[0][0].(int64) > 0
	})
}

func TestPostgres_AKilledClientIsRunAgain(t *testing.T) {
	server := start(t)
	target := at(t, server.URL("large"))
	for range 2 {
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), childURL+"="+server.URL("large"))
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		kill := sync.OnceFunc(func() {
			_ = c.Process.Kill()
			_ = c.Wait()
		})
		defer kill()
		copied(t, target)
		kill()
		if n := count(t, target, "large"); n != 0 {
			t.Errorf("after the kill there are %d rows", n)
		}
	}
	if w := write(t, target, large()); w.Already || count(t, target, "large") != largeRows {
		t.Errorf("%+v, %d rows", w, count(t, target, "large"))
	}
	if w := write(t, target, large()); !w.Already || count(t, target, "large") != largeRows {
		t.Errorf("once more: %+v, %d rows", w, count(t, target, "large"))
	}
}

func TestPostgres_AKilledServerIsWrittenToAgain(t *testing.T) {
	server := start(t)
	target := at(t, server.URL("large"))
	said := make(chan error, 1)
	go func() {
		_, err := target.Write(context.Background(), large())
		said <- err
	}()
	copied(t, target)
	server.Kill()
	if err := <-said; err == nil || strings.Contains(err.Error(), postgrestest.Password) {
		t.Fatalf("the writer says %v", err)
	}
	if err := target.Prepare(t.Context(), &client.Answer{}); err == nil ||
		!strings.Contains(err.Error(), "is the server up, and may you connect?") {
		t.Errorf("no server: %v", err)
	}
	server.Run(t)
	if w := write(t, target, large()); w.Already || count(t, target, "large") != largeRows {
		t.Errorf("%+v, %d rows", w, count(t, target, "large"))
	}
}

func TestPostgres_WhatDoesNotFitIsSaid(t *testing.T) {
	server := start(t)
	target := at(t, server.URL("t"))
	a := &client.Answer{Session: session.ID{4: 4}, Queries: []client.Table{tableOf(t, "q", []string{"n"}, []protocol.Value{written("text")})}}
	for statement, says := range map[string]string{
		"create table t (session_id uuid, row_number bigint, n bigint)":                       `table t has column "n" of type bigint, and the answer needs text`,
		"create table t (session_id uuid, row_number bigint, other text)":                     `table t has no column "n" of type text`,
		"create table t (session_id uuid, n text)":                                            `table t has no column "row_number" of type bigint`,
		"create table t (session_id uuid, row_number bigint, n text check (n = 'x'))":         "violates check constraint",
		"create table t (session_id uuid, row_number bigint, n text, more bigint not null)":   "null value in column",
		"create table t (session_id uuid, row_number bigint, n varchar(1), more bigint null)": "value too long",
	} {
		ask(t, target, "drop table if exists t")
		ask(t, target, statement)
		_, err := target.Write(t.Context(), a)
		if err == nil || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), "write answers to postgres://posta@") {
			t.Errorf("%s: %v", statement, err)
		}
	}
	ask(t, target, "drop table t")
	ask(t, target, "create table t (session_id uuid, row_number bigint, n varchar(9), more bigint)")
	write(t, target, a)
	for _, url := range []string{server.URL("t") + "&dbname=none", strings.Replace(server.URL("t"), "posta@", "nobody@", 1)} {
		if err := at(t, url).Prepare(t.Context(), &client.Answer{}); err == nil {
			t.Errorf("%s: no error", url)
		}
	}
}

// TestPostgres_OtherEncodings: a database that is not in UTF-8 gets the same characters, or an error.
func TestPostgres_OtherEncodings(t *testing.T) {
	server := start(t)
	ask(t, at(t, server.URL("")), "create database latin encoding 'LATIN1' template template0")
	target := at(t, server.URL("t")+"&dbname=latin")
	answer := func(id byte, s string) *client.Answer {
		return &client.Answer{Session: session.ID{5: id}, Queries: []client.Table{tableOf(t, "q", []string{"s"}, []protocol.Value{written(s)})}}
	}
	write(t, target, answer(1, "Montréal"))
	if got := ask(t, target, "select octet_length(convert_to(s, 'LATIN1')), s from t"); !reflect.DeepEqual(got,
		[][]any{{int32(8), "Montréal"}}) {
		t.Errorf("the table has %v", got)
	}
	if _, err := target.Write(t.Context(), answer(2, "東京")); err == nil ||
		!strings.Contains(err.Error(), `has no equivalent in encoding "LATIN1"`) {
		t.Errorf("a text that the database cannot hold: %v", err)
	}
}

// TestPostgres_Passwords: they are found as libpq finds them, and wrong ones are not shown.
func TestPostgres_Passwords(t *testing.T) {
	server := start(t)
	t.Setenv("PGPASSWORD", "")
	file := filepath.Join(t.TempDir(), "pgpass")
	if err := os.WriteFile(file, []byte("*:*:*:posta:"+postgrestest.Password+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PGPASSFILE", file)
	if err := at(t, server.URL("t")).Prepare(t.Context(), &client.Answer{}); err != nil {
		t.Errorf("with a file of passwords: %v", err)
	}
	const wrong = "wr0ng&secret"
	t.Setenv("PGPASSFILE", "/nonexistent")
	t.Setenv("PGPASSWORD", wrong)
	inURL := strings.Replace(server.URL("t"), "posta@", "posta:wr0ng%26secret@", 1)
	for _, url := range []string{server.URL("t"), inURL} {
		err := at(t, url).Prepare(t.Context(), &client.Answer{})
		if err == nil || !strings.Contains(err.Error(), "password authentication failed") || strings.Contains(err.Error(), wrong) ||
			strings.Contains(err.Error(), "wr0ng%26secret") {
			t.Errorf("a wrong password: %v", err)
		}
		if errors.Is(err, ErrUse) {
			t.Errorf("%v is not a matter of use", err)
		}
	}
}

// TestPostgres_TypesAreThoseOfTheStatement: a table that is made has the types of the statement, whatever the values are, so the answer of
// another day fits, too. A table that exists takes values where they keep their meaning; what can never fit is refused before there is an
// answer, and a value that does not fit when it is written.
func TestPostgres_TypesAreThoseOfTheStatement(t *testing.T) {
	server := start(t)
	null := protocol.Value{Kind: protocol.Null}
	names := []string{"i", "p", "x", "d", "t", "b", "s"}
	of := []types.Type{types.Of(types.BigInt), types.DecimalOf(18, 4), types.Of(types.Double), types.Of(types.Date),
		types.Of(types.Timestamp), types.Of(types.Bool), types.Of(types.Text)}
	answer := func(id byte, rows ...[]protocol.Value) *client.Answer {
		a := &client.Answer{Session: session.ID{4: id}, Queries: []client.Table{tableOf(t, "q", names, rows...)}}
		a.Queries[0].Types = of
		return a
	}
	nothing := []protocol.Value{null, null, null, null, null, null, null}
	some := []protocol.Value{whole(-7), written("-12345678901234.0500"), fraction(-0.015625), written("1969-12-31"),
		written("1969-12-31 23:59:59.000001"), {Kind: protocol.Bool, Int: 1}, written("é")}
	odd := []protocol.Value{whole(0), written("0.0000"), fraction(10000), written("0045-01-02 (BC)"), written("12345-01-02 00:00:00"),
		{Kind: protocol.Bool}, written("")}
	const shown = "select i::text, p::text, x::text, d::text, t::text, b::text, s::text from "
	want := [][]any{{"-7", "-12345678901234.0500", "-0.015625", "1969-12-31", "1969-12-31 23:59:59.000001", "true", "é"},
		{"0", "0.0000", "10000", "0045-01-02 BC", "12345-01-02 00:00:00", "false", ""}}

	made := at(t, server.URL("made"))
	write(t, made, answer(1))
	write(t, made, answer(2, nothing))
	write(t, made, answer(3, some, odd))
	if got := ask(t, made, shown+"made where i is not null order by i"); !reflect.DeepEqual(got, want) {
		t.Errorf("%v", got)
	}
	if got := ask(t, made, "select string_agg(format_type(atttypid, atttypmod), ' ' order by attnum) from pg_attribute where attrelid = "+
		"'made'::regclass and attnum > 2"); got[0][0] !=
		"bigint numeric(18,4) double precision date timestamp without time zone boolean text" {
		t.Errorf("the types are %v", got)
	}
	own := "session_id uuid, row_number bigint"
	ask(t, made, "create table theirs ("+own+", i integer, p numeric, x numeric, d timestamp, t timestamptz, b boolean, s character varying)")
	ask(t, made, "create table former ("+own+", i bigint, p text, x double precision, d text, t text, b boolean, s text)")
	for _, table := range []string{"theirs", "former"} {
		if err := at(t, server.URL(table)).Prepare(t.Context(), answer(4)); err != nil {
			t.Error(err)
		}
		write(t, at(t, server.URL(table)), answer(5+table[0], some))
	}
	want[0][3], want[0][4] = "1969-12-31 00:00:00", "1969-12-31 23:59:59.000001+00"
	if got := ask(t, made,
		"select i::text, p::text, x::text, d::text, (t at time zone 'UTC')::text || '+00', b::text, "+
			"s::text from theirs"); !reflect.DeepEqual(got, want[:1]) {
		t.Errorf("%v", got)
	}
	for columns, says := range map[string]string{
		"i text, p numeric, x double precision, d date, t timestamp, b boolean, s text":         `column "i" of type text, and the answer needs bigint`,
		"i bigint, p numeric(18,2), x double precision, d date, t timestamp, b boolean, s text": `column "p" of type numeric(18,2), and the answer needs numeric(18, 4)`,
		"i bigint, p numeric, x numeric(9,2), d date, t timestamp, b boolean, s text":           `column "x" of type numeric(9,2), and the answer needs double precision`,
		"i bigint, p numeric, x double precision, d integer, t timestamp, b boolean, s text":    `column "d" of type integer, and the answer needs date`,
		"i bigint, p numeric, x double precision, d date, t date, b boolean, s text":            `column "t" of type date, and the answer needs timestamp without time zone`,
	} {
		ask(t, made, "drop table if exists bad")
		ask(t, made, "create table bad ("+own+", "+columns+")")
		err := at(t, server.URL("bad")).Prepare(t.Context(), answer(6))
		if !errors.Is(err, ErrUse) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", columns, err)
		}
	}
	ask(t, made, "alter table theirs add check (i < 100)")
	for _, c := range []struct {
		row  []protocol.Value
		says string
	}{
		{append([]protocol.Value{whole(1 << 40)}, nothing[1:]...), `row 1: column "i" of type integer does not hold "1099511627776"`},
		{append([]protocol.Value{whole(100)}, nothing[1:]...), "check constraint"},
	} {
		_, err := at(t, server.URL("theirs")).Write(t.Context(), answer(7, c.row))
		if err == nil || !strings.Contains(err.Error(), c.says) || Advice(err) == "" {
			t.Errorf("%v, with the advice %q", err, Advice(err))
		}
	}
	if err := at(t, strings.Replace(server.URL("t"), "/postgres/", "/nowhere/", 1)).Prepare(t.Context(), &client.Answer{}); err == nil ||
		!strings.Contains(Advice(err), "create the database") {
		t.Errorf("%v, with the advice %q", err, Advice(err))
	}
	if advice := Advice(io.ErrUnexpectedEOF); advice != "" {
		t.Errorf("a lost connection has the advice %q", advice)
	}
}
