package out

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"

	"posta.dev/posta/analyses"
	"posta.dev/posta/analyses/bikes"
	"posta.dev/posta/analyses/flights"
	"posta.dev/posta/analyses/local"
	"posta.dev/posta/analyses/memes"
	"posta.dev/posta/analyses/movies"
	"posta.dev/posta/analyses/sql/field"
	"posta.dev/posta/client"
	ours "posta.dev/posta/client/source/parquet"
	"posta.dev/posta/internal/gen"
	"posta.dev/posta/protocol"
	"posta.dev/posta/rows/columnar"
	rowscsv "posta.dev/posta/rows/csv"
)

// table is a table as --json prints it; numbers stay as they are written.
type table struct {
	Columns []string
	Rows    [][]any
}

func decode(t *testing.T, text []byte, v any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(v); err != nil {
		t.Fatalf("%v in %.300s", err, text)
	}
}

func written(t *testing.T, name string, q *client.Table) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := formatOf(name).table(&b, q); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// same checks that a table reads back the same from each format as from --json.
func same(t *testing.T, q *client.Table) {
	t.Helper()
	a := client.Answer{Queries: []client.Table{*q}}
	var all bytes.Buffer
	if err := a.WriteJSON(&all); err != nil {
		t.Fatal(err)
	}
	var want struct{ Queries map[string]table }
	decode(t, all.Bytes(), &want)
	sameAs(t, q, want.Queries[q.Name])
}

func sameAs(t *testing.T, q *client.Table, want table) {
	t.Helper()
	var asJSON table
	decode(t, written(t, "json", q), &asJSON)
	if !reflect.DeepEqual(asJSON, want) {
		t.Errorf("%s as json is %.300v, want %.300v", q.Name, asJSON, want)
	}
	var lines []map[string]any
	in := bufio.NewScanner(bytes.NewReader(written(t, "jsonl", q)))
	in.Buffer(nil, 1<<24)
	for in.Scan() {
		var row map[string]any
		decode(t, in.Bytes(), &row)
		lines = append(lines, row)
	}
	if len(lines) != len(want.Rows) {
		t.Fatalf("%s has %d rows as jsonl, want %d", q.Name, len(lines), len(want.Rows))
	}
	for i, row := range want.Rows {
		for c, v := range row {
			if !reflect.DeepEqual(lines[i][want.Columns[c]], v) {
				t.Errorf("%s, row %d, column %s as jsonl is %v, want %v", q.Name, i+1, want.Columns[c], lines[i][want.Columns[c]], v)
			}
		}
	}
	sameParquet(t, q, want)
	rows := readCSV(t, written(t, "csv", q))
	if len(rows) != len(want.Rows)+1 || !reflect.DeepEqual(rows[0], want.Columns) {
		t.Fatalf("%s has %d lines as csv under %q, want %d under %q", q.Name, len(rows), rows[0], len(want.Rows)+1, want.Columns)
	}
	for i, row := range want.Rows {
		for c, v := range row {
			got := protocol.UTF8(rows[i+1][c])
			switch v := v.(type) {
			case json.Number:
				if got != v.String() {
					t.Errorf("%s, row %d, column %d as csv is %s, want %s", q.Name, i+1, c+1, got, v)
				}
			case string:
				if got != v {
					t.Errorf("%s, row %d, column %d as csv is %q, want %q", q.Name, i+1, c+1, got, v)
				}
			case nil: // JSON has no number for this value
				if got != "NaN" && got != "+Inf" && got != "-Inf" {
					t.Errorf("%s, row %d, column %d as csv is %q, want no number", q.Name, i+1, c+1, got)
				}
			}
		}
	}
}

