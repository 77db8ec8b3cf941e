package parquet

import "slices"

// Most columns have a dictionary of short words. Their values are read as blocks of word numbers, and each word is copied with two moves of
// fixed size. This takes two thirds of the time that a call for each value takes, which copies exactly the bytes of its word.

// slot is a word of a dictionary, as a field. Slot 0 is the field of a NULL, slot i+1 that of word i.
type slot struct {
	text [31]byte
	n    uint8
}

const (
	slotBytes = 31
	maxSlots  = 16 << 20 // bytes of the slots of all columns, in addition to MaxMemory; columns without slots are only slower
	blockRows = 256
)

// makeSlots makes slots of the dictionary, unless the dictionary or one of its words is too large.
func (c *column) makeSlots() {
	n := len(c.ends)
	c.slots = c.slots[:0]
	if c.maxRep > 0 {
		return
	}
	for i := range n - 1 {
		if c.ends[i+1]-c.ends[i] > slotBytes {
			return
		}
	}
	if more := n - cap(c.slots); more > 0 {
		if more *= slotBytes + 1; more > maxSlots-c.shared.slots {
			return
		}
		c.shared.slots += more
		c.slots = make([]slot, 0, n)
	}
	c.slots = append(c.slots, slot{})
	for i := range n - 1 {
		var s slot
		s.n = uint8(copy(s.text[:], c.words[c.ends[i]:c.ends[i+1]]))
		c.slots = append(c.slots, s)
	}
}

// nextBlock reads the slots of the next values of the page; there is at least one.
func (c *column) nextBlock(words *fromDictionary) error {
	n := int(min(c.left, blockRows))
	if cap(c.block) < n {
		c.block = make([]uint32, blockRows)
	}
	c.block, c.at = c.block[:n], 0
	present := c.maxDef == 0
	if c.maxDef > 0 && c.def.run >= n && c.def.value == uint32(c.maxDef) {
		c.def.run -= n
		present = true
	}
	c.left -= int64(n)
	if present {
		if err := words.indexes.fill(c.block); err != nil {
			return err
		}
		for i, word := range c.block {
			if int64(word)+1 >= int64(len(c.slots)) {
				return noWord(word, len(c.slots)-1)
			}
			c.block[i] = word + 1
		}
		return nil
	}
	for i := range c.block {
		d, err := c.def.next()
		if err != nil || d > uint32(c.maxDef) {
			return errLevels
		}
		if c.block[i] = 0; d < uint32(c.maxDef) {
			continue
		}
		word, err := words.indexes.next()
		if err != nil {
			return err
		}
		if int64(word)+1 >= int64(len(c.slots)) {
			return noWord(word, len(c.slots)-1)
		}
		c.block[i] = word + 1
	}
	return nil
}

// slot appends the next field of the block.
func (c *column) slot(dst []byte) []byte {
	s := &c.slots[c.block[c.at]]
	c.at++
	n := len(dst)
	if cap(dst)-n < slotBytes {
		dst = slices.Grow(dst, slotBytes)
	}
	*(*[slotBytes]byte)(dst[n : n+slotBytes]) = s.text
	return dst[:n+int(s.n)]
}
