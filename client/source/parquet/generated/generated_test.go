package generated

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"posta.dev/posta/internal/gen"
)

type memory map[string]*bytes.Buffer

func (m memory) Create(name string) (io.WriteCloser, error) {
	m[name] = new(bytes.Buffer)
	return closing{m[name]}, nil
}

type closing struct{ *bytes.Buffer }

func (closing) Close() error { return nil }

// TestParquetHoldsTheRowsOfCSV: read by another library, of data with all types of columns and with several row groups.
func TestParquetHoldsTheRowsOfCSV(t *testing.T) {
	for _, c := range []struct {
		data, file string
		make       func(gen.Dir, int, uint64) error
		rows       int
	}{
		{"hits", "hits", gen.Hits, 3000}, {"tpch", "lineitem", gen.TPCH, 3000}, {"tpch", "supplier", gen.TPCH, 6000},
		{"hits", "hits", gen.Hits, 0}, {"h2o", "x", gen.H2O, 3000},
	} {
		text, packed := memory{}, memory{}
		dir, err := In(Parquet, packed, c.data)
		if err == nil {
			err = errors.Join(c.make(text, c.rows, 5), c.make(dir, c.rows, 5))
		}
		if err != nil {
			t.Fatal(err)
		}
		want, err := csv.NewReader(text[c.file+".csv"]).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		b := packed[c.file+".parquet"].Bytes()
		f, err := parquet.OpenFile(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			t.Fatal(err)
		}
		var got [][]string
		for _, g := range f.RowGroups() {
			got = append(got, parquetRows(t, f.Schema(), g)...)
		}
		if want = want[1:]; len(got) != len(want) {
			t.Fatalf("%s: %d rows, want %d", c.file, len(got), len(want))
		}
		for i := range want {
			for k := range want[i] {
				if strings.TrimSuffix(got[i][k], ".00") != strings.TrimSuffix(want[i][k], ".00") {
					t.Fatalf("%s, row %d, column %d: %q, want %q", c.file, i, k, got[i][k], want[i][k])
				}
			}
		}
	}
	if _, err := In(Parquet, memory{}, "bikes"); !errors.Is(err, ErrNoTypes) {
		t.Error(err)
	}
}

func parquetRows(t *testing.T, schema *parquet.Schema, g parquet.RowGroup) (all [][]string) {
	t.Helper()
	rows := g.Rows()
	defer func() { _ = rows.Close() }()
	buffer := make([]parquet.Row, 100)
	for {
		n, err := rows.ReadRows(buffer)
		for _, row := range buffer[:n] {
			var line []string
			for i, v := range row {
				line = append(line, csvText(schema.Fields()[i].Type(), v))
			}
			all = append(all, line)
		}
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestJSONLinesHoldTheRowsOfCSV: read by another decoder.
func TestJSONLinesHoldTheRowsOfCSV(t *testing.T) {
	for _, c := range []struct {
		data, file string
		make       func(gen.Dir, int, uint64) error
	}{{"hits", "hits", gen.Hits}, {"tpch", "lineitem", gen.TPCH}, {"h2o", "x", gen.H2O}} {
		text, packed := memory{}, memory{}
		dir, err := In(JSONL, packed, c.data)
		if err == nil {
			err = errors.Join(c.make(text, 2000, 5), c.make(dir, 2000, 5))
		}
		if err != nil {
			t.Fatal(err)
		}
		want, err := csv.NewReader(text[c.file+".csv"]).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		d := json.NewDecoder(packed[c.file+".jsonl"])
		d.UseNumber()
		for i := 1; i < len(want); i++ {
			var row map[string]any
			if err := d.Decode(&row); err != nil || len(row) != len(want[0]) {
				t.Fatalf("%s, row %d: %d columns, %v", c.file, i, len(row), err)
			}
			for k, name := range want[0] {
				if got := fmt.Sprint(row[name]); strings.TrimSuffix(got, ".0") != want[i][k] {
					t.Fatalf("%s, row %d, %s: %q, want %q", c.file, i, name, got, want[i][k])
				}
			}
		}
		if d.More() {
			t.Errorf("%s: more than %d rows", c.file, len(want)-1)
		}
	}
}

// csvText writes a value as the generators do.
func csvText(of parquet.Type, v parquet.Value) string {
	switch name := of.String(); {
	case name == "DATE":
		return time.Unix(86_400*v.Int64(), 0).UTC().Format(time.DateOnly)
	case strings.HasPrefix(name, "TIMESTAMP"):
		return time.UnixMicro(v.Int64()).UTC().Format(time.DateTime)
	case strings.HasPrefix(name, "DECIMAL"):
		sign, n := "", v.Int64()
		if n < 0 {
			sign, n = "-", -n
		}
		return fmt.Sprintf("%s%d.%02d", sign, n/100, n%100)
	}
	return v.String()
}
