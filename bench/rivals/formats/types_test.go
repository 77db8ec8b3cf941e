package formats

import (
	"bytes"
	"database/sql"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"posta.dev/posta/analyses"
	"posta.dev/posta/analyses/local"
	"posta.dev/posta/analyses/sql/catalog"
	"posta.dev/posta/analyses/sql/split"
	"posta.dev/posta/client/source/parquet"
)

// kind is a type that DuckDB writes: values of it, the type that this project should see ("" if it should refuse the column), and, if the
// texts of the values differ, how DuckDB gives the text that is compared.
type kind struct{ name, values, want, text string }

const asDouble = "%s::DOUBLE::VARCHAR"

// kinds are the types that DuckDB 1.5 writes to Parquet. HUGEINT and UHUGEINT it writes as DOUBLE. This project reads a FLOAT by its
// shortest digits. DuckDB gives a DECIMAL without whole digits no 0 before the point.
var kinds = []kind{
	{"BOOLEAN", "true, false, NULL", "BOOLEAN", ""},
	{"TINYINT", "-128, 127, NULL, 0", "BIGINT", ""}, {"SMALLINT", "-32768, 32767, NULL, 7", "BIGINT", ""},
	{"INTEGER", "-2147483648, 2147483647, NULL", "BIGINT", ""},
	{"BIGINT", "-9223372036854775808, 9223372036854775807, NULL, 7", "BIGINT", ""},
	{"UTINYINT", "0, 255, NULL", "BIGINT", ""}, {"USMALLINT", "0, 65535, NULL", "BIGINT", ""},
	{"UINTEGER", "0, 4294967295, NULL", "BIGINT", ""},
	{"UBIGINT", "0, 9223372036854775807, NULL", "BIGINT", ""}, {"HUGEINT", "0, -5, NULL, 170141183460469231731687303715884105727", "DOUBLE",
		asDouble}, {"UHUGEINT", "0, 5, NULL", "DOUBLE", asDouble},
	{"FLOAT", "0.5, -0.25, 'nan', 'inf', '-inf', '-0.0', NULL, 3.4028234663852886e38", "DOUBLE", ""},
	{"DOUBLE", "1, 2, 'nan', 'inf', '-inf', '-0.0', 0.1, 1.7976931348623157e308, 5e-324, NULL", "DOUBLE", ""},
	{"DECIMAL(1, 0)", "-9, 9, NULL", "DECIMAL(1, 0)", ""}, {"DECIMAL(4, 1)", "-999.9, 999.9, 0, NULL", "DECIMAL(4, 1)", ""},
	{"DECIMAL(9, 9)", "-0.999999999, 0.000000001, NULL", "DECIMAL(9, 9)", "%s::DECIMAL(10, 9)::VARCHAR"},
	{"DECIMAL(18, 2)", "9999999999999999.99, -9999999999999999.99, 0.01, NULL", "DECIMAL(18, 2)", ""}, {"DECIMAL(19, 0)", "1, NULL", "", ""},
	{"DECIMAL(38, 5)", "1.5, NULL", "", ""},
	{"DATE", "'0001-01-01', '2024-02-29', '9999-12-31', '12345-06-07', '0045-01-02 (BC)', NULL", "DATE", ""},
	{"TIME", "'00:00:00', '23:59:59.999999', '12:30:00.5', NULL", "TEXT", ""},
	{"TIMESTAMP", "'1969-12-31 23:59:59.999999', '2024-02-29 12:30:00', '0045-01-02 (BC) 00:00:01', '12345-06-07 01:02:03.5', NULL",
		"TIMESTAMP", ""},
	{"TIMESTAMP_S", "'1969-12-31 23:59:59', '2024-02-29 12:30:00', NULL", "TIMESTAMP", ""},
	{"TIMESTAMP_MS", "'1969-12-31 23:59:59.999', '2024-02-29 12:30:00', NULL", "TIMESTAMP", ""},
	{"TIMESTAMP_NS", "'1969-12-31 23:59:59.999999', '2024-02-29 12:30:00', NULL", "TIMESTAMP", "%s::TIMESTAMP::VARCHAR"},
	{"TIMESTAMPTZ", "'1969-12-31 23:59:59.5+00', '2024-02-29 12:30:00+02', NULL", "TIMESTAMP", "(%s AT TIME ZONE 'UTC')::VARCHAR"},
	{"VARCHAR", "'', 'x', 'grüße', '007', 'NaN', NULL", "TEXT", ""}, {"ENUM('a', 'b')", "'a', 'b', NULL", "TEXT", ""},
	{"UUID", "'00000000-0000-0000-0000-000000000000', 'ffffffff-1234-5678-9abc-def012345678', NULL", "TEXT", ""},
	{"BLOB", "'abc', '', NULL", "TEXT", ""}, {"BIT", "'101', NULL", "TEXT", ""},
	{"INTERVAL", "INTERVAL '1' DAY, NULL", "", ""}, {"INTEGER[]", "[1, NULL], [], NULL", "", ""}, {"INTEGER[2]", "[1, 2], NULL", "", ""},
	{"MAP(VARCHAR, INTEGER)", "MAP {'a': 1}, NULL", "", ""},
	{"STRUCT(a INTEGER)[]", "[{'a': 1}], NULL", "", ""},
}