// sameParquet checks that a table reads back from Parquet, with another implementation and with the reader of input files.
func sameParquet(t *testing.T, q *client.Table, want table) {
	t.Helper()
	file := written(t, "parquet", q)
	f, err := parquet.OpenFile(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	rows := make([]parquet.Row, len(want.Rows)+1)
	r := parquet.NewReader(f)
	n, err := 0, error(nil)
	for n < len(rows) && err == nil {
		var more int
		more, err = r.ReadRows(rows[n:])
		n += more
	}
	if n != len(want.Rows) || f.NumRows() != int64(n) {
		t.Fatalf("%s has %d rows as Parquet, want %d: %v", q.Name, n, len(want.Rows), err)
	}
	var columns []rowscsv.Column
	for _, name := range want.Columns {
		columns = append(columns, rowscsv.Column{Name: name})
	}
	cut, err := ours.NewCutter(bytes.NewReader(file), int64(len(file)), columns, ',', 1<<20, 1<<24)
	if err != nil {
		t.Fatal(err)
	}
	names := make([][]byte, len(columns)) // other names, because no header may have zero bytes
	for i := range columns {
		columns[i].Name = "c" + strconv.Itoa(i)
		names[i] = []byte(columns[i].Name)
	}
	header, err := rowscsv.ParseHeader(rowscsv.MarkedColumnar(rowscsv.AppendRecord(nil, rowscsv.Alone(names), ','), ',', 20), ',')
	if err != nil {
		t.Fatal(err)
	}
	mapping, err := header.Find(columns)
	if err != nil {
		t.Fatal(err)
	}
	var back [][]string
	in := columnar.NewScanner(mapping)
	for {
		chunk, at, err := cut.Next(nil)
		if err == io.EOF {
			break
		}
		if err == nil {
			err = in.Reset(chunk, at)
		}
		if err != nil {
			t.Fatal(err)
		}
		for in.Next() {
			var row []string
			for _, field := range in.Fields() {
				row = append(row, string(field))
			}
			back = append(back, row)
		}
	}
	if len(back) != n {
		t.Fatalf("%s: %d of %d rows are read back", q.Name, len(back), n)
	}
	for i, row := range want.Rows {
		for c, v := range row {
			cell, field := rows[i][c], back[i][c]
			ok := false
			switch v := v.(type) {
			case string:
				ok = cell.String() == v && field == v
			case json.Number:
				var number float64
				if number, err = strconv.ParseFloat(field, 64); err != nil {
					t.Fatal(err)
				}
				if cell.Kind() == parquet.Int64 {
					ok = strconv.FormatInt(cell.Int64(), 10) == v.String() && field == v.String()
				} else {
					same, _ := v.Float64() // integers and others may be in one column
					ok = math.Float64bits(same) == math.Float64bits(cell.Double()) && math.Float64bits(number) == math.Float64bits(cell.Double())
				}
			case nil:
				ok = math.IsNaN(cell.Double()) && field == "NaN" || math.IsInf(cell.Double(), 0) && strings.HasSuffix(field, "Inf")
			}
			if !ok {
				t.Errorf("%s, row %d, column %s as parquet is %v and is read as %q, want %v", q.Name, i+1, want.Columns[c], cell, field, v)
			}
		}
	}
}

// readCSV reads CSV as RFC 4180 defines it. The standard library's reader drops carriage returns before line feeds, which texts may
// contain. Without such texts both must agree.
func readCSV(t *testing.T, text []byte) (rows [][]string) {
	t.Helper()
	var row []string
	var cell []byte
	quoted := false
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case quoted && c == '"' && i+1 < len(text) && text[i+1] == '"':
			cell = append(cell, c)
			i++
		case c == '"':
			quoted = !quoted
		case !quoted && (c == ',' || c == '\n'):
			row, cell = append(row, string(cell)), nil
			if c == '\n' {
				rows, row = append(rows, row), nil
			}
		default:
			cell = append(cell, c)
		}
	}
	if quoted || cell != nil || row != nil {
		t.Fatalf("%q ends within a row", text)
	}
	if !bytes.ContainsRune(text, '\r') {
		in := csv.NewReader(bytes.NewReader(text))
		in.FieldsPerRecord = -1
		if library, err := in.ReadAll(); err != nil || !reflect.DeepEqual(library, rows) {
			t.Errorf("the standard library reads %.300q, %v", library, err)
		}
	}
	return rows
}

// TestAnswersReadBack: the written answers of an analysis read back the same as those of --json.
func TestAnswersReadBack(t *testing.T) {
	for _, c := range []struct {
		analysis *analyses.Analysis
		generate func(gen.Dir, int, uint64) error
	}{{bikes.New(), gen.Bikes}, {flights.New(), gen.Flights}, {movies.New(), gen.Movies}, {memes.New(), gen.Memes}} {
		t.Run(c.analysis.Name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := c.generate(gen.OnDisk(dir), 20_000, 5); err != nil {
				t.Fatal(err)
			}
			found, err := local.Run(c.analysis, os.DirFS(dir), local.Options{})
			if err != nil {
				t.Fatal(err)
			}
			text, err := found.MarshalJSON()
			if err != nil {
				t.Fatal(err)
			}
			var want struct{ Queries map[string]table }
			decode(t, text, &want)
			a := &client.Answer{Analysis: c.analysis.Name}
			rows := 0
			for _, q := range found.Queries {
				all := protocol.NewRows(len(q.Columns))
				for _, row := range q.Rows {
					cells := make([]protocol.Value, len(row))
					for i, v := range row {
						if cells[i], err = protocol.ValueOf(v); err != nil {
							t.Fatal(err)
						}
					}
					if err := all.Add(cells...); err != nil {
						t.Fatal(err)
					}
				}
				rows += len(q.Rows)
				a.Queries = append(a.Queries, client.NewTable(q.Name, q.Columns, all))
				sameAs(t, &a.Queries[len(a.Queries)-1], want.Queries[q.Name])
			}
			if rows == 0 {
				t.Error("the answers have no rows")
			}
			place := filepath.Join(dir, "all.json")
			write(t, place, a)
			var whole struct{ Queries map[string]table }
			decode(t, []byte(content(t, place)), &whole)
			if !reflect.DeepEqual(whole.Queries, want.Queries) {
				t.Errorf("one file of all has %.300v, want %.300v", whole.Queries, want.Queries)
			}
		})
	}
}

