package parquet

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	pq "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/bloom/xxhash"

	"posta.dev/posta/rows/columnar"
	"posta.dev/posta/rows/csv"
)

// TestC1_HashesAreThoseOfAnotherImplementation: of any length, and at any place in memory.
func TestC1_HashesAreThoseOfAnotherImplementation(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	p := make([]byte, 400)
	for i := range p {
		p[i] = byte(r.Uint32())
	}
	for from := range 9 {
		for to := from; to <= len(p); to++ {
			if got, want := hash64(p[from:to]), xxhash.Sum64(p[from:to]); got != want {
				t.Fatalf("%d bytes: %x, want %x", to-from, got, want)
			}
		}
	}
}

// collector is a Tester that keeps what it gets.
type collector struct{ all columnar.Only }

func (c *collector) Numbers(values []int64, pass []bool) { c.all.Ints = append(c.all.Ints, values...) }

func (c *collector) Texts(values *columnar.Texts, pass []bool) {
	for i, from := range values.From {
		c.all.Texts = append(c.all.Texts, string(values.Bytes[from:values.To[i]]))
	}
}

// askFor returns what is asked of a column that has what SQL wants.
func askFor(c *column) (ask columnar.Ask) {
	if c.travels != 0 {
		ask = columnar.Ask{Kind: c.travels, Most: math.MaxInt64}
	}
	return ask
}

