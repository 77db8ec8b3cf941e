package parquet

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"posta.dev/posta/rows/csv"

	pq "github.com/parquet-go/parquet-go"
)

// TestC1_OnlyWantedLinesAreCut: whichever lines are wanted, they come with all their values and no others do, whatever the encoding and
// however many pages there are. Row groups without them are not read.
func TestC1_OnlyWantedLinesAreCut(t *testing.T) {
	const groups, perGroup = 4, 70
	schema := pq.NewSchema("file", pq.Group{"a": pq.Int(64), "b": pq.Optional(pq.String()),
		"c": pq.Encoded(pq.Optional(pq.String()), &pq.RLEDictionary),
		"d": pq.Encoded(pq.Int(32), &pq.DeltaBinaryPacked), "e": pq.List(pq.Int(64)), "f": pq.Encoded(pq.String(), &pq.DeltaByteArray),
		"g": pq.Leaf(pq.BooleanType), "h": pq.Encoded(pq.Leaf(pq.DoubleType), &pq.ByteStreamSplit)})
	rng := rand.New(rand.NewPCG(3, 1))
	var rows []pq.Row
	for i := range groups * perGroup {
		optional := func(v pq.Value, column int) pq.Value {
			if rng.IntN(3) == 0 {
				return pq.NullValue().Level(0, 0, column)
			}
			return v.Level(0, 1, column)
		}
		row := pq.Row{pq.Int64Value(int64(i+2)).Level(0, 0, 0), optional(pq.ByteArrayValue(fmt.Appendf(nil, "text %d", i)), 1),
			optional(pq.ByteArrayValue(fmt.Appendf(nil, "word %d", i%7)), 2), pq.Int32Value(int32(i*i)).Level(0, 0, 3)}
		for k := range rng.IntN(4) {
			row = append(row, pq.Int64Value(int64(k)).Level(min(k, 1), 1, 4))
		}
		if len(row) == 4 {
			row = append(row, pq.NullValue().Level(0, 0, 4))
		}
		rows = append(rows, append(row, pq.ByteArrayValue(fmt.Appendf(nil, "%05d", i)).Level(0, 0, 5), pq.BooleanValue(i%3 == 0).Level(0, 0, 6),
			pq.DoubleValue(float64(i)/3).Level(0, 0, 7)))
	}
	columns := columnsOf("a", "b", "c", "d", "e[1]", "f", "g", "h")
	for _, page := range []int{40, 300, 1 << 20} {
		file := written(t, schema, rows, perGroup, pq.PageBufferSize(page))
		all := cutLines(t, file, columns, nil, 1<<20)
		if len(all) != len(rows) {
			t.Fatalf("%d rows", len(all))
		}
		for try := range 60 {
			lines := []uint64{}
			for rng.IntN(20) > 0 && try > 0 {
				for line := uint64(rng.IntN(groups*perGroup + 4)); rng.IntN(3) > 0; line++ {
					lines = append(lines, line)
				}
			}
			slices.Sort(lines)
			lines = slices.Compact(lines)
			want := []string{}
			for _, line := range lines {
				if line >= 2 && line < uint64(2+len(all)) {
					want = append(want, all[line-2])
				}
			}
			for _, chunk := range []int{1, 200, 1 << 20} {
				if got := cutLines(t, file, columns, lines, chunk); !slices.Equal(got, want) {
					t.Fatalf("pages of %d, chunks of %d: of lines %v there are\n%s\ninstead of\n%s", page, chunk, lines, strings.Join(got, "\n"),
						strings.Join(want, "\n"))
				}
			}
		}
	}
}

// cutLines returns the rows of some lines.
func cutLines(t *testing.T, file []byte, columns []csv.Column, lines []uint64, chunk int) (rows []string) {
	t.Helper()
	in := &forbidden{Reader: bytes.NewReader(file)}
	f, err := pq.OpenFile(in, int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	first := uint64(2)
	for _, g := range f.Metadata().RowGroups {
		next := first + uint64(g.NumRows)
		if at, _ := slices.BinarySearch(lines, first); lines != nil && (at == len(lines) || lines[at] >= next) {
			m := g.Columns[0].MetaData
			in.parts = append(in.parts, [2]int64{m.DataPageOffset, m.DataPageOffset + g.TotalCompressedSize})
		}
		first = next
	}
	c, err := NewCutter(in, int64(len(file)), columns, ',', chunk, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	c.Lines(lines)
	r, err := openRows(c, nil, columns)
	if err != nil {
		t.Fatal(err)
	}
	for {
		line, fields, _, err := r.row()
		if err == io.EOF {
			return rows
		}
		if err != nil || string(fields[0]) != fmt.Sprint(line) {
			t.Fatalf("lines %v, chunks of %d: %q is in line %d, %v", lines, chunk, fields, line, err)
		}
		rows = append(rows, fmt.Sprintf("%d %q", line, fields))
	}
}
