package parquet

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"testing"
)

// handmade is a file of one column "a" and one row group, which no writer would write so: its pages are these bytes, and the rest is right.
type handmade struct {
	kind, encoding int64
	length         int64 // of values of kind kindFixed
	logical        int64 // a converted type, 0 for none; decimals have two digits behind the point
	optional       bool
	values         int64
	page           []byte // the levels too, if it is optional
	dictionary     []byte // of words in encoding PLAIN
	words          int64
	statistics     func(*made)
}

func (h *handmade) file() []byte {
	file := []byte(Magic)
	pageAt := func(kind int64, about int, values, encoding int64, p []byte) (at int64) {
		at = int64(len(file))
		var m made
		m.int(1, thriftI32, kind)
		m.int(2, thriftI32, int64(len(p)))
		m.int(3, thriftI32, int64(len(p)))
		m.begin(about)
		m.int(1, thriftI32, values)
		m.int(2, thriftI32, encoding)
		if kind == pageData {
			m.int(3, thriftI32, encodingRLE)
			m.int(4, thriftI32, encodingRLE)
		}
		m.end()
		m.end()
		file = append(append(file, m.p...), p...)
		return at
	}
	dictionary := int64(0)
	if h.dictionary != nil {
		dictionary = pageAt(pageDictionary, 7, h.words, encodingPlain, h.dictionary)
	}
	data := pageAt(pageData, 5, h.values, h.encoding, h.page)
	packed := int64(len(file)) - data
	if dictionary > 0 {
		packed = int64(len(file)) - dictionary
	}

	var m made
	m.int(1, thriftI32, 1)
	m.list(2, thriftStruct, 2)
	var root, leaf made
	root.field(4, thriftBinary)
	root.text("rows")
	root.int(5, thriftI32, 1)
	root.end()
	leaf.int(1, thriftI32, h.kind)
	leaf.int(2, thriftI32, h.length)
	repetition := int64(required)
	if h.optional {
		repetition = optional
	}
	leaf.int(3, thriftI32, repetition)
	leaf.field(4, thriftBinary)
	leaf.text("a")
	if h.logical > 0 {
		leaf.int(6, thriftI32, h.logical)
		leaf.int(7, thriftI32, 2)
	}
	leaf.end()
	m.p = append(append(m.p, root.p...), leaf.p...)
	m.int(3, thriftI64, h.values)
	m.list(4, thriftStruct, 1)
	var g, c made
	c.begin(3)
	c.int(1, thriftI32, h.kind)
	c.int(4, thriftI32, codecNone)
	c.int(5, thriftI64, h.values)
	c.int(7, thriftI64, packed)
	c.int(9, thriftI64, data)
	if dictionary > 0 {
		c.int(11, thriftI64, dictionary)
	}
	if h.statistics != nil {
		c.begin(12)
		h.statistics(&c)
		c.end()
	}
	c.end()
	c.end()
	g.list(1, thriftStruct, 1)
	g.p = append(g.p, c.p...)
	g.int(3, thriftI64, h.values)
	g.end()
	m.p = append(m.p, g.p...)
	m.list(7, thriftStruct, 1)
	m.p = append(m.p, 0x1c, 0, 0) // the order of the type
	m.end()
	file = append(file, m.p...)
	file = binary.LittleEndian.AppendUint32(file, uint32(len(m.p)))
	return append(file, Magic...)
}

// numbered is numbers as the head of DELTA_BINARY_PACKED has them, and what follows.
func numbered(numbers ...uint64) (p []byte) {
	for _, n := range numbers {
		p = binary.AppendUvarint(p, n)
	}
	return p
}

// zigzag is a signed number among them.
func zigzag(v int64) uint64 { return uint64(v<<1) ^ uint64(v>>63) }

