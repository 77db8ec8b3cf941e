package parquet

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"math/big"
	"strings"
	"testing"

	pq "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"posta.dev/posta/rows/csv"
)

// rangesOf returns what a file says of a column, by row group.
func rangesOf(t *testing.T, file []byte, name string) (all []csv.Range) {
	t.Helper()
	c, err := NewCutter(bytes.NewReader(file), int64(len(file)), columnsOf(name), ',', 1<<20, 1<<20)
	if err == nil {
		err = c.Skip(func(r []csv.Range) bool {
			all = append(all, csv.Range{Kind: r[0].Kind, Least: bytes.Clone(r[0].Least), Most: bytes.Clone(r[0].Most)})
			return false
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// compareFields compares fields in the order of a kind.
func compareFields(kind csv.Kind, a, b string) int {
	if kind == csv.KindDate || kind == csv.KindTime || kind == csv.KindBytes {
		return strings.Compare(a, b)
	}
	x, _ := new(big.Rat).SetString(a)
	y, _ := new(big.Rat).SetString(b)
	return x.Cmp(y)
}

// TestC1_StatisticsAreTheEndsOfTheFields: of every type that has an order, as another writer writes them. Of the others nothing is said.
func TestC1_StatisticsAreTheEndsOfTheFields(t *testing.T) {
	const n, perGroup = 700, 200
	known := map[string]csv.Kind{"int32": csv.KindInteger, "int64": csv.KindInteger, "uint32": csv.KindInteger, "uint64": csv.KindInteger,
		"string": csv.KindBytes, "date": csv.KindDate, "timestamp ms": csv.KindTime, "timestamp us": csv.KindTime, "timestamp ns": csv.KindTime,
		"decimal": csv.KindDecimal, "long decimal": csv.KindDecimal}
	for _, k := range kinds {
		for _, nulls := range []bool{false, true} {
			var rows []pq.Row
			var fields []string
			for i := range n {
				v, field := k.value(i).Level(0, 1, 0), k.text(i)
				if k.name == "string" {
					field = words(i)
				}
				if nulls && (i%7 < 2 || i/perGroup == 1) {
					v, field = pq.NullValue().Level(0, 0, 0), ""
				}
				rows, fields = append(rows, pq.Row{v}), append(fields, field)
			}
			file := written(t, pq.NewSchema("file", pq.Group{"a": pq.Optional(k.node)}), rows, perGroup)
			for g, r := range rangesOf(t, file, "a") {
				kind := known[k.name]
				if nulls && g == 1 {
					if r.Kind != csv.KindNone {
						t.Errorf("%s: a row group of nulls: %+v", k.name, r)
					}
					continue
				}
				if r.Kind != kind {
					t.Errorf("%s: row group %d is of kind %d, not %d", k.name, g, r.Kind, kind)
				}
				if kind == csv.KindUnknown || r.Kind != kind {
					continue
				}
				var least, most string
				first := true
				for i, f := range fields[g*perGroup : min(n, (g+1)*perGroup)] {
					if nulls && (g*perGroup+i)%7 < 2 {
						continue
					}
					if first || compareFields(kind, f, least) < 0 {
						least = f
					}
					if first || compareFields(kind, f, most) > 0 {
						most = f
					}
					first = false
				}
				if compareFields(kind, string(r.Least), least) != 0 || compareFields(kind, string(r.Most), most) != 0 {
					t.Errorf("%s: row group %d is said to be from %q to %q, and is from %q to %q", k.name, g, r.Least, r.Most, least, most)
				}
			}
		}
	}
}

// TestC1_StatisticsThatMayMeanAnythingAreNotBelieved: those whose order is not known, and what is not a value of the type.
func TestC1_StatisticsThatMayMeanAnythingAreNotBelieved(t *testing.T) {
	type row struct {
		I int64   `parquet:"i"`
		U uint64  `parquet:"u"`
		D float64 `parquet:"d"`
		T string  `parquet:"t"`
	}
	var b bytes.Buffer
	w := pq.NewGenericWriter[row](&b)
	if _, err := w.Write([]row{{-1, 1 << 63, -2.5, "b"}, {2, 1, 3, "é"}}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	each := func(change func(*format.Statistics)) func(*format.FileMetaData) {
		return func(m *format.FileMetaData) {
			for i := range m.RowGroups[0].Columns {
				change(&m.RowGroups[0].Columns[i].MetaData.Statistics)
			}
		}
	}
	old := each(func(s *format.Statistics) { s.Min, s.Max, s.MinValue, s.MaxValue = s.MinValue, s.MaxValue, nil, nil })
	const all = "i -1 2; u 1 9223372036854775808; t b é; "
	for name, c := range map[string]struct {
		change func(*format.FileMetaData)
		want   string
	}{
		"as written":                {func(*format.FileMetaData) {}, all},
		"no orders":                 {func(m *format.FileMetaData) { m.ColumnOrders = nil }, "i -1 2; "},
		"orders of too few columns": {func(m *format.FileMetaData) { m.ColumnOrders = m.ColumnOrders[:1] }, "i -1 2; "},
		"old ones":                  {func(m *format.FileMetaData) { old(m); m.ColumnOrders = nil }, "i -1 2; "},
		"old ones with orders":      {old, ""},
		"none":                      {each(func(s *format.Statistics) { *s = format.Statistics{} }), ""},
		"only the least":            {each(func(s *format.Statistics) { s.MaxValue = nil }), ""},
		"only the most":             {each(func(s *format.Statistics) { s.MinValue = nil }), ""},
		"too short":                 {each(func(s *format.Statistics) { s.MinValue = s.MinValue[:1] }), "t b é; "},
		"too long":                  {each(func(s *format.Statistics) { s.MaxValue = append(bytes.Clone(s.MaxValue), 0) }), "t b é\x00; "},
		"no numbers": {each(func(s *format.Statistics) { s.MaxValue = bytes.Repeat([]byte{0xff}, len(s.MaxValue)) }),
			"i -1 -1; u 1 18446744073709551615; t b \xff\xff; "},
		"all null, and values too":   {each(func(s *format.Statistics) { s.NullCount = 2 }), all},
		"more nulls than values":     {each(func(s *format.Statistics) { *s = format.Statistics{NullCount: 3} }), ""},
		"fewer nulls than are there": {each(func(s *format.Statistics) { *s = format.Statistics{NullCount: 1} }), ""},
	} {
		file, got := rewritten(t, b.Bytes(), c.change), ""
		for _, column := range []string{"i", "u", "d", "t"} {
			if r := rangesOf(t, file, column)[0]; r.Kind != csv.KindUnknown {
				got += fmt.Sprintf("%s %s %s; ", column, r.Least, r.Most)
			}
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// forbidden is a file of which parts may not be read.
type forbidden struct {
	*bytes.Reader
	parts [][2]int64
	read  int64
}

func (f *forbidden) ReadAt(p []byte, at int64) (int, error) {
	for _, no := range f.parts {
		if at < no[1] && at+int64(len(p)) > no[0] {
			return 0, fmt.Errorf("bytes %d to %d are read, and nobody needs them", at, at+int64(len(p)))
		}
	}
	f.read += int64(len(p))
	return f.Reader.ReadAt(p, at)
}

// TestC1_RowGroupsThatAreLeftOutAreNotRead: whichever they are the other rows come in their lines, and no byte of their pages is read.
func TestC1_RowGroupsThatAreLeftOutAreNotRead(t *testing.T) {
	const groups, perGroup = 5, 30
	var rows []pq.Row
	for i := range groups * perGroup {
		rows = append(rows, pq.Row{pq.Int64Value(int64(i+2)).Level(0, 0, 0)})
	}
	file := written(t, pq.NewSchema("file", pq.Group{"a": pq.Int(64)}), rows, perGroup)
	f, err := pq.OpenFile(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	for left := range 1 << groups {
		for _, chunk := range []int{1, 40, 100, 1 << 20} {
			in := &forbidden{Reader: bytes.NewReader(file)}
			var want strings.Builder
			for g := range groups {
				m := f.Metadata().RowGroups[g].Columns[0].MetaData
				if left>>g&1 == 1 {
					in.parts = append(in.parts, [2]int64{m.DataPageOffset, m.DataPageOffset + m.TotalCompressedSize})
					continue
				}
				for i := range perGroup {
					fmt.Fprintf(&want, "%d\n", g*perGroup+i+2)
				}
			}
			c, err := NewCutter(in, int64(len(file)), columnsOf("a"), ',', chunk, 1<<20)
			if err != nil {
				t.Fatal(err)
			}
			g := 0
			err = c.Skip(func(r []csv.Range) bool {
				if string(r[0].Least) != fmt.Sprint(g*perGroup+2) || string(r[0].Most) != fmt.Sprint((g+1)*perGroup+1) {
					t.Fatalf("row group %d: %+v", g, r)
				}
				g++
				return left>>(g-1)&1 == 1
			})
			if err != nil {
				t.Fatal(err)
			}
			r, err := openRows(c, nil, columnsOf("a"))
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			for {
				line, fields, _, err := r.row()
				if err == io.EOF {
					break
				}
				if err != nil || string(fields[0]) != fmt.Sprint(line) {
					t.Fatalf("without %05b, chunks of %d: %q is in line %d, %v", left, chunk, fields, line, err)
				}
				got += string(fields[0]) + "\n"
			}
			if got != want.String() || c.Done != groups*perGroup {
				t.Errorf("without %05b, chunks of %d: %d rows, %q", left, chunk, c.Done, got)
			}
			if left == 1<<groups-1 && in.read > math.MaxInt16 {
				t.Errorf("%d bytes are read of no row group", in.read)
			}
		}
	}
}
