package parquet

import (
	"math"

	"posta.dev/posta/rows/columnar"
)

// takeRows is how many rows are taken of one column before the next column, if all values are short.
const takeRows = 256

// shortWord is the largest length, in bytes, of a value's text in a page of which many values are taken at once.
const shortWord = 64

// newWords returns by how many words the dictionary exceeds the largest one before.
func (c *column) newWords() int {
	more := max(0, len(c.ends)-1-c.mostWords)
	c.mostWords += more
	c.known = false
	return more
}

// short reports whether all values of the present page are short texts or numbers.
func (c *column) short() bool {
	if c.maxRep > 0 {
		return false
	}
	if c.left == 0 {
		return false // the next page is not known yet, so one row is taken first
	}
	if _, ok := c.values.(*fromDictionary); ok {
		return c.longest <= shortWord
	}
	return c.number != nil || c.width > 0 && c.width <= shortWord/4
}

// take gives the values of the next n rows to out.
func (c *column) take(n int, out *columnar.Column) error {
	if c.maxRep > 0 {
		for range n {
			var there bool
			var err error
			if c.text, there, err = c.itemOfRow(c.text[:0]); err != nil {
				return err
			}
			if there {
				out.AppendText(c.text)
			} else {
				out.AppendNull()
			}
		}
		return nil
	}
	for n > 0 {
		if c.left == 0 {
			if err := c.nextPage(); err != nil {
				return err
			}
		}
		some := int(min(c.left, int64(n), takeRows))
		if err := c.takeSome(some, out); err != nil {
			return c.wrong(err)
		}
		c.left -= int64(some)
		n -= some
	}
	return nil
}

// takeSome is take for at most takeRows values of one page.
func (c *column) takeSome(n int, out *columnar.Column) error {
	if c.block == nil {
		c.block, c.levels = make([]uint32, takeRows), make([]uint32, takeRows)
	}
	var levels []uint32 // nil if no value is NULL
	there := n
	if c.maxDef > 0 {
		if c.def.run >= n && c.def.value == uint32(c.maxDef) {
			c.def.run -= n
		} else {
			levels = c.levels[:n]
			if err := c.def.fill(levels); err != nil {
				return errLevels
			}
			there = 0
			for _, d := range levels {
				if d > uint32(c.maxDef) {
					return errLevels
				}
				if d == uint32(c.maxDef) {
					there++
				}
			}
		}
	}
	switch v := c.values.(type) {
	case *fromDictionary:
		return c.takeWords(v, levels, there, n, out)
	case *plain8:
		if c.kind == kindDouble && levels == nil {
			return takeFloats(v, n, out)
		}
	}
	if v, ok := c.values.(numbers); ok && c.travels != 0 {
		return c.takeNumbers(v, levels, n, out)
	}
	for i := range n {
		if levels != nil && levels[i] < uint32(c.maxDef) {
			out.AppendNull()
			continue
		}
		var err error
		if c.text, err = c.values.append(c.text[:0]); err != nil {
			return err
		}
		out.AppendText(c.text)
	}
	return nil
}

func (c *column) takeWords(v *fromDictionary, levels []uint32, there, n int, out *columnar.Column) error {
	if !c.known {
		out.Dictionary(len(c.ends) - 1)
		c.known = true
	}
	words := c.block[:there]
	if err := v.indexes.fill(words); err != nil {
		return err
	}
	k := 0
	for i := range n {
		if levels != nil && levels[i] < uint32(c.maxDef) {
			out.AppendNull()
			continue
		}
		word := words[k]
		k++
		if int64(word)+1 >= int64(len(c.ends)) {
			return noWord(word, len(c.ends)-1)
		}
		out.AppendWord(word, c.words[c.ends[word]:c.ends[word+1]])
	}
	return nil
}

func takeFloats(v *plain8, n int, out *columnar.Column) error {
	for range n {
		bits, err := v.next()
		if err != nil {
			return err
		}
		out.AppendFloat(math.Float64frombits(bits))
	}
	return nil
}

func (c *column) takeNumbers(v numbers, levels []uint32, n int, out *columnar.Column) error {
	kind, short := c.travels, c.width == 4
	for i := range n {
		if levels != nil && levels[i] < uint32(c.maxDef) {
			out.AppendNull()
			continue
		}
		bits, err := v.next()
		if err == nil && c.fits != nil {
			err = c.fits(bits)
		}
		if err != nil {
			return err
		}
		value := int64(bits)
		if short && c.above {
			value = int64(uint32(bits))
		} else if short {
			value = int64(int32(bits))
		}
		if kind == columnar.Micros {
			micros, ok := c.micros(value)
			if !ok {
				c.text = c.number(c.text[:0], bits)
				out.AppendText(c.text)
				continue
			}
			value = micros
		}
		out.AppendInt(kind, value)
	}
	return nil
}

// micros returns a time in microseconds; ok is false if it is not a whole number of them, or too large for an int64. columnar.Column keeps
// only years of four digits as a time, and others as text.
func (c *column) micros(v int64) (micros int64, ok bool) {
	switch unit := c.tick; unit {
	case 0:
		return v / 1000, v%1000 == 0
	case 1:
		return v, true
	default:
		return v * unit, -math.MaxInt64/unit < v && v < math.MaxInt64/unit
	}
}