// differing is values in DELTA_BINARY_PACKED, at most 33 of them.
func differing(values ...int64) []byte {
	p := numbered(128, 4, uint64(len(values)), zigzag(values[0]))
	if len(values) == 1 {
		return p
	}
	least := int64(math.MaxInt64)
	for i := range values[1:] {
		least = min(least, values[i+1]-values[i])
	}
	p = append(binary.AppendUvarint(p, zigzag(least)), 64, 0, 0, 0)
	for i := range 32 {
		d := int64(0)
		if i+1 < len(values) {
			d = values[i+1] - values[i] - least
		}
		p = binary.LittleEndian.AppendUint64(p, uint64(d))
	}
	return p
}

func lengthened(texts ...string) (p []byte) {
	for _, s := range texts {
		p = append(binary.LittleEndian.AppendUint32(p, uint32(len(s))), s...)
	}
	return p
}

// handmadePage is one of [handmadePages]: want is its rows, or what is said of it.
type handmadePage struct {
	handmade
	want string
}

func (p *handmadePage) right() bool { return strings.HasSuffix(p.want, "\n") }

// handmadePages are pages that are right, and others that lie about sizes, lengths, levels and words.
func handmadePages() map[string]handmadePage {
	words := lengthened("x", "y")
	return map[string]handmadePage{
		"plain":                     {handmade{kind: kindBytes, values: 2, page: lengthened("b", "")}, "b\n\"\"\n"},
		"a length behind the end":   {handmade{kind: kindBytes, values: 1, page: []byte{9, 0, 0, 0, 'b'}}, "fewer values"},
		"a length that overflows":   {handmade{kind: kindBytes, values: 1, page: []byte{0xff, 0xff, 0xff, 0xff, 'b'}}, "fewer values"},
		"half a length":             {handmade{kind: kindBytes, values: 1, page: []byte{1, 0}}, "fewer values"},
		"fewer values than it says": {handmade{kind: kindInt64, values: 3, page: make([]byte, 23)}, "fewer values"},
		"words": {handmade{kind: kindBytes, encoding: encodingDictionary, values: 3, page: []byte{1, 3, 0b101},
			dictionary: words, words: 2}, "y\nx\ny\n"},
		"a word that is not there": {handmade{kind: kindBytes, encoding: encodingDictionary, values: 3,
			page: []byte{2, 3, 0b100000, 0}, dictionary: words, words: 2}, "word 2 of a dictionary of 2"},
		"words of 32 bits": {handmade{kind: kindBytes, encoding: encodingDictionary, values: 1,
			page: []byte{32, 2, 0xff, 0xff, 0xff, 0xff}, dictionary: words, words: 2}, "word 4294967295 of a dictionary of 2"},
		"words of 33 bits": {handmade{kind: kindBytes, encoding: encodingDictionary, values: 1,
			page: []byte{33, 2, 0, 0, 0, 0, 0}, dictionary: words, words: 2}, "have no size"},
		"words without a dictionary": {handmade{kind: kindBytes, encoding: encodingDictionary, values: 1, page: []byte{1, 2, 0}},
			"there is none"},
		"a dictionary of many words": {handmade{kind: kindBytes, encoding: encodingDictionary, values: 1, page: []byte{1, 2, 0},
			dictionary: words, words: 1 << 40}, "it says that there are"},
		"a dictionary of too many": {handmade{kind: kindBytes, encoding: encodingDictionary, values: 1, page: []byte{1, 2, 0},
			dictionary: words, words: 3}, "fewer values"},
		"a dictionary of -1": {handmade{kind: kindBytes, encoding: encodingDictionary, values: 1, page: []byte{1, 2, 0},
			dictionary: words, words: -1}, "it says that there are"},
		"a run that is too long": {handmade{kind: kindBytes, encoding: encodingDictionary, values: 1,
			page: append([]byte{1}, numbered(1<<40, 0)...), dictionary: words, words: 2}, "fewer values"},
		"a run that is too short": {handmade{kind: kindBytes, encoding: encodingDictionary, values: 2, page: []byte{1, 2, 0},
			dictionary: words, words: 2}, "fewer values"},
		"levels": {handmade{kind: kindBytes, optional: true, values: 3,
			page: append([]byte{2, 0, 0, 0, 3, 0b101}, lengthened("b", "c")...)}, "b\n\"\"\nc\n"},
		"levels that are too high": {handmade{kind: kindBytes, optional: true, values: 3,
			page: append([]byte{2, 0, 0, 0, 6, 9}, lengthened("b", "c")...)}, "levels are damaged"},
		"levels longer than the page": {handmade{kind: kindBytes, optional: true, values: 3,
			page: []byte{0xff, 0xff, 0xff, 0xff, 3, 0b101}}, "levels are damaged"},
		"levels of fewer values": {handmade{kind: kindBytes, optional: true, values: 9,
			page: append([]byte{2, 0, 0, 0, 2, 1}, lengthened("b", "c")...)}, "damaged"},
		"differences": {handmade{kind: kindInt64, encoding: encodingDelta, values: 4,
			page: differing(5, -1, math.MaxInt64, math.MinInt64)}, "5\n-1\n9223372036854775807\n-9223372036854775808\n"},
		"differences without a block": {handmade{kind: kindInt64, encoding: encodingDelta, values: 2, page: numbered(128, 4, 2, 0)},
			"fewer values"},
		"differences in no small blocks": {handmade{kind: kindInt64, encoding: encodingDelta, values: 2, page: numbered(128, 0, 2, 0)},
			"head is wrong"},
		"differences in a huge block": {handmade{kind: kindInt64, encoding: encodingDelta, values: 2, page: numbered(1<<40, 4, 2, 0)},
			"head is wrong"},
		"too many differences": {handmade{kind: kindInt64, encoding: encodingDelta, values: 2, page: numbered(128, 4, 1<<40, 0)},
			"head is wrong"},
		"differences of 65 bits": {handmade{kind: kindInt64, encoding: encodingDelta, values: 2,
			page: append(numbered(128, 4, 2, 0, 0), 65, 0, 0, 0, 1)}, "fewer values"},
		"lengths": {handmade{kind: kindBytes, encoding: encodingDeltaLength, values: 3,
			page: append(differing(1, 0, 2), "bcc"...)}, "b\n\"\"\ncc\n"},
		"a length below zero": {handmade{kind: kindBytes, encoding: encodingDeltaLength, values: 2,
			page: append(differing(1, -1), "bcc"...)}, "fewer values"},
		"lengths that overflow": {handmade{kind: kindBytes, encoding: encodingDeltaLength, values: 3,
			page: append(differing(1, math.MaxInt64, math.MinInt64), "bcc"...)}, "fewer values"},
		"lengths of more bytes than it has": {handmade{kind: kindBytes, encoding: encodingDeltaLength, values: 2,
			page: append(differing(2, 2), "bcc"...)}, "fewer values"},
		"prefixes": {handmade{kind: kindBytes, encoding: encodingDeltaBytes, values: 4,
			page: append(append(differing(0, 2, 2, 0), differing(3, 1, 0, 0)...), "abcx"...)}, "abc\nabx\nab\n\"\"\n"},
		"prefixes of empty texts alone": {handmade{kind: kindBytes, encoding: encodingDeltaBytes, values: 2,
			page: append(differing(0, 0), differing(0, 0)...)}, "\"\"\n\"\"\n"},
		"a prefix of nothing": {handmade{kind: kindBytes, encoding: encodingDeltaBytes, values: 2,
			page: append(append(differing(1, 0), differing(1, 0)...), 'a')}, "fewer values"},
		"a prefix longer than the text": {handmade{kind: kindBytes, encoding: encodingDeltaBytes, values: 2,
			page: append(append(differing(0, 2), differing(1, 0)...), 'a')}, "fewer values"},
		"a prefix longer than the text, and not than the memory behind it": {handmade{kind: kindBytes, encoding: encodingDeltaBytes, values: 3,
			page: append(append(differing(0, 0, 5), differing(10, 2, 0)...), "0123456789ab"...)}, "fewer values"},
		"a prefix that overflows": {handmade{kind: kindBytes, encoding: encodingDeltaBytes, values: 2,
			page: append(append(differing(0, math.MinInt64), differing(1, 0)...), 'a')}, "fewer values"},
		"a value of another size": {handmade{kind: kindFixed, length: 2, encoding: encodingDeltaBytes, values: 1,
			page: append(append(differing(0), differing(3)...), "abc"...)}, "another size"},
		"bytes of all values": {handmade{kind: kindFloat, encoding: encodingSplit, values: 2,
			page: []byte{0, 0, 0, 0, 0x80, 0, 0x3f, 0x40}}, "1\n2\n"},
		"bytes of fewer values": {handmade{kind: kindDouble, encoding: encodingSplit, values: 2, page: make([]byte, 15)},
			"fewer values"},
		"a word of 8 bits": {handmade{kind: kindInt32, logical: 11, encoding: encodingDictionary, values: 1,
			page: []byte{1, 2, 0}, dictionary: []byte{255, 0, 0, 0}, words: 1}, "255\n"},
		"a word of more than 8 bits": {handmade{kind: kindInt32, logical: 11, encoding: encodingDictionary, values: 1,
			page: []byte{1, 2, 0}, dictionary: []byte{0, 1, 0, 0}, words: 1}, "the number 256, and its type goes from 0 to 255"},
		"a number of more than 16 bits": {handmade{kind: kindInt32, logical: 12, values: 1, page: []byte{0xff, 0xff, 0xff, 0xff}},
			"the number -1, and its type goes from 0 to 65535"},
		"a number of 16 bits below zero": {handmade{kind: kindInt32, logical: 16, values: 2,
			page: []byte{0, 0x80, 0xff, 0xff, 0xff, 0x7f, 0, 0}}, "-32768\n32767\n"},
		"a number of 8 bits below -128": {handmade{kind: kindInt32, logical: 15, values: 1, page: []byte{0x7f, 0xff, 0xff, 0xff}},
			"the number -129, and its type goes from -128 to 127"},
		"an encoding that nobody knows": {handmade{kind: kindInt64, encoding: 77, values: 1, page: make([]byte, 8)}, "encoding 77"},
		"an encoding that is not of the type": {handmade{kind: kindInt64, encoding: encodingDeltaLength, values: 1, page: make([]byte, 8)},
			"encoding 6"},
	}
}

