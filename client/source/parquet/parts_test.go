package parquet

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/client/source/format"
	"posta.dev/posta/protocol"
	"posta.dev/posta/rows/columnar"
	"posta.dev/posta/rows/csv"
)

// inGroups returns a file with row groups of some numbers of rows. Every fifth row of some of them is NULL.
func inGroups(t *testing.T, groups ...int) []byte {
	t.Helper()
	var file bytes.Buffer
	w := NewWriter(&file, []string{"n", "text"}, []types.Type{types.Of(types.BigInt), types.Of(types.Text)})
	w.Group = 1 << 30
	n := int64(0)
	for i, rows := range groups {
		for range rows {
			row := []protocol.Value{{Kind: protocol.Int, Int: n * n % 977}, {Text: fmt.Sprintf("%d %s", n%1009, strings.Repeat("x", int(n%13)))}}
			if i%2 == 1 && n%5 == 0 {
				row[0] = protocol.Value{Kind: protocol.Null}
			}
			if err := w.Row(row); err != nil {
				t.Fatal(err)
			}
			n++
		}
		w.flush()
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// chunksOf returns the chunks of each part, with their lines in front, as one cutter cuts them.
func chunksOf(t *testing.T, c format.Parted, to map[int][]string) {
	t.Helper()
	for {
		chunk, line, err := c.Next(nil)
		if err == io.EOF {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		to[c.InPart()] = append(to[c.InPart()], fmt.Sprintf("%d %s", line, chunk))
	}
}

// TestE13_PartsAreCutAsTheWholeFileIs: chunk for chunk, whichever conditions and limits there are. Parts without chunks are known to be
// empty, and no row group is in two parts.
func TestE13_PartsAreCutAsTheWholeFileIs(t *testing.T) {
	file := inGroups(t, 70_000, 10, 0, 40_000, 30_000, 1, 1, 65_535, 1, 90_000, 5)
	in := &format.File{At: located{bytes.NewReader(file)}}
	few := columnar.Test{Column: 0, May: func(csv.Range) bool { return true }, Ask: columnar.Ask{Kind: columnar.Int, Most: 1 << 62},
		New: func() columnar.Tester { return &hashed{columnar.Int, 9} }}
	second := 0
	for name, want := range map[string]format.Want{
		"all":         {},
		"small":       {ChunkBytes: 5000},
		"few":         {Tests: []columnar.Test{few}},
		"lines":       {Lines: []uint64{2, 3, 70_001, 140_013, 140_014}},
		"no line":     {Lines: []uint64{}},
		"one skipped": {Skips: func([]csv.Range) bool { second++; return second == 1 || second == 4 }},
	} {
		want.Columns, want.MaxRecord = columnsOf("text", "n"), 1<<20
		if want.ChunkBytes == 0 {
			want.ChunkBytes = 64 << 10
		}
		want.Limits = func([]byte) (int, int, error) { return want.ChunkBytes, want.MaxRecord, nil }
		want.Sent = func([]byte) error { return nil }
		open := func() format.Parted {
			second = 0
			c, err := Format{}.Cut(in, &want)
			if err != nil {
				t.Fatal(err)
			}
			return c.(format.Parted)
		}
		whole, parted := map[int][]string{}, map[int][]string{}
		chunksOf(t, open(), whole)
		of := open()
		rows := int64(0)
		for i, p := range of.Parts() {
			if p.Number != i || p.Line != uint64(rows)+2 {
				t.Errorf("%s: part %d has number %d and line %d", name, i, p.Number, p.Line)
			}
			rows += p.Rows
			c, err := of.Part(p.Number)
			if err != nil {
				t.Fatal(err)
			}
			if of.Memory(i) <= 0 {
				t.Errorf("%s: part %d takes no memory", name, i)
			}
			chunksOf(t, c, parted)
			if p.Empty && len(parted[i]) > 0 {
				t.Errorf("%s: part %d has %d chunks, and should be empty", name, i, len(parted[i]))
			}
		}
		if rows != 295_553 || len(of.Parts()) != 5 {
			t.Fatalf("%s: %d parts with %d rows", name, len(of.Parts()), rows)
		}
		for i := range of.Parts() {
			if fmt.Sprint(parted[i]) != fmt.Sprint(whole[i]) {
				t.Errorf("%s: part %d has %d chunks, and %d in the whole file, or others", name, i, len(parted[i]), len(whole[i]))
			}
		}
		if _, err := of.Part(5); err == nil {
			t.Errorf("%s: there is a part that the file lacks", name)
		}
	}
}
