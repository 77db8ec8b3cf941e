package parquet

import (
	"bytes"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	pq "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding"

	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/protocol"
	"posta.dev/posta/rows/columnar"
	"posta.dev/posta/rows/csv"
)

// hashed passes values by the hash of their text.
type hashed struct {
	kind columnar.Kind
	keep uint32 // of 256 values
}

func (h *hashed) passes(text string) bool {
	f := fnv.New32a()
	f.Write([]byte(text))
	return f.Sum32()>>8%256 < h.keep
}

func (h *hashed) Numbers(values []int64, pass []bool) {
	for i, v := range values {
		var text []byte
		switch h.kind {
		case columnar.Int:
			text = strconv.AppendInt(nil, v, 10)
		case columnar.Float:
			text = columnar.AppendFloat(nil, math.Float64frombits(uint64(v)), 64)
		case columnar.Micros:
			text = columnar.AppendTime(nil, v, 2)
		case columnar.Nanos:
			text = columnar.AppendTime(nil, v, 3)
		case columnar.Days:
			text = columnar.AppendDay(nil, v)
		case columnar.Bool:
			text = strconv.AppendBool(nil, v != 0)
		default:
			text = columnar.AppendDecimal(nil, v, int(h.kind-columnar.Decimal(0)))
		}
		pass[i] = h.passes(string(text))
	}
}

func (h *hashed) Texts(values *columnar.Texts, pass []bool) {
	for i, from := range values.From {
		pass[i] = h.passes(string(values.Bytes[from:values.To[i]]))
	}
}

// hashTest returns a test of a column by its hash; ok is false if the column cannot be tested.
func hashTest(c *Cutter, column int, keep uint32, null bool) (t columnar.Test, h *hashed, ok bool) {
	of := c.columns[column]
	h = &hashed{of.travels, keep}
	t = columnar.Test{Column: column, Null: null, May: func(csv.Range) bool { return true }, New: func() columnar.Tester { return h }}
	if of.travels != 0 {
		t.Ask = columnar.Ask{Kind: of.travels, Most: math.MaxInt64}
	}
	return t, h, (&tested{Test: &t}).fits(of)
}

// cutRow is a row as it was cut. No value is an empty text, so what is empty is NULL.
type cutRow [][]byte

// cutTested returns the rows that are cut with tests, by line.
func cutTested(t *testing.T, in io.ReaderAt, size int, columns []csv.Column, chunk int,
	tests func(c *Cutter) []columnar.Test) map[uint64]cutRow {
	t.Helper()
	c, err := NewCutter(in, int64(size), columns, ',', chunk, 1<<20)
	if err == nil && tests != nil {
		err = c.Test(tests(c))
	}
	r, err := openRows(c, err, columns)
	if err != nil {
		t.Fatal(err)
	}
	rows, last := map[uint64]cutRow{}, uint64(0)
	for {
		line, fields, _, err := r.row()
		if err == io.EOF {
			return rows
		}
		if err != nil || line <= last {
			t.Fatalf("line %d after line %d: %v", line, last, err)
		}
		last = line
		row := cutRow{}
		for _, f := range fields {
			row = append(row, bytes.Clone(f))
		}
		rows[line] = row
	}
}

// fileOfKind returns a file with the column v in one of three forms, required, optional or in a list, beside others.
func fileOfKind(t *testing.T, r *rand.Rand, k *kindOf, node pq.Node, form, n int) (file []byte, columns []csv.Column) {
	t.Helper()
	node = pq.Compressed(node, codecs[r.IntN(len(codecs))])
	name, version := "v", 2
	switch form {
	case 0:
		version = 1 + r.IntN(2)
	case 1:
		node = pq.Optional(node)
	default:
		node, name = pq.Repeated(node), "v[1]"
	}
	schema := pq.NewSchema("file", pq.Group{"v": node, "w": pq.Encoded(pq.String(), &pq.RLEDictionary), "x": pq.Int(64), "y": pq.String()})
	often := r.IntN(20)
	var rows []pq.Row
	for i := range n {
		v, row := k.value(i), pq.Row(nil)
		switch {
		case form == 0:
			row = pq.Row{v.Level(0, 0, 0)}
		case r.IntN(20) < often:
			row = pq.Row{pq.NullValue().Level(0, 0, 0)}
		case form == 1:
			row = pq.Row{v.Level(0, 1, 0)}
		default:
			row = pq.Row{k.value(i+1).Level(0, 1, 0)}
			for range r.IntN(3) {
				row = append(row, v.Level(1, 1, 0))
			}
		}
		rows = append(rows, append(row, pq.ByteArrayValue(fmt.Appendf(nil, "word %d", i/9%50)).Level(0, 0, 1),
			pq.Int64Value(int64(i)).Level(0, 0, 2), pq.ByteArrayValue([]byte(strings.Repeat("y", i%90)+"-")).Level(0, 0, 3)))
	}
	file = written(t, schema, rows, 1+r.IntN(2*n), pq.DataPageVersion(version), pq.PageBufferSize(1+r.IntN(4000)))
	return file, columnsOf(name, "w", "x", "y")
}