// TestC1_HandmadePages: those that are right are read.
func TestC1_HandmadePages(t *testing.T) {
	for name, p := range handmadePages() {
		if !p.right() {
			continue
		}
		got, err := text(p.file(), 1<<20, "a")
		if err != nil || got != p.want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// TestR16_HandmadePages: those that lie are errors in words.
func TestR16_HandmadePages(t *testing.T) {
	for name, p := range handmadePages() {
		if p.right() {
			continue
		}
		_, err := consume(p.file(), 1<<20, "a")
		if err == nil || !strings.Contains(err.Error(), p.want) || blameless(nil, err) != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestC1_StatisticsThatCannotBe: what contradicts the type, or is cut short, or is not a number, bounds nothing. Of what could be true,
// nothing can be told from the truth, so it is believed.
func TestC1_StatisticsThatCannotBe(t *testing.T) {
	bounds := func(least, most []byte, more func(*made)) func(*made) {
		return func(m *made) {
			m.field(5, thriftBinary)
			m.text(string(most))
			m.field(6, thriftBinary)
			m.text(string(least))
			if more != nil {
				more(m)
			}
		}
	}
	double := func(v float64) []byte { return binary.LittleEndian.AppendUint64(nil, math.Float64bits(v)) }
	float := func(v float32) []byte { return binary.LittleEndian.AppendUint32(nil, math.Float32bits(v)) }
	exact := func(most, least byte) func(*made) {
		return func(m *made) {
			m.field(7, most)
			m.field(8, least)
		}
	}
	nulls := func(n int64) func(*made) { return func(m *made) { m.int(3, thriftI64, n) } }
	const decimalType = 5
	for name, c := range map[string]struct {
		handmade
		want string
	}{
		"doubles that may have no NaN": {handmade{kind: kindDouble, statistics: bounds(double(-1), double(2), nil)}, "0  "},
		"the least is NaN":             {handmade{kind: kindDouble, statistics: bounds(double(math.NaN()), double(2), nil)}, "0  "},
		"the most is NaN":              {handmade{kind: kindDouble, statistics: bounds(double(-1), double(-math.NaN()), nil)}, "0  "},
		"a float is NaN":               {handmade{kind: kindFloat, statistics: bounds(float(float32(math.NaN())), float(2), nil)}, "0  "},
		"half a number":                {handmade{kind: kindInt64, statistics: bounds(float(-1), float(2), nil)}, "0  "},
		"an empty bound":               {handmade{kind: kindInt64, statistics: bounds(nil, double(2), nil)}, "0  "},
		"texts that are cut short": {handmade{kind: kindBytes,
			statistics: bounds([]byte("ab"), []byte("ad"), exact(thriftFalse, thriftFalse))}, "6 ab ad"},
		"decimals": {handmade{kind: kindFixed, length: 2, logical: decimalType,
			statistics: bounds([]byte{0xff, 0xff}, []byte{1, 0}, exact(thriftTrue, thriftTrue))}, "3 -0.01 2.56"},
		"decimals without further statistics": {handmade{kind: kindFixed, length: 2, logical: decimalType,
			statistics: bounds([]byte{0xff, 0xff}, []byte{1, 0}, nil)}, "3 -0.01 2.56"},
		"decimals of any length, which may be compared as texts": {handmade{kind: kindBytes, logical: decimalType,
			statistics: bounds([]byte{1}, []byte{2}, nil)}, "0  "},
		"a decimal that is cut short": {handmade{kind: kindFixed, length: 2, logical: decimalType,
			statistics: bounds([]byte{0xff, 0xff}, []byte{1, 0}, exact(thriftFalse, thriftTrue))}, "0  "},
		"another that is cut short": {handmade{kind: kindFixed, length: 2, logical: decimalType,
			statistics: bounds([]byte{0xff, 0xff}, []byte{1, 0}, exact(thriftTrue, thriftFalse))}, "0  "},
		"a decimal of no byte": {handmade{kind: kindBytes, logical: decimalType, statistics: bounds(nil, []byte{1}, nil)}, "0  "},
		"a decimal of another size": {handmade{kind: kindFixed, length: 3, logical: decimalType,
			statistics: bounds([]byte{0, 1}, []byte{0, 2}, nil)}, "0  "},
		"an unsigned number": {handmade{kind: kindInt32, logical: 13,
			statistics: bounds([]byte{1, 0, 0, 0}, []byte{0xff, 0xff, 0xff, 0xff}, nil)}, "2 1 4294967295"},
		"NULLs alone":             {handmade{kind: kindInt64, optional: true, statistics: nulls(2)}, "1  "},
		"NULLs where none may be": {handmade{kind: kindInt64, statistics: nulls(2)}, "0  "},
		"fewer NULLs":             {handmade{kind: kindInt64, optional: true, statistics: nulls(1)}, "0  "},
		"a time of day":           {handmade{kind: kindInt64, logical: 8, statistics: bounds(double(0), double(1), nil)}, "0  "},
		"values without an order": {handmade{kind: kindInt96,
			statistics: bounds(make([]byte, 12), bytes.Repeat([]byte{1}, 12), nil)}, "0  "},
		"bytes without a meaning": {handmade{kind: kindFixed, length: 2, statistics: bounds([]byte("ab"), []byte("ad"), nil)}, "0  "},
	} {
		c.values = 2
		c.page = make([]byte, 64)
		r := rangesOf(t, c.file(), "a")[0]
		if got := fmt.Sprintf("%d %s %s", r.Kind, r.Least, r.Most); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
