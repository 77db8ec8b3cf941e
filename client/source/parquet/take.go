package parquet

import (
	"fmt"
	"slices"

	"posta.dev/posta/rows/columnar"
)

const (
	// takeRows is how many values of a column are decoded at once, if all of them are short: enough for what a block costs to be little
	// per value, and few enough for the block to stay in the first-level cache.
	takeRows = 1024

	// roomOfBlock bounds the bytes of the texts of more than one value that are decoded at once.
	roomOfBlock = 1 << 20

	// numberRoom and fixedRoom are upper bounds of the bytes that a value takes in a chunk, also if it becomes a text there: of those that
	// travel as numbers, and of others that do not have a length of their own, each of whose bytes is at most fixedTimes bytes of text.
	numberRoom = 64
	fixedRoom  = 256
	fixedTimes = 4

	// wordRoom bounds what a text takes beside its bytes.
	wordRoom = 16
)

// blocks is memory for the block that is decoded.
type blocks struct {
	bits, ints [takeRows]int64
	codes      [takeRows]uint32
	valid      [takeRows / 64]uint64 // a bit for each row whose value is not NULL
	texts      columnar.Texts
	text       []byte
}

// within returns how many of the next n rows, at least one, take at most room bytes in a chunk, as far as that is known without decoding
// them. If it is one row, it may take more.
func (c *column) within(n, room int) (int, error) {
	if c.maxRep > 0 {
		return 1, nil
	}
	if err := c.ready(); err != nil {
		return 0, err
	}
	n = min(n, int(min(c.left, takeRows)))
	each := numberRoom
	switch v := c.values.(type) {
	case *wordNumbers:
		if c.dictionary.ints == nil {
			each = wordRoom + c.dictionary.longest
		}
	case byteValues:
		if c.bytes == nil {
			n, err := v.fit(min(n, max(1, room/wordRoom)), room/2)
			return n, c.wrong(err)
		}
		each = fixedRoom + fixedTimes*c.width
	default:
		if c.travels == 0 {
			each = fixedRoom
		}
	}
	return max(1, min(n, room/each)), nil
}

// take gives the values of the next n rows to out: of those that keep has, and NULL in place of the others.
func (c *column) take(n int, out *columnar.Column, keep *kept) error {
	for n > 0 {
		dead, alive := keep.run(n)
		if dead > 0 {
			if err := c.skip(int64(dead)); err != nil {
				return err
			}
			out.AppendNulls(dead)
			keep.pass(dead)
			n -= dead
			continue
		}
		if c.maxRep > 0 {
			to := out
			if !keep.has() {
				to = nil
				out.AppendNull()
			}
			if err := c.row(to); err != nil {
				return err
			}
			keep.pass(1)
			n--
			continue
		}
		if err := c.ready(); err != nil {
			return err
		}
		some, err := c.block(min(alive, int(min(c.left, takeRows))), out, keep)
		if err != nil {
			return c.wrong(err)
		}
		c.left -= int64(some)
		keep.pass(some)
		n -= some
	}
	return nil
}

// skip passes over the values of the next n rows. Pages without other rows are not unpacked.
func (c *column) skip(n int64) error {
	for ; n > 0 && c.maxRep > 0; n-- {
		if err := c.row(nil); err != nil {
			return err
		}
	}
	for pages := 0; n > 0; pages++ {
		if c.left == 0 {
			if pages > 0 && n >= c.pageHead.values {
				passed, err := c.jump(c.meta.values - c.rest + n)
				if err != nil {
					return err
				}
				if n -= passed; n == 0 {
					break
				}
			}
			if err := c.nextPage(); err != nil {
				return err
			}
		}
		some := min(c.left, n)
		c.left -= some
		c.owed += some
		n -= some
	}
	return nil
}

// ready goes to the next value. If it is in a page that was not unpacked yet, this is done.
func (c *column) ready() error {
	if c.left == 0 {
		if err := c.nextPage(); err != nil {
			return err
		}
	}
	if c.unread {
		if err := c.load(c.pageAt, &c.pageHead); err != nil {
			return c.atPage(c.pageAt, err)
		}
		c.unread = false
	}
	for c.owed > 0 {
		n := int(min(c.owed, takeRows))
		_, there, err := c.levels(n)
		if err == nil {
			err = c.values.skip(there)
		}
		if err != nil {
			return c.wrong(err)
		}
		c.owed -= int64(n)
	}
	return nil
}

// levels reads the definition levels of n rows. valid has a bit for each, nil if no value is NULL; there counts those that are not.
func (c *column) levels(n int) (valid []uint64, there int, err error) {
	if c.maxDef == 0 {
		return nil, n, nil
	}
	valid = c.blocks.valid[:(n+63)/64]
	if there, err = c.def.equal(valid, n, uint32(c.maxDef)); there == n {
		valid = nil
	}
	return valid, there, err
}

