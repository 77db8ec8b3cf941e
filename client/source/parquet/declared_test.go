package parquet

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	pq "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"posta.dev/posta/rows/csv"
)

// declaredOf returns the columns of a file as a line for each.
func declaredOf(t *testing.T, file []byte) (lines string, rows int64) {
	t.Helper()
	columns, rows, err := Columns(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range columns {
		lines += strings.TrimRight(fmt.Sprintf("%s %s %s", c.Name, c.Type, c.Why), " ") + "\n"
	}
	return lines, rows
}

// TestC1_TypesAreThoseOfTheFile: each type of the format has its type of SQL, or words that say what it is. Values are not looked at: the
// file has none.
func TestC1_TypesAreThoseOfTheFile(t *testing.T) {
	group := pq.Group{
		"bool": pq.Leaf(pq.BooleanType), "int8": pq.Int(8), "int32": pq.Leaf(pq.Int32Type), "int64": pq.Optional(pq.Int(64)),
		"uint16": pq.Uint(16), "uint64": pq.Uint(64),
		"float": pq.Leaf(pq.FloatType), "double": pq.Leaf(pq.DoubleType), "int96": pq.Leaf(pq.Int96Type),
		"d9": pq.Decimal(2, 9, pq.Int32Type), "d18": pq.Decimal(0, 18, pq.Int64Type),
		"d18bytes": pq.Decimal(18, 18, pq.FixedLenByteArrayType(8)), "d38": pq.Decimal(3, 38, pq.FixedLenByteArrayType(16)),
		"date": pq.Date(), "ms": pq.Timestamp(pq.Millisecond), "us": pq.Timestamp(pq.Microsecond), "ns": pq.Timestamp(pq.Nanosecond),
		"time": pq.Time(pq.Microsecond),
		"text": pq.String(), "json": pq.JSON(), "enum": pq.Enum(), "uuid": pq.UUID(), "bytes": pq.Leaf(pq.ByteArrayType),
		"fixed": pq.Leaf(pq.FixedLenByteArrayType(3)), "bson": pq.BSON(),
		"list": pq.List(pq.String()), "many": pq.Repeated(pq.Int(64)), "map": pq.Map(pq.String(), pq.Int(64)),
		"group": pq.Group{"x": pq.Date(), "y": pq.Group{"z": pq.String(), "w": pq.List(pq.Int(64))}},
	}
	file := written(t, pq.NewSchema("f", group), nil, 1)
	const want = `bool BOOLEAN
bson NULL BSON
bytes TEXT
d18 DECIMAL(18, 0)
d18bytes DECIMAL(18, 18)
d38 NULL a DECIMAL(38, 3), of more than 18 digits
d9 DECIMAL(9, 2)
date DATE
double DOUBLE
enum TEXT
fixed TEXT
float DOUBLE
group.x DATE
group.y.w NULL a list
group.y.z TEXT
int32 BIGINT
int64 BIGINT
int8 BIGINT
int96 TIMESTAMP
json TEXT
list NULL a list
many NULL a list
map NULL a map
ms TIMESTAMP
ns TIMESTAMP
text TEXT
time TEXT
uint16 BIGINT
uint64 BIGINT
us TIMESTAMP
uuid TEXT
`
	if got, _ := declaredOf(t, file); got != want {
		t.Errorf("the columns are\n%s", got)
	}
	for name, logical := range map[string]int64{"an INTERVAL": 21} {
		h := handmade{kind: kindFixed, length: 12, logical: logical, values: 1, page: make([]byte, 12)}
		if got, _ := declaredOf(t, h.file()); got != "a NULL "+name+"\n" {
			t.Errorf("%s is %q", name, got)
		}
		if _, err := text(h.file(), 100, "a"); !errors.Is(err, ErrUnread) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s is read: %v", name, err)
		}
	}
}

// TestC1_NamesOfColumnsDiffer: names that are equal but for case are told apart as those of CSV are, and each is found by the name that it
// is given.
func TestC1_NamesOfColumnsDiffer(t *testing.T) {
	row := pq.Row{pq.Int64Value(1).Level(0, 0, 0), pq.Int64Value(2).Level(0, 0, 1), pq.Int64Value(3).Level(0, 0, 2)}
	file := written(t, pq.NewSchema("f", pq.Group{"A": pq.Int(64), "a": pq.Int(64), "b.c": pq.Int(64)}), []pq.Row{row}, 1)
	if got, rows := declaredOf(t, file); got != "A BIGINT\na_1 BIGINT\nb.c BIGINT\n" || rows != 1 {
		t.Errorf("%d rows of\n%s", rows, got)
	}
	for name, want := range map[string]string{"a": "1,", "A_1": "2,", "B.C": "3,"} {
		columns := []csv.Column{{Name: name, Distinct: true}}
		c, err := NewCutter(bytes.NewReader(file), int64(len(file)), columns, ',', 100, 1000)
		r, err := openRows(c, err, columns)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, row, err := r.row(); err != nil || string(row) != want {
			t.Errorf("%s: %q, %v", name, row, err)
		}
	}
}

