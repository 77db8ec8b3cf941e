package formats

import (
	"bytes"
	"database/sql"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/duckdb/duckdb-go/v2"

	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/client/source/parquet"
	"posta.dev/posta/protocol"
	"posta.dev/posta/rows/columnar"
	"posta.dev/posta/rows/csv"
)

// fixture names a file for the tests of package parquet that is written, with its rows as CSV.
var fixture = flag.String("fixture", "", "write a file for other tests, `NAME`.parquet and NAME.csv")

func open(t testing.TB) *sql.DB {
	t.Helper()
	db, err := sql.Open("duckdb", "?threads=1")
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func do(t testing.TB, db *sql.DB, query string) {
	t.Helper()
	if _, err := db.Exec(query); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}

// everything is a table with everything that a file may contain, with its columns as this project should see them.
const everything = `CREATE TABLE everything AS SELECT i AS id,
	CASE WHEN i % 7 <> 0 THEN (i * 7919 % 1000 - 500)::INTEGER END AS small, (18446744073709551615 - i)::UBIGINT AS unsigned, i % 3 = 0 AS yes,
	CASE WHEN i % 5 <> 0 THEN i / 7.0 END::DOUBLE AS number, (i / 10.0)::FLOAT AS short,
	CASE WHEN i % 11 <> 0 THEN ['', 'plain', 'with, comma', '"quoted"', e'two\nlines', 'grüße 🌍', e'\x1emark', repeat('long ', 20)][1 + i % 8] || (i // 500)::VARCHAR END AS words,
	DATE '1969-12-01' + (i % 60)::INTEGER AS day, TIMESTAMP '1969-12-31 23:00:00' + to_microseconds(i * 977000001) AS moment,
	(TIMESTAMP '2016-05-05 08:30:00' + to_seconds(i * 60))::TIMESTAMP_S AS seconds,
	((i - 50) / 100.0)::DECIMAL(9, 2) AS price, ((i - 50) * 123456789012 / 1000.0)::DECIMAL(30, 3) AS long,
	CASE WHEN i % 4 <> 0 THEN [i::VARCHAR, NULL, 'c'][1:1 + i % 3] END AS tags, {'x': i / 4.0, 'y': {'z': i}} AS "at", [{'k': i}, {'k': i + 1}] AS points
	FROM range(3000) t(i)`

var columns = []struct{ name, sql string }{
	{"id", "id"}, {"small", "small"}, {"unsigned", "unsigned"}, {"yes", "yes"}, {"number", "number"}, {"short", "short"}, {"words", "words"},
	{"day", "day"}, {"moment", "moment"},
	{"seconds", "seconds"}, {"price", "price"}, {"long", "long"}, {"tags[0]", "tags[1]"}, {"tags[1]", "tags[2]"}, {"tags[2]", "tags[3]"},
	{"at.x", `"at".x`}, {"at.y.z", `"at".y.z`},
	{"points[1].k", "points[2].k"},
}

// rowsOf returns DuckDB's rows, as CSV.
func rowsOf(t *testing.T, db *sql.DB) []byte {
	t.Helper()
	var list []string
	for _, c := range columns {
		expression := "(" + c.sql + ")::VARCHAR"
		switch c.name {
		case "number", "short", "at.x":
			expression = "regexp_replace(" + expression + ", '\\.0$', '')"
		}
		list = append(list, expression)
	}
	found, err := db.Query("SELECT " + strings.Join(list, ", ") + " FROM everything ORDER BY id")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = found.Close() }()
	var out []byte
	for found.Next() {
		cells := make([]sql.NullString, len(columns))
		into := make([]any, len(cells))
		for i := range cells {
			into[i] = &cells[i]
		}
		if err := found.Scan(into...); err != nil {
			t.Fatal(err)
		}
		fields := make([][]byte, len(cells))
		for i, c := range cells {
			if c.Valid {
				fields[i] = []byte(c.String) // an empty text; NULL is nil
			}
		}
		out = append(csv.AppendRecord(out, fields, ','), '\n')
	}
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

// read returns this project's rows.
func read(name string, wanted []csv.Column) (_ []byte, err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	c, err := parquet.NewCutter(f, info.Size(), wanted, ',', 256<<10, 16<<20)
	if err != nil {
		return nil, err
	}
	line, err := c.Header()
	if err != nil {
		return nil, err
	}
	header, err := csv.ParseHeader(line, ',')
	if err != nil {
		return nil, err
	}
	mapping, err := header.Find(wanted)
	if err != nil {
		return nil, err
	}
	var out []byte
	rows := columnar.NewScanner(mapping)
	for {
		chunk, at, err := c.Next(nil)
		if err == io.EOF {
			return out, nil
		}
		if err == nil {
			err = rows.Reset(chunk, at)
		}
		if err != nil {
			return nil, err
		}
		for rows.Next() {
			out = append(append(out, rows.Row()...), '\n')
		}
	}
}

func TestParquet_FilesOfDuckDBAreRead(t *testing.T) {
	db, dir := open(t), t.TempDir()
	do(t, db, everything)
	want := rowsOf(t, db)
	var wanted []csv.Column
	for _, c := range columns {
		wanted = append(wanted, csv.Column{Name: c.name})
	}
	for _, codec := range []string{"uncompressed", "snappy", "gzip", "zstd", "lz4_raw"} {
		name := filepath.Join(dir, codec+".parquet")
		do(t, db, fmt.Sprintf("COPY everything TO '%s' (FORMAT parquet, CODEC '%s', ROW_GROUP_SIZE 2048)", name, codec))
		got, err := read(name, wanted)
		if err != nil {
			t.Errorf("%s: %v", codec, err)
			continue
		}
		g, w := bytes.SplitAfter(got, []byte("\n")), bytes.SplitAfter(want, []byte("\n"))
		for i := range w {
			if i >= len(g) || !bytes.Equal(g[i], w[i]) {
				t.Errorf("%s: %d of %d lines; line %d is %q and should be %q", codec, len(g), len(w), i+1, g[min(i, len(g)-1)], w[i])
				break
			}
		}
	}
	if *fixture != "" && !t.Failed() {
		do(t, db, fmt.Sprintf("COPY (FROM everything LIMIT 100) TO '%s.parquet' (FORMAT parquet, CODEC 'zstd')", *fixture))
		do(t, db, "DELETE FROM everything WHERE id >= 100")
		if err := os.WriteFile(*fixture+".csv", rowsOf(t, db), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestParquet_DuckDBReadsWhatIsWritten(t *testing.T) {
	name := filepath.Join(t.TempDir(), "out.parquet")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	w := parquet.NewWriter(f, []string{"n", "x", "text, \"odd\"", "b"},
		[]types.Type{types.Of(types.BigInt), types.Of(types.Double), types.Of(types.Text), types.Of(types.Bool)})
	const n = 300_000 // several row groups
	for i := range n {
		b := protocol.Value{Kind: protocol.Bool, Int: int64(i/3) % 2}
		if i%5 == 0 {
			b = protocol.Value{Kind: protocol.Null}
		}
		err := w.Row([]protocol.Value{{Kind: protocol.Int, Int: math.MinInt64 + int64(i)}, {Kind: protocol.Float, Float: float64(i) / 7},
			{Text: fmt.Sprintf("grüße\n%d", i)}, b})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	db := open(t)
	var rows, wrong, groups int64
	var kinds string
	query := fmt.Sprintf(
		`SELECT count(*), count(*) FILTER (WHERE n <> -9223372036854775808 + i OR x <> i / 7.0::DOUBLE OR "text, ""odd""" <> e'grüße\n' || i OR b IS DISTINCT FROM CASE WHEN i %% 5 <> 0 THEN (i // 3) %% 2 = 1 END), any_value(typeof(n) || typeof(x) || typeof("text, ""odd""") || typeof(b))
		FROM (SELECT *, (row_number() OVER ()) - 1 AS i FROM '%s')`, name)
	if err := db.QueryRow(query).Scan(&rows, &wrong, &kinds); err != nil {
		t.Fatal(err)
	}
	if err := db.QueryRow(fmt.Sprintf("SELECT count(DISTINCT row_group_id) FROM parquet_metadata('%s')", name)).Scan(&groups); err != nil {
		t.Fatal(err)
	}
	var some, bounds int64 // with statistics that exclude row groups
	query = fmt.Sprintf(`SELECT count(*) FROM '%s' WHERE n >= -9223372036854775808 + 290000 AND x > 41500 AND "text, ""odd""" >= 'grüße'`,
		name)
	if err := db.QueryRow(query).Scan(&some); err != nil {
		t.Fatal(err)
	}
	query = fmt.Sprintf("SELECT count(*) FROM parquet_metadata('%s') WHERE stats_min_value IS NOT NULL AND stats_max_value IS NOT NULL AND "+
		"stats_null_count = 0", name)
	if err := db.QueryRow(query).Scan(&bounds); err != nil {
		t.Fatal(err)
	}
	if some != n-41500*7-1 || bounds != 3*groups {
		t.Errorf("%d rows fit, and statistics have %d bounds in %d row groups", some, bounds, groups)
	}
	if rows != n || wrong != 0 || kinds != "BIGINTDOUBLEVARCHARBOOLEAN" || groups < 2 {
		t.Errorf("%d rows, %d of them wrong, of %s, in %d row groups", rows, wrong, kinds, groups)
	}
}
