package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	pq "github.com/parquet-go/parquet-go"

	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/protocol"
)

// TestNullsAndBooleansReadBack: in columns that begin and end with either, or have one of them alone.
func TestNullsAndBooleansReadBack(t *testing.T) {
	null := protocol.Value{Kind: protocol.Null}
	value := func(kind protocol.Kind, i int) protocol.Value {
		switch kind {
		case protocol.Text:
			return protocol.Value{Text: fmt.Sprint(i)}
		case protocol.Bool:
			return protocol.Value{Kind: kind, Int: int64(i/2) % 2}
		}
		return protocol.Value{Kind: kind, Int: int64(i), Float: float64(i)}
	}
	kinds := []protocol.Kind{protocol.Text, protocol.Int, protocol.Float, protocol.Bool}
	for name, is := range map[string]func(i int) bool{
		"none": func(int) bool { return false }, "all": func(int) bool { return true }, "every third": func(i int) bool { return i%3 == 0 },
		"the first": func(i int) bool { return i < 500 }, "the last": func(i int) bool { return i >= 500 },
	} {
		for _, n := range []int{0, 1, 7, 8, 9, 1000} {
			var b bytes.Buffer
			w := NewWriter(&b, []string{"t", "i", "f", "b"}, []types.Type{types.Of(types.Text), types.Of(types.BigInt), types.Of(types.Double),
				types.Of(types.Bool)})
			var want strings.Builder
			for i := range n {
				var row []protocol.Value
				var fields []string
				for _, kind := range kinds {
					v := value(kind, i)
					text := v.String()
					if kind == protocol.Float {
						text = fmt.Sprint(i)
					}
					if is(i) {
						v, text = null, ""
					}
					row, fields = append(row, v), append(fields, text)
				}
				if err := w.Row(row); err != nil {
					t.Fatal(err)
				}
				want.WriteString(strings.Join(fields, ",") + "\n")
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			if got, err := text(b.Bytes(), 1<<20, "t", "i", "f", "b"); err != nil || got != want.String() {
				t.Errorf("%d rows, null: %s: %.200q, %v", n, name, got, err)
			}
		}
	}
}

// FuzzWriter: whatever rows of all types are written, another implementation of the format and the cutter read the same.
func FuzzWriter(f *testing.F) {
	for seed := range uint64(30) {
		f.Add(seed, uint16(seed*97))
	}
	f.Fuzz(func(t *testing.T, seed uint64, rows uint16) {
		r := rand.New(rand.NewPCG(seed, 10))
		names := []string{"b", "d", "i", "n", "t"} // another implementation orders them by name
		var b bytes.Buffer
		w := NewWriter(&b, names, []types.Type{types.Of(types.Bool), types.Of(types.Double), types.Of(types.BigInt), types.Of(types.BigInt),
			types.Of(types.Text)})
		w.Narrow(3, 16)
		w.Group = 1 + r.IntN(1<<r.IntN(20))
		var want [][]string
		different, nulls := 1+r.IntN(1<<r.IntN(14)), r.IntN(4)
		for range int(rows) % 5000 {
			of := rand.New(rand.NewPCG(seed, uint64(r.IntN(different))))
			row := []protocol.Value{{Kind: protocol.Bool, Int: int64(of.IntN(2))}, {Kind: protocol.Float, Float: of.NormFloat64()},
				{Kind: protocol.Int, Int: int64(of.Uint64()) >> of.IntN(64)}, {Kind: protocol.Int, Int: int64(int16(of.Uint32()))},
				{Text: strings.Repeat("é\x00-", of.IntN(30)) + "t"}}
			var fields []string
			for i := range row {
				if r.IntN(10) < nulls {
					row[i] = protocol.Value{Kind: protocol.Null}
					fields = append(fields, "NULL")
				} else {
					fields = append(fields, shown(row[i]))
				}
			}
			if err := w.Row(row); err != nil {
				t.Fatal(err)
			}
			want = append(want, fields)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		same := func(by string, row int, column int, got string) {
			if row >= len(want) || got != want[row][column] {
				t.Fatalf("%s: row %d of %d has %q in column %s", by, row, len(want), got, names[column])
			}
		}
		file, err := pq.OpenFile(bytes.NewReader(b.Bytes()), int64(b.Len()))
		if err != nil {
			t.Fatal(err)
		}
		reader := pq.NewReader(file)
		defer func() { _ = reader.Close() }()
		n := 0
		for buffer := make([]pq.Row, 100); ; {
			k, err := reader.ReadRows(buffer)
			for _, row := range buffer[:k] {
				for _, v := range row {
					text := v.String()
					if v.IsNull() {
						text = "NULL"
					} else if v.Kind() == pq.Double {
						text = shown(protocol.Value{Kind: protocol.Float, Float: v.Double()})
					}
					same("parquet-go", n, v.Column(), text)
				}
				n++
			}
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		all := cutTested(t, bytes.NewReader(b.Bytes()), b.Len(), columnsOf(names...), 1+r.IntN(1<<20), nil)
		for line, row := range all {
			for column, field := range row {
				text := string(field)
				if text == "" {
					text = "NULL"
				} else if column == 1 {
					number, err := strconv.ParseFloat(text, 64)
					if err != nil {
						t.Fatal(err)
					}
					text = shown(protocol.Value{Kind: protocol.Float, Float: number})
				}
				same("the cutter", int(line)-2, column, text)
			}
		}
		if n != len(want) || len(all) != len(want) {
			t.Fatalf("%d rows are read, %d are cut of %d", n, len(all), len(want))
		}
	})
}

// TestC1_StatisticsOfWhatIsWritten: they are the ends of the values, and there are none where these are in no order, or too long.
func TestC1_StatisticsOfWhatIsWritten(t *testing.T) {
	number := func(v float64) protocol.Value { return protocol.Value{Kind: protocol.Float, Float: v} }
	integer := func(v int64) protocol.Value { return protocol.Value{Kind: protocol.Int, Int: v} }
	text := func(s string) protocol.Value { return protocol.Value{Text: s} }
	null := protocol.Value{Kind: protocol.Null}
	long := strings.Repeat("b", 100)
	for _, c := range []struct {
		kind   types.Kind
		values []protocol.Value
		want   string
	}{
		{types.BigInt, []protocol.Value{integer(3), null, integer(-5), integer(math.MaxInt64), integer(0)}, "2 -5 9223372036854775807"},
		{types.BigInt, []protocol.Value{null, integer(7)}, "2 7 7"},
		{types.Double, []protocol.Value{number(2.5), number(-1), integer(9), number(math.Inf(1))}, "-1 +Inf"},
		{types.Double, []protocol.Value{number(0), number(math.Copysign(0, -1))}, "-0 0"},
		{types.Double, []protocol.Value{number(1), number(math.NaN()), number(2)}, "0  "},
		{types.Double, []protocol.Value{number(math.NaN())}, "0  "},
		{types.Text, []protocol.Value{text("b"), text(""), text("é"), text("ab")}, "6  é"},
		{types.Text, []protocol.Value{text(long), text("c")}, "6 " + long[:64] + " c"},
		{types.Text, []protocol.Value{text("a"), text(long)}, "6 a " + long[:63] + "c"},
		{types.Text, []protocol.Value{text("a"), text(strings.Repeat("\U0010FFFF", 17))}, "0  "},
		{types.Text, []protocol.Value{text(long + "z"), text(long + "a"), integer(1), text("c")}, "6 1 c"},
		{types.Text, []protocol.Value{text("a\xff"), text("b")}, "6 a\uFFFD b"},
		{types.Bool, []protocol.Value{{Kind: protocol.Bool, Int: 1}}, "0  "},
		{types.Text, []protocol.Value{null, null}, "1  "},
		{types.Double, []protocol.Value{null}, "1  "},
		{types.Decimal, []protocol.Value{text("-5"), null, text("12")}, "3 -5 12"},
		{types.Date, []protocol.Value{text("2024-02-29"), text("1969-12-31")}, "4 1969-12-31 2024-02-29"},
		{types.Timestamp, []protocol.Value{text("2024-02-29 12:00:00.5"), text("0045-01-02 (BC) 00:00:00"), null},
			"5 -0044-01-02 00:00:00 2024-02-29 12:00:00.5"},
	} {
		var b bytes.Buffer
		w := NewWriter(&b, []string{"a"}, []types.Type{types.Of(c.kind)})
		for range 2 { // row groups, each with statistics of its own
			for _, v := range c.values {
				if err := w.Row([]protocol.Value{v}); err != nil {
					t.Fatal(err)
				}
			}
			w.flush()
		}
		if err := w.Row([]protocol.Value{null}); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		got := rangesOf(t, b.Bytes(), "a")
		floats := floatBounds(t, b.Bytes(), c.kind)
		for i, want := range []string{c.want, c.want, "1  "} {
			s := fmt.Sprintf("%d %s %s", got[i].Kind, got[i].Least, got[i].Most)
			if floats != nil {
				s = floats[i]
			}
			if s != want {
				t.Errorf("%v, row group %d: %q, want %q", c.values, i, s, want)
			}
		}
	}
}

// floatBounds returns the bounds of floats by row group, which this package writes and does not use; nil of another kind.
func floatBounds(t *testing.T, file []byte, kind types.Kind) (all []string) {
	t.Helper()
	f, err := pq.OpenFile(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range f.Metadata().RowGroups {
		switch s := g.Columns[0].MetaData.Statistics; {
		case kind != types.Double:
			return nil
		case s.NullCount == g.NumRows && s.MinValue == nil && s.MaxValue == nil:
			all = append(all, "1  ")
		case s.MinValue == nil && s.MaxValue == nil:
			all = append(all, "0  ")
		default:
			all = append(all, fmt.Sprint(math.Float64frombits(binary.LittleEndian.Uint64(s.MinValue)), " ",
				math.Float64frombits(binary.LittleEndian.Uint64(s.MaxValue))))
		}
	}
	return all
}

// TestC1_WhatIsWrittenHasTheTypeOfItsColumn: the file declares the types, whatever the values are, and a value that is not of its column's
// type is an error.
func TestC1_WhatIsWrittenHasTheTypeOfItsColumn(t *testing.T) {
	of := []types.Type{types.Of(types.BigInt), types.DecimalOf(9, 2), types.Of(types.Double), types.Of(types.Date), types.Of(types.Timestamp),
		types.Of(types.Bool), types.Of(types.Text), types.Of(types.Interval)}
	names := []string{"i", "p", "x", "d", "t", "b", "s", "v"}
	null := protocol.Value{Kind: protocol.Null}
	value := func(s string) protocol.Value { return protocol.Value{Text: s} }
	const want = "i BIGINT\np DECIMAL(9, 2)\nx DOUBLE\nd DATE\nt TIMESTAMP\nb BOOLEAN\ns TEXT\nv TEXT\n"
	for rows, c := range map[string][]protocol.Value{
		"":          nil,
		",,,,,,,\n": {null, null, null, null, null, null, null, null},
		"-7,-1234567.89,2,2024-02-29,2024-02-29 12:00:00.000001,true,x,1 day\n": {{Kind: protocol.Int, Int: -7}, value("-1234567.89"),
			{Kind: protocol.Int, Int: 2}, value("2024-02-29"), value("2024-02-29 12:00:00.000001"), {Kind: protocol.Bool, Int: 1}, value("x"),
			value("1 day")},
		",,NaN,+12345-01-02,+12345-01-02 00:00:00,,,\n": {null, null, {Kind: protocol.Float, Float: math.NaN()},
			value("12345-01-02"), value("12345-01-02 00:00:00"), null, null, null},
		",,,-0044-01-02,-0044-01-02 01:00:00,,,\n": {null, null, null, value("0045-01-02 (BC)"),
			value("0045-01-02 (BC) 01:00:00"), null, null, null},
	} {
		var b bytes.Buffer
		w := NewWriter(&b, names, of)
		if c != nil {
			if err := w.Row(c); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if got, _ := declaredOf(t, b.Bytes()); got != want {
			t.Errorf("%q: the columns are\n%s", rows, got)
		}
		if got, err := text(b.Bytes(), 1<<20, names...); err != nil || got != rows {
			t.Errorf("%q: %q, %v", rows, got, err)
		}
	}
	for i, v := range []protocol.Value{value("7"), value("12345678.90"), value("1.5"), value("2024-02-30"), value("2024-02-29 25:00:00"),
		{Kind: protocol.Int, Int: 1}} {
		w := NewWriter(&bytes.Buffer{}, names[i:i+1], of[i:i+1])
		if err := w.Row([]protocol.Value{v}); !errors.Is(err, ErrValue) || !errors.Is(w.Close(), ErrValue) {
			t.Errorf("%s of column %s: %v", v, of[i], err)
		}
	}
}
