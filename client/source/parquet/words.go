package parquet

import (
	"fmt"
	"slices"

	"posta.dev/posta/rows/columnar"
)

// dictionaryOf is the dictionary of a column in a row group. It is read when the first page refers to it, and each of its words is
// converted once.
type dictionaryOf struct {
	there  bool // it has a page
	loaded bool
	at     int64 // where its page is
	head   pageHead

	page    []byte         // unpacked
	made    []byte         // words that are not in this form in the page
	ints    []int64        // words that travel as numbers; nil if they travel as texts
	room    []int64        // memory for these
	texts   columnar.Texts // words that travel as texts
	longest int            // length of the longest of them
	words   int
	most    int  // in the largest dictionary so far
	known   bool // the writer knows it
}

// forget prepares for the next row group.
func (d *dictionaryOf) forget() { d.there, d.loaded = false, false }

// loadDictionary reads the dictionary, if it was not read yet.
func (c *column) loadDictionary() error {
	d := &c.dictionary
	if d.loaded {
		return nil
	}
	page := c.page // that of the values, which are read next
	c.page = d.page
	p, err := c.read(d.at, &d.head, 0)
	c.page, d.page = page, c.page
	if err == nil {
		err = c.convertDictionary(p, d.head.values)
	}
	if err != nil {
		return c.atPage(d.at, err)
	}
	d.loaded, d.known = true, false
	return nil
}

// convertDictionary turns the words of a dictionary page into what travels.
func (c *column) convertDictionary(p []byte, n int64) error {
	d := &c.dictionary
	if n < 0 || n > int64(len(p))*8 {
		return fmt.Errorf("it says that there are %d words in %d bytes", n, len(p))
	}
	d.words, d.longest = int(n), 0
	if more := d.words - d.most; more > 0 {
		const each = 2*8 + 4 + columnar.SizeOfWord // the number, where the text is, and where it ends in the page
		if err := c.memory.charge(each * more); err != nil {
			return err
		}
		d.most = d.words
	}
	done, err := c.wordsAsNumbers(p)
	if err != nil || done {
		return err
	}
	return c.wordsAsTexts(p)
}

// wordsAsNumbers returns false if words have to travel as texts.
func (c *column) wordsAsNumbers(p []byte) (done bool, err error) {
	d := &c.dictionary
	d.ints = nil
	if c.travels == 0 {
		return false, nil
	}
	ints := slices.Grow(d.room[:0], d.words)[:d.words]
	d.room = ints
	switch v := c.plain(p).(type) {
	case numbers:
		if err = v.ints(ints); err == nil {
			err = c.inRange(ints)
		}
		done = err == nil && (c.convert == nil || c.convert(ints, ints))
	case byteValues:
		if err = v.texts(&d.texts, d.words); err == nil {
			done = c.ints(ints, &d.texts)
		}
	}
	if done {
		d.ints = ints
	}
	return done, err
}

func (c *column) wordsAsTexts(p []byte) (err error) {
	d := &c.dictionary
	switch v := c.plain(p).(type) {
	case numbers:
		d.texts.Make(nil, d.words)
		d.made = d.made[:0]
		var one [1]int64
		for i := range d.words {
			if err = v.ints(one[:]); err == nil {
				err = c.inRange(one[:])
			}
			if err != nil {
				return err
			}
			if err = d.add(c, i, c.number(d.made, uint64(one[0]))); err != nil {
				return err
			}
		}
	case byteValues:
		if err = v.texts(&d.texts, d.words); err != nil || c.bytes == nil {
			break
		}
		d.made = d.made[:0]
		for i, from := range d.texts.From {
			if err = d.add(c, i, c.bytes(d.made, p[from:d.texts.To[i]])); err != nil {
				return err
			}
		}
	}
	if len(d.made) > 0 {
		d.texts.Bytes = d.made
	}
	for i, from := range d.texts.From {
		d.longest = max(d.longest, int(d.texts.To[i]-from))
	}
	return err
}

// add adds the text of a word, which was appended to made.
func (d *dictionaryOf) add(c *column, i int, made []byte) error {
	d.texts.From[i], d.texts.To[i] = uint32(len(d.made)), uint32(len(made))
	more := cap(made) - cap(d.made)
	if d.made = made; more > 0 {
		return c.memory.charge(more)
	}
	return nil
}