// TestC1_RowsThatPassAreCutWhole: for every type and encoding, with NULLs and in lists, rows that pass two tests come with all of their
// values, whatever the chunks. Others come with some of them or not at all, and are the same in all chunks where they come.
func TestC1_RowsThatPassAreCutWhole(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 7))
	for _, k := range kinds {
		for _, e := range k.encodings {
			for form := range 3 {
				passWhole(t, r, &k, e, form, 5000)
			}
		}
	}
}

// FuzzRowsThatPass does the same for tables and tests of its own.
func FuzzRowsThatPass(f *testing.F) {
	for i := range kinds {
		f.Add(uint64(i), uint8(i), uint8(i), uint8(i), uint16(50*i*i))
	}
	f.Fuzz(func(t *testing.T, seed uint64, kind, encoding, form uint8, rows uint16) {
		k := &kinds[int(kind)%len(kinds)]
		passWhole(t, rand.New(rand.NewPCG(seed, 7)), k, k.encodings[int(encoding)%len(k.encodings)], int(form)%3, 1+int(rows)%20_000)
	})
}

func passWhole(t *testing.T, r *rand.Rand, k *kindOf, e encoding.Encoding, form, n int) {
	t.Helper()
	file, columns := fileOfKind(t, r, k, pq.Encoded(k.node, e), form, n)
	all := cutTested(t, bytes.NewReader(file), len(file), columns, 1<<20, nil)
	keeps, null := []uint32{[]uint32{0, 1, 30, 200, 256}[r.IntN(5)], []uint32{2, 128, 256}[r.IntN(3)]}, r.IntN(2) == 0
	pass := func(row cutRow) bool { return true }
	tests := func(c *Cutter) (tests []columnar.Test) {
		pass = func(cutRow) bool { return true }
		for i, column := range []int{0, 1 + r.IntN(3)} {
			one, h, ok := hashTest(c, column, keeps[i], null)
			if !ok {
				continue
			}
			before := pass
			pass = func(row cutRow) bool {
				return before(row) && (len(row[column]) == 0 && null || len(row[column]) > 0 && h.passes(string(row[column])))
			}
			tests = append(tests, one)
		}
		if len(tests) == 0 {
			t.Fatal("no column can be tested")
		}
		return tests
	}
	seed := r.Uint64()
	seen := map[uint64]cutRow{}
	for _, chunk := range []int{1, 700, 1 << 20} {
		r = rand.New(rand.NewPCG(seed, 1)) // the same tests
		rows := cutTested(t, bytes.NewReader(file), len(file), columns, chunk, tests)
		for line, want := range all {
			got, is := rows[line]
			about := fmt.Sprintf("NULL passes: %t, %s, %v, form %d, keep %v, chunks of %d, line %d: %q of %q", null, k.name, e, form, keeps,
				chunk, line, got, want)
			if !is {
				if pass(want) {
					t.Fatal("a row that passes is not there: " + about)
				}
				continue
			}
			if pass(got) && !pass(want) {
				t.Fatal("a row passes that should not: " + about)
			}
			for i := range got {
				if !bytes.Equal(got[i], want[i]) && (len(got[i]) > 0 || pass(want)) {
					t.Fatal("another value: " + about)
				}
			}
			if before, is := seen[line]; is && fmt.Sprintf("%q", before) != fmt.Sprintf("%q", got) {
				t.Fatalf("in other chunks it was %q: %s", before, about)
			}
			seen[line] = got
		}
	}
}

// atLeast passes numbers from one on, up to another.
type atLeast struct{ from, to int64 }

func (a atLeast) Numbers(values []int64, pass []bool) {
	for i, v := range values {
		pass[i] = a.from <= v && v < a.to
	}
}
func (a atLeast) Texts(*columnar.Texts, []bool) {}