// TestNullAndEmptyTextReadBack: the reader of input files takes NULL from CSV as NULL, an empty text as one, and every other text as it is,
// also alone in its row.
func TestNullAndEmptyTextReadBack(t *testing.T) {
	odd := []protocol.Value{{Kind: protocol.Null}}
	for _, text := range []string{"", " ", `"`, `""`, "a", " a ", "\t", ",", "\n", "\r", "\r\n", "NULL", "a\"b,\nc", "\xff", "0", "\n\n"} {
		odd = append(odd, protocol.Value{Text: text})
	}
	one, two := protocol.NewRows(1), protocol.NewRows(2)
	for _, a := range odd {
		if err := one.Add(a); err != nil {
			t.Fatal(err)
		}
		for _, b := range odd {
			if err := two.Add(a, b); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, name := range []string{"csv", "tsv"} {
		for _, q := range []client.Table{client.NewTable("one", []string{"a"}, one), client.NewTable("two", []string{"a", ""}, two)} {
			header, rows, _ := bytes.Cut(written(t, name, &q), []byte("\n"))
			comma := map[string]byte{"csv": ',', "tsv": '\t'}[name]
			h, err := rowscsv.ParseHeader(header, comma)
			if err != nil {
				t.Fatal(err)
			}
			columns := make([]rowscsv.Column, len(h.Names()))
			for i, n := range h.Names() {
				columns[i] = rowscsv.Column{Name: n, Distinct: true}
			}
			m, err := h.Find(columns)
			if err != nil {
				t.Fatal(err)
			}
			var s rowscsv.Scanner
			s.Reset(rows, comma, m, 2)
			for row := range q.All() {
				if !s.Next() || s.Err() != nil {
					t.Fatalf("%s of %s ends before %v: %v", name, q.Name, row, s.Err())
				}
				for i, p := range s.Fields() {
					if null := field.IsNull(p, s.Quoted().Has(i)); null != (row[i].Kind == protocol.Null) || string(p) != row[i].String() {
						t.Errorf("%s of %s: %v is read as %q, NULL: %v", name, q.Name, row[i], p, null)
					}
				}
			}
			if s.Next() {
				t.Errorf("%s of %s has more rows", name, q.Name)
			}
		}
	}
}

func FuzzOddValuesReadBack(f *testing.F) {
	for _, text := range []string{"", "a", `"`, `""`, ",", "\n", "\r\n", "\r", " a ", "\ta", "é", "\xff\xfe", "\x00", "\ufeff", "=1+1", `\.`,
		`a"b,c` + "\r\nd", "NULL", "null", "1e5"} {
		f.Add(text, `x"`+text, int64(math.MinInt64), math.Float64bits(0.1))
	}
	for _, number := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1), math.MaxFloat64,
		math.SmallestNonzeroFloat64, 1e21, 1e-7, 1 << 53} {
		f.Add("text", "column", int64(math.MaxInt64), math.Float64bits(number))
	}
	f.Fuzz(func(t *testing.T, text, column string, number int64, bits uint64) {
		if !utf8.ValidString(column) || column == "n" || column == "f" {
			column = "c" // an analysis names its columns, and names are texts
		}
		rows := protocol.NewRows(3)
		alone := protocol.NewRows(1)
		for range 2 {
			v := protocol.Value{Text: text}
			n, x := protocol.Value{Kind: protocol.Int, Int: number}, protocol.Value{Kind: protocol.Float, Float: math.Float64frombits(bits)}
			for _, err := range []error{rows.Add(v, n, x), alone.Add(v)} {
				if err != nil {
					t.Fatal(err)
				}
			}
		}
		for _, q := range []client.Table{client.NewTable("three", []string{column, "n", "f"}, rows),
			client.NewTable("one", []string{column}, alone)} {
			same(t, &q)
		}
	})
}