// TestC1_CountedRowsReadNoPages: if only the number of rows is needed, nothing but the footer is read, whatever the columns are.
func TestC1_CountedRowsReadNoPages(t *testing.T) {
	row := pq.Row{pq.Int64Value(1).Level(0, 1, 0)}
	file := written(t, pq.NewSchema("f", pq.Group{"list": pq.List(pq.Int(64))}), []pq.Row{row, row, row, row, row}, 2)
	footer := bytes.LastIndex(file, []byte("PAR1")) - 4
	footer -= int(file[footer]) | int(file[footer+1])<<8
	clear(file[4:footer])
	c, err := NewCutter(bytes.NewReader(file), int64(len(file)), []csv.Column{{Name: "list", Optional: true, Unused: true}}, ',', 1000, 1000)
	r, err := openRows(c, err, []csv.Column{{Name: "list", Distinct: true, Optional: true, Unused: true}})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for ; ; n++ {
		_, fields, _, err := r.row()
		if err == io.EOF {
			break
		}
		if err != nil || len(fields) != 1 || len(fields[0]) > 0 {
			t.Fatalf("row %d has the fields %q, %v", n, fields, err)
		}
	}
	if n != 5 {
		t.Errorf("%d rows are counted", n)
	}
}

// TestC1_RowGroupsWithoutRows: parquet-cpp writes a file without rows as a row group without rows, whose columns have no pages.
func TestC1_RowGroupsWithoutRows(t *testing.T) {
	file := written(t, pq.NewSchema("f", pq.Group{"a": pq.Int(64)}), []pq.Row{{pq.Int64Value(7).Level(0, 0, 0)}}, 1)
	empty := func(m *format.FileMetaData, at int) {
		g := m.RowGroups[0]
		g.NumRows, g.TotalByteSize = 0, 0
		g.Columns = append([]format.ColumnChunk(nil), g.Columns...)
		c := &g.Columns[0].MetaData
		c.NumValues, c.TotalCompressedSize, c.TotalUncompressedSize, c.DataPageOffset, c.DictionaryPageOffset = 0, 0, 0, 0, 0
		m.RowGroups = append(m.RowGroups[:at:at], append([]format.RowGroup{g}, m.RowGroups[at:]...)...)
	}
	for name, c := range map[string]struct {
		want   string
		change func(m *format.FileMetaData)
	}{
		"alone":          {"", func(m *format.FileMetaData) { empty(m, 0); m.RowGroups, m.NumRows = m.RowGroups[:1], 0 }},
		"none":           {"", func(m *format.FileMetaData) { m.RowGroups, m.NumRows = nil, 0 }},
		"first and last": {"7\n", func(m *format.FileMetaData) { empty(m, 0); m.RowGroups = append(m.RowGroups, m.RowGroups[0]) }},
	} {
		if got, err := text(rewritten(t, file, c.change), 100, "a"); err != nil || got != c.want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// TestC1_TimesOfDayMayBeNegative: such a time is none, and is shown with its sign.
func TestC1_TimesOfDayMayBeNegative(t *testing.T) {
	page := []byte{0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x40, 0x17, 0x8e, 0xc3, 0xfc, 0xff, 0xff, 0xff, 0,
		0, 0, 0, 0, 0, 0, 0x80}
	h := handmade{kind: kindInt64, logical: 8, values: 4, page: page}
	const want = "00:00:00\n-00:00:00.000001\n-03:51:39.000000\n-2562047788:00:54.775807\n"
	if got, err := text(h.file(), 100, "a"); err != nil || got != strings.Replace(want, ".000000\n", "\n", 1) {
		t.Errorf("%q, %v", got, err)
	}
}

// TestC1_EncryptedFilesAreSaidToBe: by their first bytes and by their last ones.
func TestC1_EncryptedFilesAreSaidToBe(t *testing.T) {
	file := sample(t)
	for _, name := range []string{"footer", "all"} {
		f := append(bytes.Clone(file[:len(file)-4]), Encrypted...)
		if name == "all" {
			copy(f, Encrypted)
		}
		if _, _, err := Columns(bytes.NewReader(f), int64(len(f))); !errors.Is(err, ErrEncrypted) || !errors.Is(err, ErrUnread) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