// typed returns the table of a file as a statement sees it, with one column c and whatever is beside it.
func typed(t *testing.T, file []byte) catalog.Table {
	t.Helper()
	columns, rows, err := parquet.Columns(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	table := catalog.Table{Name: "t", Files: "t.csv", Rows: rows}
	for _, c := range columns {
		table.Columns = append(table.Columns, catalog.Column{Name: c.Name, Type: c.Type, Typed: true})
	}
	return table
}

// answer answers a statement over a file, as texts; NULL is nil.
func answer(file []byte, table catalog.Table, text string) (rows [][]any, err error) {
	a, err := split.Analysis(&split.Plan{Text: text, Tables: []catalog.Table{table}})
	if err != nil {
		return nil, err
	}
	got, err := local.Run(a, fstest.MapFS{"t.csv": &fstest.MapFile{Data: file}},
		local.Options{Cut: func(s *analyses.Stream, in io.Reader, chunkBytes, maxRecord int) (local.Cutter, error) {
			return parquet.NewCutter(bytes.NewReader(file), int64(len(file)), s.Columns, s.Comma, chunkBytes, maxRecord)
		}})
	if err != nil {
		return nil, err
	}
	if n := got.Rejected[0].Rows; n > 0 {
		return nil, fmt.Errorf("%d rows are rejected", n)
	}
	return got.Queries[0].Rows, nil
}

// duck answers a statement by DuckDB, as texts.
func duck(t *testing.T, db *sql.DB, text string) (rows []string) {
	t.Helper()
	found, err := db.Query(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	defer func() { _ = found.Close() }()
	names, err := found.Columns()
	if err != nil {
		t.Fatal(err)
	}
	for found.Next() {
		cells, into := make([]sql.NullString, len(names)), make([]any, len(names))
		for i := range cells {
			into[i] = &cells[i]
		}
		if err := found.Scan(into...); err != nil {
			t.Fatal(err)
		}
		var texts []string
		for _, c := range cells {
			if !c.Valid {
				c.String = "NULL"
			}
			texts = append(texts, c.String)
		}
		rows = append(rows, strings.Join(texts, "|"))
	}
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
	return rows
}

func texts(rows [][]any) (all []string) {
	for _, row := range rows {
		var cells []string
		for _, v := range row {
			if v == nil {
				v = "NULL"
			}
			cells = append(cells, fmt.Sprint(v))
		}
		all = append(all, strings.Join(cells, "|"))
	}
	return all
}

// TestParquet_TypesAreThoseOfDuckDB writes each type that DuckDB has, with extremes, all NULL and without rows, and compares the types and
// the answers.
func TestParquet_TypesAreThoseOfDuckDB(t *testing.T) {
	db, dir := open(t), t.TempDir()
	do(t, db, "SET TimeZone = 'UTC'")
	for i, k := range kinds {
		for _, c := range []struct{ name, from string }{
			{"values", "(SELECT unnest([" + k.values + "]::" + k.name + "[]) AS c)"},
			{"all NULL", "(SELECT NULL::" + k.name + " AS c FROM range(3))"}, {"no rows", "(SELECT NULL::" + k.name + " AS c WHERE false)"},
		} {
			name := filepath.Join(dir, fmt.Sprint(i, c.name, ".parquet"))
			do(t, db, "COPY (SELECT row_number() OVER () AS i, c FROM "+c.from+") TO '"+name+"' (FORMAT parquet)")
			file, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			table := typed(t, file)
			if k.want == "" {
				if got := table.Columns[1].Type.String(); got != "NULL" {
					t.Errorf("%s, %s: it is %s, and should not be read", k.name, c.name, got)
				}
				if got, err := answer(file, table, "SELECT count(*) FROM t"); err != nil || len(got) != 1 {
					t.Errorf("%s, %s: rows beside it are not counted: %v, %v", k.name, c.name, got, err)
				}
				if _, err := answer(file, table, "SELECT * FROM t"); err == nil || !strings.Contains(err.Error(), "the column c is not read") {
					t.Errorf("%s, %s: * leaves it out: %v", k.name, c.name, err)
				}
				continue
			}
			if got := table.Columns[1].Type.String(); got != k.want {
				t.Errorf("%s, %s: it is %s, and should be %s", k.name, c.name, got, k.want)
				continue
			}
			text := k.text
			if text == "" {
				text = "%s::VARCHAR"
			}
			for _, q := range []string{"SELECT %s FROM %s ORDER BY i", "SELECT %s FROM %s WHERE c IS NOT NULL ORDER BY c DESC, i"} {
				want := duck(t, db, fmt.Sprintf(q, fmt.Sprintf(text, "c"), "'"+name+"'"))
				got, err := answer(file, table, fmt.Sprintf(q, "c::TEXT", "t"))
				if g := texts(got); err != nil || strings.Join(g, "\n") != strings.Join(want, "\n") {
					t.Errorf("%s, %s, %s:\n%q, %v\nof DuckDB\n%q", k.name, c.name, q, g, err, want)
				}
			}
			const q = "SELECT count(c), count(DISTINCT c), count(*) FROM "
			want := duck(t, db, q+"'"+name+"'")
			if got, err := answer(file, table, q+"t"); err != nil || strings.Join(texts(got), "\n") != strings.Join(want, "\n") {
				t.Errorf("%s, %s, %s: %v, %v, of DuckDB %v", k.name, c.name, q, got, err, want)
			}
		}
	}
}

// TestParquet_WideFilesOfDuckDB: files with DuckDB's own row groups of 122,880 rows, of many columns, all of which are read.
func TestParquet_WideFilesOfDuckDB(t *testing.T) {
	db, dir := open(t), t.TempDir()
	for name, c := range map[string]struct {
		columns int
		value   string
	}{"numbers": {120, "(i * 7919 + %d)::BIGINT"}, "texts": {24, "md5((i + %d)::VARCHAR)"}} {
		var list, sums, lengths []string
		for i := range c.columns {
			list = append(list, fmt.Sprintf("("+c.value+") AS c%d", i, i))
			sums = append(sums, fmt.Sprintf("max(c%d)", i))
			lengths = append(lengths, fmt.Sprintf("min(c%d)", i))
		}
		path := filepath.Join(dir, name+".parquet")
		do(t, db, "COPY (SELECT "+strings.Join(list, ", ")+" FROM range(130000) t(i)) TO '"+path+"' (FORMAT parquet)")
		file, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		q := "SELECT count(*), " + strings.Join(append(sums, lengths...), ", ") + " FROM "
		want := duck(t, db, q+"'"+path+"'")
		if got, err := answer(file, typed(t, file), q+"t"); err != nil || strings.Join(texts(got), "\n") != strings.Join(want, "\n") {
			t.Errorf("%s: %.200v, %v\nof DuckDB %.200v", name, texts(got), err, want)
		}
	}
}