// valuesOf returns the values of a file's only column, each by itself, as a tester gets them.
func valuesOf(t *testing.T, file []byte) (all []*columnar.Only) {
	t.Helper()
	cut := func(tests []columnar.Test) *Cutter {
		c, err := NewCutter(bytes.NewReader(file), int64(len(file)), columnsOf("v"), ',', 1<<20, 1<<24)
		if err == nil {
			err = c.Test(tests)
		}
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	kept := &collector{}
	ask := askFor(cut(nil).columns[0])
	c := cut([]columnar.Test{{Ask: ask, May: anything, New: func() columnar.Tester { return kept }}})
	for err := error(nil); err == nil; {
		_, _, err = c.Next(nil)
	}
	for _, v := range kept.all.Ints {
		all = append(all, &columnar.Only{Ints: []int64{v}})
	}
	for _, v := range kept.all.Texts {
		all = append(all, &columnar.Only{Texts: []string{v}})
	}
	return all
}

func anything(csv.Range) bool { return true }

// readGroups returns which row groups of a file are read if only some values count in the column v.
func readGroups(t *testing.T, file []byte, only *columnar.Only) (groups []bool) {
	t.Helper()
	c, err := NewCutter(bytes.NewReader(file), int64(len(file)), columnsOf("v"), ',', 1<<20, 1<<24)
	if err != nil {
		t.Fatal(err)
	}
	ask := askFor(c.columns[0])
	err = c.Test([]columnar.Test{{Ask: ask, May: anything, Only: only, New: func() columnar.Tester { return &collector{} }}})
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range c.groups {
		groups = append(groups, !g.skip)
	}
	return groups
}

// TestC1_BloomFiltersLeaveOutRowGroups: for every type with a filter, the row group of a value is read, and hardly any without it.
func TestC1_BloomFiltersLeaveOutRowGroups(t *testing.T) {
	const perGroup, groups = 60, 3
	filter := pq.BloomFilters(pq.SplitBlockFilter(20, "v"))
	none := map[string]bool{"bool": true, "float": true, "int96": true} // see column.hashes
	all := slices.Concat(kinds, []kindOf{
		{name: "smaller uint64", node: pq.Uint(64), value: func(i int) pq.Value { return pq.Int64Value(int64(i) << 40) }},
		{name: "fixed", node: pq.Leaf(pq.FixedLenByteArrayType(3)),
			value: func(i int) pq.Value { return pq.FixedLenByteArrayValue(fmt.Appendf(nil, "%03d", i)) }},
		{name: "short decimal", node: pq.Decimal(1, 5, pq.FixedLenByteArrayType(3)), value: func(i int) pq.Value {
			return pq.FixedLenByteArrayValue(binary.BigEndian.AppendUint32(nil, uint32(i-90))[1:])
		}},
		{name: "far decimal", node: pq.Decimal(3, 38, pq.FixedLenByteArrayType(16)), value: func(i int) pq.Value {
			return pq.FixedLenByteArrayValue(binary.BigEndian.AppendUint64(make([]byte, 8), uint64(i)<<50))
		}},
	})
	for _, k := range all {
		if k.name == "uint64" { // whose numbers are too large for SQL
			continue
		}
		schema := pq.NewSchema("file", pq.Group{"v": pq.Optional(k.node)})
		var rows []pq.Row
		for i := range perGroup * groups {
			at := i
			if k.name == "string" || k.name == "long decimal" { // which repeat
				at = i % perGroup * 40
				at += i / perGroup
			}
			rows = append(rows, pq.Row{k.value(at).Level(0, 1, 0)})
			if i%7 == 0 {
				rows[i] = pq.Row{pq.NullValue().Level(0, 0, 0)}
			}
		}
		file := written(t, schema, rows, perGroup, filter)
		read, should := 0, 0
		for g := range groups {
			all := valuesOf(t, written(t, schema, rows[g*perGroup:(g+1)*perGroup], perGroup))
			if k.name == "uuid" { // which are not tested row by row
				for i := g * perGroup; i < (g+1)*perGroup; i++ {
					if i%7 > 0 {
						all = append(all, &columnar.Only{Texts: []string{k.text(i)}})
					}
				}
			}
			for _, only := range all {
				was := readGroups(t, file, only)
				if !was[g] {
					t.Errorf("%s: row group %d has %v, and is left out", k.name, g, only)
				}
				for _, is := range was {
					if is {
						read++
					}
				}
				should++
			}
		}
		if should == 0 || none[k.name] != (read == groups*should) || !none[k.name] && read > should+should/3 && k.name != "long decimal" &&
			k.name != "string" {
			t.Errorf("%s: %d row groups are read, %d have the values", k.name, read, should)
		}
	}
}

// TestC1_BloomFiltersOfValuesThatAColumnCannotHave: they are in no row group. Both zeros are the same.
func TestC1_BloomFiltersOfValuesThatAColumnCannotHave(t *testing.T) {
	filter := pq.BloomFilters(pq.SplitBlockFilter(30, "v"))
	fileOf := func(node pq.Node, v pq.Value) []byte {
		return written(t, pq.NewSchema("file", pq.Group{"v": node}), []pq.Row{{v.Level(0, 0, 0)}}, 1, filter)
	}
	for _, c := range []struct {
		node pq.Node
		v    pq.Value
		ask  columnar.Kind
		only columnar.Only
		read bool
	}{
		{pq.Leaf(pq.Int32Type), pq.Int32Value(7), columnar.Int, columnar.Only{Ints: []int64{7}}, true},
		{pq.Leaf(pq.Int32Type), pq.Int32Value(7), columnar.Int, columnar.Only{Ints: []int64{7 + 1<<32}}, false},
		{pq.Leaf(pq.Int32Type), pq.Int32Value(-7), columnar.Int, columnar.Only{Ints: []int64{1<<32 - 7}}, false},
		{pq.Uint(32), pq.Int32Value(-7), columnar.Int, columnar.Only{Ints: []int64{1<<32 - 7}}, true},
		{pq.Uint(32), pq.Int32Value(-7), columnar.Int, columnar.Only{Ints: []int64{-7}}, false},
		{pq.Uint(64), pq.Int64Value(-7), columnar.Int, columnar.Only{Ints: []int64{-7}}, false},
		{pq.Timestamp(pq.Millisecond), pq.Int64Value(7), columnar.Micros, columnar.Only{Ints: []int64{7000}}, true},
		{pq.Timestamp(pq.Millisecond), pq.Int64Value(7), columnar.Micros, columnar.Only{Ints: []int64{7001}}, false},
		{pq.Timestamp(pq.Millisecond), pq.Int64Value(7), columnar.Micros, columnar.Only{Ints: []int64{7}}, false},
		{pq.Decimal(1, 9, pq.Int32Type), pq.Int32Value(7), columnar.Decimal(3), columnar.Only{Ints: []int64{700}}, true},
		{pq.Decimal(1, 9, pq.Int32Type), pq.Int32Value(7), columnar.Decimal(3), columnar.Only{Ints: []int64{707}}, false},
		{pq.Leaf(pq.DoubleType), pq.DoubleValue(0), columnar.Float, columnar.Only{Ints: []int64{math.MinInt64}}, true},
		{pq.Leaf(pq.DoubleType), pq.DoubleValue(math.Copysign(0, -1)), columnar.Float, columnar.Only{Ints: []int64{0}}, true},
		{pq.Leaf(pq.FixedLenByteArrayType(2)), pq.FixedLenByteArrayValue([]byte("ab")), 0, columnar.Only{Texts: []string{"ab"}}, true},
		{pq.Leaf(pq.FixedLenByteArrayType(2)), pq.FixedLenByteArrayValue([]byte("ab")), 0, columnar.Only{Texts: []string{"a", "abc"}}, false},
		{pq.UUID(), pq.FixedLenByteArrayValue(make([]byte, 16)), 0, columnar.Only{Texts: []string{"00000000-0000-0000-0000-000000000000"}}, true},
		{pq.UUID(), pq.FixedLenByteArrayValue(make([]byte, 16)), 0, columnar.Only{Texts: []string{
			"00000000-0000-0000-0000-00000000000", "00000000 0000-0000-0000-000000000000", "00000000-0000-0000-0000-00000000000x"}}, false},
		{pq.String(), pq.ByteArrayValue(nil), 0, columnar.Only{Texts: []string{""}}, true},
		{pq.String(), pq.ByteArrayValue(nil), 0, columnar.Only{}, false},
		{pq.String(), pq.ByteArrayValue(nil), columnar.Int, columnar.Only{Ints: []int64{0}}, true},       // a number that is a text in the file
		{pq.Leaf(pq.Int32Type), pq.Int32Value(7), 0, columnar.Only{Texts: []string{"other"}}, true},      // a text that is a number in the file
		{pq.Leaf(pq.Int32Type), pq.Int32Value(7), columnar.Float, columnar.Only{Ints: []int64{0}}, true}, // and a float
	} {
		file := fileOf(c.node, c.v)
		cutter, err := NewCutter(bytes.NewReader(file), int64(len(file)), columnsOf("v"), ',', 1<<20, 1<<24)
		if err != nil {
			t.Fatal(err)
		}
		only := c.only
		cutter.askBloomFilters([]columnar.Test{{Ask: columnar.Ask{Kind: c.ask, Most: math.MaxInt64}, Only: &only}})
		if read := !cutter.groups[0].skip; read != c.read {
			t.Errorf("%v with %v: asked for %+v, it is read: %t", c.node, c.v, only, read)
		}
	}
}

// TestC1_DamagedBloomFiltersAreIgnored: whatever its header says, and wherever the footer says that it is.
func TestC1_DamagedBloomFiltersAreIgnored(t *testing.T) {
	var rows []pq.Row
	for i := range 2000 {
		rows = append(rows, pq.Row{pq.Int64Value(int64(i)).Level(0, 0, 0)})
	}
	schema := pq.NewSchema("file", pq.Group{"v": pq.Int(64)})
	file := written(t, schema, rows, 5000, pq.BloomFilters(pq.SplitBlockFilter(10, "v")))
	f, err := pq.OpenFile(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	meta := f.Metadata().RowGroups[0].Columns[0].MetaData
	at, absent := int(meta.BloomFilterOffset), &columnar.Only{Ints: []int64{-1}}
	if readGroups(t, file, absent)[0] {
		t.Fatal("the filter is not asked")
	}
	c, err := NewCutter(bytes.NewReader(file), int64(len(file)), columnsOf("v"), ',', 1<<20, 1<<24)
	if err != nil {
		t.Fatal(err)
	}
	of := c.groups[0].metas[0].bloom
	bits, blocks := c.shared.file.bloomAt(of)
	head := int(bits) - at
	if blocks == 0 || head < 8 || head > bloomHead {
		t.Fatal(bits, blocks)
	}
	for i := range head { // each bit of the header
		for bit := range 8 {
			p := bytes.Clone(file)
			p[at+i] ^= 1 << bit
			if groups := readGroups(t, p, &columnar.Only{Ints: []int64{1000}}); !groups[0] {
				t.Errorf("bit %d of byte %d of the header is wrong, and the row group is left out", bit, i)
			}
		}
	}
	size := int64(head) + int64(blocks)*sizeOfBlock
	for _, e := range []extent{{}, {0, size}, {3, size}, {-1, size}, {math.MinInt64, 0}, {math.MaxInt64, 0}, {c.shared.file.end, 0},
		{c.shared.file.end - 1, 0}, {c.shared.file.end - size + 1, 0}, {of.at, size - 1}, {of.at, size + 1}, {of.at + 1, 0}, {of.at, 1},
		{of.at, math.MaxInt64}, {int64(len(file)), size}} {
		if c.shared.file.lacks(e, []uint64{hashOfInt(-1, 8)}) {
			t.Errorf("a filter that would be at %+v says something", e)
		}
	}
	if !c.shared.file.lacks(extent{of.at, 0}, []uint64{hashOfInt(-1, 8)}) {
		t.Error("a filter whose size is not known is not asked")
	}
	in := &forbidden{Reader: bytes.NewReader(file), parts: [][2]int64{{bits, bits + int64(blocks)*sizeOfBlock}}}
	cut, err := NewCutter(in, int64(len(file)), columnsOf("v"), ',', 1<<20, 1<<24)
	if err != nil {
		t.Fatal(err)
	}
	cut.askBloomFilters([]columnar.Test{{Ask: columnar.Ask{Kind: columnar.Int}, Only: absent}})
	if cut.groups[0].skip {
		t.Error("a filter that cannot be read leaves out the row group")
	}
}
