package out

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"posta.dev/posta/analyses"
	"posta.dev/posta/analyses/bikes"
	"posta.dev/posta/analyses/flights"
	"posta.dev/posta/analyses/local"
	"posta.dev/posta/analyses/memes"
	"posta.dev/posta/analyses/movies"
	"posta.dev/posta/client"
	"posta.dev/posta/internal/gen"
	"posta.dev/posta/protocol"
)

// table is a table as --json has it; numbers stay as they are written.
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

// same demands that a table that was written in each format is read back as what --json has.
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
	rows := readCSV(t, written(t, "csv", q))
	if len(rows) != len(want.Rows)+1 || !reflect.DeepEqual(rows[0], want.Columns) {
		t.Fatalf("%s has %d lines as csv under %q, want %d under %q", q.Name, len(rows), rows[0], len(want.Rows)+1, want.Columns)
	}
	for i, row := range want.Rows {
		for c, v := range row {
			got := strings.ToValidUTF8(rows[i+1][c], "\uFFFD")
			switch v := v.(type) {
			case json.Number:
				if got != v.String() {
					t.Errorf("%s, row %d, column %d as csv is %s, want %s", q.Name, i+1, c+1, got, v)
				}
			case string:
				if got != v {
					t.Errorf("%s, row %d, column %d as csv is %q, want %q", q.Name, i+1, c+1, got, v)
				}
			case nil: // what JSON has no number for
				if got != "NaN" && got != "+Inf" && got != "-Inf" {
					t.Errorf("%s, row %d, column %d as csv is %q, want no number", q.Name, i+1, c+1, got)
				}
			}
		}
	}
}

// readCSV reads as RFC 4180 says. The standard library's reader drops carriage returns in front of line feeds, which texts may have; where there
// are none it has to agree.
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

// TestAnswersReadBack: what is written of an analysis's answers is read back as what --json has of them.
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

func FuzzOddValuesReadBack(f *testing.F) {
	for _, text := range []string{"", "a", `"`, `""`, ",", "\n", "\r\n", "\r", " a ", "\ta", "é", "\xff\xfe", "\x00", "\ufeff", "=1+1", `\.`, `a"b,c` + "\r\nd", "NULL", "null", "1e5"} {
		f.Add(text, `x"`+text, int64(math.MinInt64), math.Float64bits(0.1))
	}
	for _, number := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1), math.MaxFloat64, math.SmallestNonzeroFloat64, 1e21, 1e-7, 1 << 53} {
		f.Add("text", "column", int64(math.MaxInt64), math.Float64bits(number))
	}
	f.Fuzz(func(t *testing.T, text, column string, number int64, bits uint64) {
		if !utf8.ValidString(column) || column == "n" || column == "f" {
			column = "c" // names of columns are an analysis's, and texts
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
		for _, q := range []client.Table{client.NewTable("three", []string{column, "n", "f"}, rows), client.NewTable("one", []string{column}, alone)} {
			same(t, &q)
		}
	})
}