func (a atLeast) may(r csv.Range) bool {
	least, err := strconv.ParseInt(string(r.Least), 10, 64)
	most, also := strconv.ParseInt(string(r.Most), 10, 64)
	return r.Kind != csv.KindNone && (err != nil || also != nil || least < a.to && a.from <= most)
}

func (a atLeast) test(column int, may func(csv.Range) bool) columnar.Test {
	return columnar.Test{Column: column, Ask: columnar.Ask{Kind: columnar.Int}, May: may, New: func() columnar.Tester { return a }}
}

// numberedFile returns a file with the numbers of its rows, a text of which no two are equal, and a word.
func numberedFile(t testing.TB, rows int) []byte {
	t.Helper()
	var b bytes.Buffer
	w := NewWriter(&b, []string{"n", "text", "word"}, []types.Type{types.Of(types.BigInt), types.Of(types.Text), types.Of(types.Text)})
	w.Group = 1 << 30
	for i := range rows {
		if err := w.Row([]protocol.Value{{Kind: protocol.Int, Int: int64(i)}, {Text: fmt.Sprint("text ", i)}, {Text: wordOf(i)}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// wordOf returns one of a few words, in an order that does not pack well: pages are longer than what is read of a header.
func wordOf(i int) string { return strconv.Itoa(int(uint32(i) * 2654435761 >> 13 % 7)) }

// TestC1_PagesWithoutRowsThatCountAreNotRead: neither those that the page index excludes nor, of other columns, those without a row that
// passes; of a page that is not read, not even the header.
func TestC1_PagesWithoutRowsThatCountAreNotRead(t *testing.T) {
	const rows = 5*pageRows + 77
	file := numberedFile(t, rows)
	f, err := pq.OpenFile(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	any := func(csv.Range) bool { return true }
	for _, a := range []atLeast{{2*pageRows + 5, 2*pageRows + 9}, {3*pageRows - 1, 3*pageRows + 1}, {0, 1},
		{rows - 1, rows}, {rows, rows + 9}} {
		for _, indexed := range []bool{true, false} {
			in := &forbidden{Reader: bytes.NewReader(file)}
			for column, chunk := range f.RowGroups()[0].ColumnChunks() {
				places, err := chunk.OffsetIndex()
				if err != nil {
					t.Fatal(err)
				}
				for p := range places.NumPages() {
					end := int64(rows)
					if p+1 < places.NumPages() {
						end = places.FirstRowIndex(p + 1)
					}
					needed := a.from < end && places.FirstRowIndex(p) < a.to || p == 0 // the dictionary is before the first page
					if from := places.Offset(p); !needed && (indexed || column > 0) {
						in.parts = append(in.parts, [2]int64{from + 1, from + places.CompressedPageSize(p)})
					}
				}
			}
			may := a.may
			if !indexed {
				may = any
			}
			got := cutTested(t, in, len(file), columnsOf("n", "text", "word"), 1<<20,
				func(*Cutter) []columnar.Test { return []columnar.Test{a.test(0, may)} })
			for n := a.from; n < min(a.to, rows); n++ {
				if row := got[uint64(n+2)]; row == nil || string(row[0]) != fmt.Sprint(n) || string(row[1]) != fmt.Sprint("text ", n) ||
					string(row[2]) != wordOf(int(n)) {
					t.Errorf("%+v: row %d is %q", a, n, row)
				}
			}
			if len(got) > 2*gapRows {
				t.Errorf("%+v: %d rows are cut", a, len(got))
			}
		}
	}
}

// TestC1_DamagedPageIndexesAreErrorsOrIgnored changes bytes of the index of places. The rows that are read by it are the right ones, or
// there is an error.
func TestC1_DamagedPageIndexesAreErrorsOrIgnored(t *testing.T) {
	const rows = 4*pageRows + 5
	file := numberedFile(t, rows)
	f, err := pq.OpenFile(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(5, 3))
	columns, same := f.Metadata().RowGroups[0].Columns, 0
	for range 400 {
		p := bytes.Clone(file)
		c := &columns[r.IntN(len(columns))]
		at, n := c.OffsetIndexOffset, int(c.OffsetIndexLength)
		bounds := r.IntN(4) == 0
		if bounds { // which are trusted, as far as they are bounds
			at, n = c.ColumnIndexOffset, int(c.ColumnIndexLength)
		}
		for range 1 + r.IntN(2) {
			p[at+int64(r.IntN(n))] = byte(r.Uint32())
		}
		from := r.Int64N(rows)
		a := atLeast{from, from + 3}
		cutter, err := NewCutter(bytes.NewReader(p), int64(len(p)), columnsOf("n", "text", "word"), ',', 1<<20, 1<<20)
		if err == nil {
			may := a.may
			if !bounds {
				may = func(csv.Range) bool { return true }
			}
			err = cutter.Test([]columnar.Test{a.test(0, may)})
		}
		if err != nil {
			t.Fatal(err)
		}
		found, err := rowsFrom(cutter, a)
		if err := blameless(cutter, err); err != nil {
			t.Fatal(err)
		}
		switch {
		case err != nil:
		case found == min(3, rows-from):
			same++
		case !bounds:
			t.Fatalf("%d rows from %d on", found, from)
		}
	}
	if same < 100 {
		t.Errorf("%d files are read", same)
	}
}

// TestC1_APageThatContradictsItsIndexIsAnError: one with other rows. Indexes that contradict themselves are ignored.
func TestC1_APageThatContradictsItsIndexIsAnError(t *testing.T) {
	const rows = 4*pageRows + 5
	file := numberedFile(t, rows)
	f, err := pq.OpenFile(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	chunk := &f.Metadata().RowGroups[0].Columns[1]
	for name, c := range map[string]struct {
		change func(pages []gatheredPage)
		wrong  bool
	}{
		"as written":             {func([]gatheredPage) {}, false},
		"another beginning":      {func(p []gatheredPage) { p[2].row++ }, true},
		"another end":            {func(p []gatheredPage) { p[3].row-- }, true},
		"pages with a gap":       {func(p []gatheredPage) { p[2].at++ }, false},
		"a page of another size": {func(p []gatheredPage) { p[2].size-- }, false},
		"rows that do not begin": {func(p []gatheredPage) { p[0].row = 1 }, false},
		"rows in another order":  {func(p []gatheredPage) { p[2].row, p[1].row = p[1].row, p[2].row }, false},
		"pages behind the end":   {func(p []gatheredPage) { p[4].size++ }, false},
		"rows behind the end":    {func(p []gatheredPage) { p[4].row = 2 * rows }, false},
	} {
		places, err := f.RowGroups()[0].ColumnChunks()[1].OffsetIndex()
		if err != nil {
			t.Fatal(err)
		}
		var pages []gatheredPage
		for i := range places.NumPages() {
			pages = append(pages, gatheredPage{at: places.Offset(i), size: places.CompressedPageSize(i), row: places.FirstRowIndex(i)})
		}
		c.change(pages)
		index := offsetIndex(pages)
		if n := int(chunk.OffsetIndexLength) - len(index); n > 0 {
			index = append(index, make([]byte, n)...)
		} else if n < 0 {
			t.Fatalf("%s: the index is longer", name)
		}
		p := bytes.Clone(file)
		copy(p[chunk.OffsetIndexOffset:], index)
		a := atLeast{2*pageRows + 70, 2*pageRows + 75}
		cutter, err := NewCutter(bytes.NewReader(p), int64(len(p)), columnsOf("n", "text", "word"), ',', 1<<20, 1<<20)
		if err == nil {
			err = cutter.Test([]columnar.Test{a.test(0, a.may)})
		}
		if err != nil {
			t.Fatal(err)
		}
		found, err := rowsFrom(cutter, a)
		refused := errors.Is(err, ErrDamaged) && strings.Contains(err.Error(), "its index says")
		if refused != c.wrong || !c.wrong && (err != nil || found != 5) {
			t.Errorf("%s: %d rows, %v", name, found, err)
		}
	}
}

// TestC1_TestsWithoutMemoryExcludeNoRows: where there is no memory for a second copy of a page, its column is not tested any more.
func TestC1_TestsWithoutMemoryExcludeNoRows(t *testing.T) {
	const rows = 3 * pageRows
	file, full := numberedFile(t, rows), 0
	for _, room := range []int{0, 1000, 100_000, 1 << 20} {
		for _, column := range []int{0, 2} {
			c, err := NewCutter(bytes.NewReader(file), int64(len(file)), columnsOf("n", "text", "word"), ',', 1<<20, 1<<20)
			a := atLeast{5, rows - 7}
			one := a.test(column, func(csv.Range) bool { return true })
			if column == 2 {
				one.Ask, one.New = columnar.Ask{}, func() columnar.Tester { return &hashed{keep: 256} }
			}
			if err == nil {
				err = c.Test([]columnar.Test{one})
			}
			if err != nil {
				t.Fatal(err)
			}
			c.filter.memory.limit = c.filter.memory.used + room
			if found, err := rowsFrom(c, a); err != nil || found != a.to-a.from {
				t.Errorf("%d bytes of memory, column %d: %d rows, %v", room, column, found, err)
			}
			if c.filter.memory.full {
				full++
			}
		}
	}
	if full == 0 {
		t.Error("there was always memory")
	}
}

// TestC1_AllWordsAreTested: a dictionary may have more words than are tested at once, and those that pass may be anywhere.
func TestC1_AllWordsAreTested(t *testing.T) {
	const rows, words = 3 * pageRows, 3*takeRows + 5
	var b bytes.Buffer
	w := NewWriter(&b, []string{"n", "m"}, []types.Type{types.Of(types.BigInt), types.Of(types.BigInt)})
	for i := range int64(rows) {
		if err := w.Row([]protocol.Value{{Kind: protocol.Int, Int: i % words}, {Kind: protocol.Int, Int: i}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for _, word := range []int64{0, takeRows - 1, takeRows, words / 2, words - 1} {
		found := 0
		for _, row := range cutTested(t, bytes.NewReader(b.Bytes()), b.Len(), columnsOf("n", "m"), 1<<20, func(c *Cutter) []columnar.Test {
			return []columnar.Test{atLeast{word, word + 1}.test(0, func(csv.Range) bool { return true })}
		}) {
			if string(row[0]) == fmt.Sprint(word) {
				found++
			}
		}
		if want := (rows - int(word) + words - 1) / words; found != want {
			t.Errorf("word %d: %d rows of %d", word, found, want)
		}
	}
}

// TestC1_NumbersBeyondATestPassIt: they come as text, and what is made of that is left to the parser.
func TestC1_NumbersBeyondATestPassIt(t *testing.T) {
	one := tested{Test: &columnar.Test{}, by: atLeast{}, power: 100, low: -9, high: 9}
	values := []int64{-10, -9, 0, 9, 10, math.MaxInt64, math.MinInt64}
	pass := make([]bool, len(values))
	if one.travelling(values, pass); fmt.Sprint(pass) != "[true false false false true true true]" {
		t.Errorf("%v pass: %v", values, pass)
	}
}

// rowsFrom counts the rows of a numbered file that pass.
func rowsFrom(c *Cutter, a atLeast) (found int64, err error) {
	r, err := openRows(c, nil, columnsOf("n", "text", "word"))
	if err != nil {
		return 0, err
	}
	for {
		line, fields, _, err := r.row()
		if err == io.EOF {
			return found, nil
		}
		if err != nil {
			return found, err
		}
		if n := int64(line) - 2; a.from <= n && n < a.to {
			if found++; string(fields[0]) != fmt.Sprint(n) || string(fields[1]) != fmt.Sprint("text ", n) || string(fields[2]) != wordOf(int(n)) {
				return 0, fmt.Errorf("%w, in which row %d is %q", errors.New("another row"), n, fields)
			}
		}
	}
}

// TestC1_RowsAreCutWholeIfNULLPasses: a row that does not pass must not get a NULL by which it would.
func TestC1_RowsAreCutWholeIfNULLPasses(t *testing.T) {
	const rows = 3*pageRows + 100
	file := writeIndexed(t, rows)
	test := columnar.Test{Column: 1, Ask: columnar.Ask{Kind: columnar.Int}, Null: true, New: func() columnar.Tester { return atLeast{} },
		May: func(r csv.Range) bool { return r.Kind == csv.KindNone || !r.NoNulls }}
	for _, chunk := range []int{3000, 1 << 20} {
		got := cutTested(t, bytes.NewReader(file), len(file), columnsOf("number", "NULLs", "word"), chunk,
			func(*Cutter) []columnar.Test { return []columnar.Test{test} })
		for line, row := range got {
			i := int(line) - 2
			if string(row[0]) != shown(indexed[0].at(i)) || string(row[2]) != shown(indexed[1].at(i)) || (len(row[1]) == 0) != (i/25_000%2 == 1) {
				t.Fatalf("row %d is %q", i, row)
			}
		}
		if len(got) != 2*pageRows { // the second page and the third one have NULLs
			t.Errorf("%d rows are cut", len(got))
		}
	}
}
