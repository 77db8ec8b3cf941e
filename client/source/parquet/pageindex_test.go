package parquet

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"testing"

	pq "github.com/parquet-go/parquet-go"

	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/protocol"
)

// indexed are columns that end pages in every way: by rows and by bytes, within NULLs and within runs, with values that have no bounds and
// with long ones.
var indexed = []struct {
	name string
	kind types.Kind
	at   func(i int) protocol.Value
}{
	{"number", types.BigInt, func(i int) protocol.Value { return protocol.Value{Kind: protocol.Int, Int: int64(i) * 1e12} }},
	{"word", types.Text, func(i int) protocol.Value { return protocol.Value{Text: fmt.Sprint("w", i*i%100)} }},
	{"long", types.Text, func(i int) protocol.Value {
		return protocol.Value{Text: strings.Repeat("ä", i*7919%90) + fmt.Sprint(i)}
	}},
	{"huge", types.Text, func(i int) protocol.Value {
		if i%10_007 == 5000 {
			return protocol.Value{Text: strings.Repeat("\U0010FFFF", i*3)}
		}
		return protocol.Value{Text: "x"}
	}},
	{"NaN", types.Double, func(i int) protocol.Value {
		if i == 21_000 {
			return protocol.Value{Kind: protocol.Float, Float: math.NaN()}
		}
		return protocol.Value{Kind: protocol.Float, Float: float64(i%1000) / 8}
	}},
	{"NULLs", types.BigInt, func(i int) protocol.Value {
		if i/25_000%2 == 1 {
			return protocol.Value{Kind: protocol.Null}
		}
		return protocol.Value{Kind: protocol.Int, Int: -int64(i)}
	}},
	{"true", types.Bool, func(i int) protocol.Value { return protocol.Value{Kind: protocol.Bool, Int: int64(i / 3 % 2)} }},
	{"nothing", types.Text, func(int) protocol.Value { return protocol.Value{Kind: protocol.Null} }},
}

func writeIndexed(t *testing.T, rows int) []byte {
	t.Helper()
	var names []string
	var of []types.Type
	for _, c := range indexed {
		names, of = append(names, c.name), append(of, types.Of(c.kind))
	}
	var b bytes.Buffer
	w := NewWriter(&b, names, of)
	w.Group = 1 << 30
	for i := range rows {
		var row []protocol.Value
		for _, c := range indexed {
			row = append(row, c.at(i))
		}
		if err := w.Row(row); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestPageIndexHoldsForEachPage: another reader finds each page by its place, and all of its values within its bounds.
func TestPageIndexHoldsForEachPage(t *testing.T) {
	const rows = groupRows + 30_000
	b := writeIndexed(t, rows)
	f, err := pq.OpenFile(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(f.RowGroups()); n != 2 {
		t.Fatalf("%d row groups", n)
	}
	at := 0
	for _, g := range f.RowGroups() {
		for i, chunk := range g.ColumnChunks() {
			checkPages(t, i, at, int(g.NumRows()), chunk)
		}
		at += int(g.NumRows())
	}
	if at != rows {
		t.Errorf("%d rows", at)
	}
}

func checkPages(t *testing.T, column, at, rows int, chunk pq.ColumnChunk) {
	t.Helper()
	c := indexed[column]
	offsets, err := chunk.OffsetIndex()
	if err != nil {
		t.Fatal(err)
	}
	index, err := chunk.ColumnIndex()
	if unknown := c.kind == types.Bool || c.name == "huge" || c.name == "NaN" && at == 0; unknown != errors.Is(err, pq.ErrMissingColumnIndex) {
		t.Fatalf("%s from row %d on has this column index: %v", c.name, at, err)
	}
	pages := chunk.Pages()
	defer func() { _ = pages.Close() }()
	next := 0
	for n := range offsets.NumPages() {
		if int(offsets.FirstRowIndex(n)) != next {
			t.Fatalf("%s, page %d begins in row %d, not %d", c.name, n, offsets.FirstRowIndex(n), next)
		}
		if err := pages.SeekToRow(int64(next)); err != nil {
			t.Fatal(err)
		}
		page, err := pages.ReadPage()
		if err != nil {
			t.Fatalf("%s, page %d: %v", c.name, n, err)
		}
		if page.NumRows() > pageRows || page.NumRows() < pageRows && next+int(page.NumRows()) < rows && c.name != "huge" && c.name != "long" {
			t.Errorf("%s, page %d has %d rows", c.name, n, page.NumRows())
		}
		values := make([]pq.Value, page.NumValues())
		if k, err := page.Values().ReadValues(values); k != len(values) || err != nil && err != io.EOF {
			t.Fatalf("%s, page %d: %d values, %v", c.name, n, k, err)
		}
		nulls := int64(0)
		for k, got := range values {
			want := c.at(at + next + k)
			if got.IsNull() != (want.Kind == protocol.Null) || !got.IsNull() && got.String() != shown(want) {
				t.Fatalf("%s, row %d is %v in place of %v", c.name, at+next+k, got, want)
			}
			if got.IsNull() {
				nulls++
				continue
			}
			if order := chunk.Type().Compare; index != nil && (order(got, index.MinValue(n)) < 0 || order(got, index.MaxValue(n)) > 0) {
				t.Fatalf("%s, page %d: %.70v is not from %v to %v", c.name, n, got, index.MinValue(n), index.MaxValue(n))
			}
		}
		if index != nil && (index.NullCount(n) != nulls || index.NullPage(n) != (int(nulls) == len(values))) {
			t.Errorf("%s, page %d has %d NULLs, and the index says %d", c.name, n, nulls, index.NullCount(n))
		}
		next += len(values)
	}
	if next != rows {
		t.Errorf("%s: pages of %d rows, not %d", c.name, next, rows)
	}
}

// TestPagesReadBack: the cutter returns each value, whatever pages it is in.
func TestPagesReadBack(t *testing.T) {
	const rows = 2*pageRows + 1
	var want strings.Builder
	var names []string
	for _, c := range indexed {
		if c.name != "huge" { // longer than a record may be
			names = append(names, c.name)
		}
	}
	for i := range rows {
		for _, c := range indexed {
			if v := c.at(i); c.name != "huge" {
				if v.Kind != protocol.Null {
					want.WriteString(shown(v))
				}
				want.WriteString(map[bool]string{true: "\n", false: ","}[c.name == names[len(names)-1]])
			}
		}
	}
	got, err := text(writeIndexed(t, rows), 1<<20, names...)
	if err != nil || got != want.String() {
		t.Errorf("%d bytes in place of %d, %v", len(got), want.Len(), err)
	}
}

// shown returns a value as the readers write it.
func shown(v protocol.Value) string {
	if v.Kind == protocol.Float {
		return strconv.FormatFloat(v.Float, 'g', -1, 64)
	}
	return v.String()
}