// block is take for at most n values of the page. It returns how many it has taken.
func (c *column) block(n int, out *columnar.Column, keep *kept) (int, error) {
	b := &c.blocks
	switch v := c.values.(type) {
	case *wordNumbers:
		if c.dictionary.ints == nil {
			n = max(1, min(n, roomOfBlock/(wordRoom+c.dictionary.longest)))
		}
	case byteValues:
		var err error
		if n, err = v.fit(n, roomOfBlock); err != nil {
			return 0, err
		}
	}
	valid, there, err := c.levels(n)
	if err != nil {
		return 0, err
	}
	switch v := c.values.(type) {
	case *wordNumbers:
		codes := b.codes[:there]
		if err = v.fill(codes); err == nil {
			codes, valid = keptOf(keep, codes, valid, n)
			err = c.takeWords(codes, valid, n, out)
		}
	case numbers:
		if err = v.ints(b.bits[:there]); err == nil {
			var bits []int64
			bits, valid = keptOf(keep, b.bits[:there], valid, n)
			err = c.takeNumbers(bits, valid, n, out)
		}
	case byteValues:
		if err = v.texts(&b.texts, there); err == nil {
			t, was := &b.texts, valid
			t.From, valid = keptOf(keep, t.From, was, n)
			t.To, _ = keptOf(keep, t.To, was, n)
			c.takeTexts(t, valid, n, out)
		}
	}
	return n, err
}

func (c *column) takeWords(codes []uint32, valid []uint64, n int, out *columnar.Column) error {
	d := &c.dictionary
	if err := c.inDictionary(codes); err != nil {
		return err
	}
	switch {
	case d.ints != nil:
		ints := c.blocks.ints[:len(codes)]
		for i, code := range codes {
			ints[i] = d.ints[code]
		}
		out.AppendInts(c.travels, ints, valid, n)
		return nil
	case !d.known:
		out.Dictionary(d.words)
		d.known = true
	}
	out.AppendWords(&d.texts, codes, valid, n)
	return nil
}

// inDictionary returns an error if one of some numbers of words is not in the dictionary.
func (c *column) inDictionary(codes []uint32) error {
	most := uint32(0)
	for _, code := range codes {
		most = max(most, code)
	}
	if words := c.dictionary.words; len(codes) > 0 && int64(most) >= int64(words) {
		return fmt.Errorf("it refers to word %d of a dictionary of %d", most, words)
	}
	return nil
}

// takeNumbers takes the bits of numbers.
func (c *column) takeNumbers(all []int64, valid []uint64, n int, out *columnar.Column) error {
	if err := c.inRange(all); err != nil {
		return err
	}
	b := &c.blocks
	if c.travels != 0 {
		if c.convert == nil {
			out.AppendInts(c.travels, all, valid, n)
			return nil
		}
		if ints := b.ints[:len(all)]; c.convert(ints, all) {
			out.AppendInts(c.travels, ints, valid, n)
			return nil
		}
	}
	out.AppendEach(valid, n, func(i int) {
		var one [1]int64
		if c.travels != 0 && c.convert(one[:], all[i:i+1]) {
			out.AppendInt(c.travels, one[0])
			return
		}
		b.text = c.number(b.text[:0], uint64(all[i]))
		out.AppendText(b.text)
	})
	return nil
}

func (c *column) takeTexts(all *columnar.Texts, valid []uint64, n int, out *columnar.Column) {
	b := &c.blocks
	if c.bytes == nil {
		out.AppendTexts(all, valid, n)
		return
	}
	if c.ints != nil {
		if ints := b.ints[:len(all.From)]; c.ints(ints, all) {
			out.AppendInts(c.travels, ints, valid, n)
			return
		}
	}
	out.AppendEach(valid, n, func(i int) {
		one := columnar.Texts{Bytes: all.Bytes, From: all.From[i : i+1], To: all.To[i : i+1]}
		var v [1]int64
		if c.ints != nil && c.ints(v[:], &one) {
			out.AppendInt(c.travels, v[0])
			return
		}
		b.text = c.bytes(b.text[:0], all.Bytes[all.From[i]:all.To[i]])
		out.AppendText(b.text)
	})
}

// row takes the wanted item of the lists that a row has, and passes over the others. If out is nil, it passes over all.
func (c *column) row(out *columnar.Column) error {
	clear(c.counts)
	there := false
	for first := true; ; first = false {
		r, some, err := c.repetition()
		switch {
		case err != nil:
			return err
		case first && (!some || r != 0):
			return c.wrong(errLevels)
		case !some || !first && r == 0:
			c.ahead, c.level = some, r
			if !there && out != nil {
				out.AppendNull()
			}
			return nil
		case r > 0:
			c.counts[r-1]++
			clear(c.counts[r:])
		}
		wanted := out != nil && slices.Equal(c.counts, c.items)
		if there, err = c.item(out, wanted, there); err != nil {
			return c.wrong(err)
		}
	}
}

// item takes an item, or passes over it.
func (c *column) item(out *columnar.Column, wanted, there bool) (bool, error) {
	c.left--
	d, err := c.def.next()
	switch {
	case err != nil || d > uint32(c.maxDef):
		return there, errLevels
	case d < uint32(c.maxDef):
		return there, nil
	case !wanted:
		return there, c.values.skip(1)
	}
	maxDef := c.maxDef
	c.maxDef = 0 // the level was read
	_, err = c.block(1, out, nil)
	c.maxDef = maxDef
	return true, err
}
