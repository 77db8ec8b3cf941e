package columnar

import (
	"math/bits"
	"slices"
)

// Texts is a block of texts: text i is Bytes[From[i]:To[i]].
type Texts struct {
	Bytes    []byte
	From, To []uint32
}

// Make makes room for the places of n texts.
func (t *Texts) Make(p []byte, n int) {
	t.Bytes = p
	t.From, t.To = slices.Grow(t.From[:0], n)[:n], slices.Grow(t.To[:0], n)[:n]
}

// Fixed sets n texts of width bytes each.
func (t *Texts) Fixed(p []byte, width, n int) {
	t.Make(p, n)
	for i := range n {
		t.From[i], t.To[i] = uint32(i*width), uint32((i+1)*width)
	}
}

// The functions below add a block of rows. They do the same as if each row was added alone. valid has a bit for each row that is not NULL,
// the lowest first; nil if none is NULL. The block has only the values of rows that are not NULL, in their order.

// AppendInts is [Column.AppendInt], or [Column.AppendFloat] with the bits of floats.
func (c *Column) AppendInts(kind Kind, block []int64, valid []uint64, rows int) {
	if len(block) == 0 {
		c.AppendNulls(rows)
		return
	}
	least, most := block[0], block[0]
	for _, v := range block {
		least, most = min(least, v), max(most, v)
	}
	same := c.kind == kind || c.kind == null
	if !same || !inRange(kind, least) || !inRange(kind, most) {
		c.AppendEach(valid, rows, func(i int) { c.AppendInt(kind, block[i]) })
		return
	}
	if c.kind == null {
		c.become(kind)
	}
	c.least, c.most = min(c.least, least), max(c.most, most)
	if valid == nil {
		c.ints = append(c.ints, block...)
	} else {
		c.ints = spread(c.ints, block, valid, rows)
		c.addNulls(valid, rows)
	}
	c.rows += rows
}

// AppendTexts is [Column.AppendText].
func (c *Column) AppendTexts(block *Texts, valid []uint64, rows int) {
	if c.kind != text && (c.kind != null || len(block.From) == 0) {
		c.AppendEach(valid, rows, func(i int) { c.AppendText(block.Bytes[block.From[i]:block.To[i]]) })
		return
	}
	if c.kind == null {
		c.become(text)
	}
	at := len(c.lengths)
	c.lengths = slices.Grow(c.lengths, rows)[:at+rows]
	lengths := c.lengths[at:]
	if valid != nil {
		clear(lengths)
		c.addNulls(valid, rows)
	}
	sum := 0
	for i, from := range block.From {
		sum += int(block.To[i] - from)
	}
	c.bytes = slices.Grow(c.bytes, sum)
	row := 0
	for i, from := range block.From {
		if valid != nil {
			row = nextBit(valid, row)
		}
		c.bytes = append(c.bytes, block.Bytes[from:block.To[i]]...)
		lengths[row] = block.To[i] - from
		row++
	}
	c.rows += rows
}

// AppendWords is [Column.AppendWord]. words are the words of the dictionary, and the block has their numbers.
func (c *Column) AppendWords(words *Texts, block []uint32, valid []uint64, rows int) {
	if c.kind != dict && (c.kind != null || len(block) == 0) {
		c.AppendEach(valid, rows, func(i int) { c.AppendWord(block[i], words.Bytes[words.From[block[i]]:words.To[block[i]]]) })
		return
	}
	if c.kind == null {
		c.become(dict)
	}
	at := len(c.codes)
	c.codes = slices.Grow(c.codes, rows)[:at+rows]
	codes := c.codes[at:]
	if valid != nil {
		clear(codes)
	}
	row := 0
	for _, number := range block {
		w := &c.words[number]
		if w.round != c.round {
			p := words.Bytes[words.From[number]:words.To[number]]
			*w = word{c.round, c.entry(p), uint32(len(p))}
		}
		if valid != nil {
			row = nextBit(valid, row)
		}
		codes[row] = w.entry
		c.texts += int(w.size)
		row++
	}
	c.rows += rows
}

// AppendNulls adds NULLs.
func (c *Column) AppendNulls(rows int) {
	switch c.kind {
	case dict:
		c.codes = appendZeros(c.codes, rows)
	case text:
		c.lengths = appendZeros(c.lengths, rows)
		c.addNulls(nil, rows)
	case null:
	default:
		c.ints = appendZeros(c.ints, rows)
		c.addNulls(nil, rows)
	}
	c.rows += rows
}

func appendZeros[T int64 | uint32](p []T, n int) []T {
	at := len(p)
	p = slices.Grow(p, n)[:at+n]
	clear(p[at:])
	return p
}

// addNulls sets the bits of the next rows that are NULL: of those that valid lacks, all if it is nil.
func (c *Column) addNulls(valid []uint64, rows int) {
	for k := 0; k*64 < rows; k++ {
		word := ^uint64(0)
		if valid != nil {
			word = ^valid[k]
		}
		if left := rows - k*64; left < 64 {
			word &= 1<<left - 1
		}
		if word == 0 {
			continue
		}
		c.some = true
		at := c.rows + k*64
		for len(c.nulls) <= (at+63)/64 {
			c.nulls = append(c.nulls, 0)
		}
		c.nulls[at/64] |= word << (at % 64)
		if high := word >> 1 >> (63 - at%64); high != 0 {
			c.nulls[at/64+1] |= high
		}
	}
}

// spread appends the values of rows, and 0 for NULL.
func spread(dst, block []int64, valid []uint64, rows int) []int64 {
	at := len(dst)
	dst = slices.Grow(dst, rows)[:at+rows]
	out := dst[at:]
	for k := 0; k*64 < rows; k++ {
		word, some := valid[k], out[k*64:min(k*64+64, rows)]
		if word == ^uint64(0) {
			block = block[copy(some, block):]
			continue
		}
		clear(some)
		for ; word != 0; word &= word - 1 {
			some[bits.TrailingZeros64(word)] = block[0]
			block = block[1:]
		}
	}
	return dst
}

// nextBit returns the first bit from a row on that is set. There is one.
func nextBit(valid []uint64, row int) int {
	for {
		if word := valid[row/64] >> (row % 64); word != 0 {
			return row + bits.TrailingZeros64(word)
		}
		row = row/64*64 + 64
	}
}

// AppendEach adds a block, for each value of which it calls value, which adds it.
func (c *Column) AppendEach(valid []uint64, rows int, value func(i int)) {
	i := 0
	for row := range rows {
		if valid != nil && valid[row/64]>>(row%64)&1 == 0 {
			c.AppendNull()
			continue
		}
		value(i)
		i++
	}
}
