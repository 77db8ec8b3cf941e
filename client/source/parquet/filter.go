package parquet

import (
	"math"
	"math/bits"
	"slices"

	"posta.dev/posta/rows/columnar"
	"posta.dev/posta/rows/csv"
)

// filter finds the rows of a row group that pass the tests of the cutter. It reads the tested columns by itself, ahead of the others, so
// that pages of the others without a row that passes are neither read nor unpacked. The tested columns are decoded twice where rows pass.
//
// Rows are tested in blocks of takeRows, counted from the beginning of the row group. So which rows pass does not depend on chunks.
type filter struct {
	part   int // of the file: which rows pass depends on no other part
	tests  []*tested
	nulls  bool // rows that do not pass may be cut as NULLs, because NULL fails a test
	memory *budget
	rows   int64  // of the row group
	out    []span // rows that the page index excludes

	trial int64 // after how many rows it is judged whether the tests are worth their time
	tried int64 // rows of the row group that were tested
	words int64 // how many times 64 of these have a row that passed
	off   bool  // the tests are not worth their time in this row group

	from, to int64 // the rows of the block
	keep     mask  // those that pass
}

// mask has a bit for each of takeRows rows, the lowest first.
type mask [takeRows / 64]uint64

// tested is a column with its test.
type tested struct {
	*columnar.Test
	by     columnar.Tester
	column *column
	at     int   // its index among the columns of the cutter
	power  int64 // of a number, as package columnar has it
	low    int64 // numbers that are not from low to high pass: they come as text
	high   int64

	owed    int64 // rows that its column has yet to pass over
	off     bool  // most rows pass, so that the test is not worth its time
	in      int64 // rows that were tested
	passed  int64 // those that passed
	words   []bool
	known   bool // words says which words of the dictionary pass
	nothing bool // none passes, and neither does NULL
	pass    [takeRows]bool
	ints    [takeRows]int64
}

const (
	// triedRows is after how many rows of a row group the tests are judged, againRows in those behind one where they were not worth it. One
	// that keeps more than keptOfEight eighths of the rows costs more than it saves. So do all tests together if most times 64 rows have one
	// that passes, because then hardly any are passed over undecoded.
	triedRows   = 8 * takeRows
	againRows   = 2 * takeRows
	keptOfEight = 7

	// gapRows is how many rows that do not count end a chunk. Fewer are sent as NULLs, because each chunk has a price, too.
	gapRows = 8 * takeRows
)

// Test sets tests for the needed columns. Of rows that fail one of them, the cutter reads only what it has to, and cuts NULLs in place of
// the rest, or leaves out the rows.
func (c *Cutter) Test(tests []columnar.Test) (err error) {
	defer guard(&err)
	if len(tests) == 0 {
		return nil
	}
	err = c.leaveOutGroups(func(ranges []csv.Range) bool {
		for i := range tests {
			if t := &tests[i]; !t.May(ranges[t.Column]) {
				return true
			}
		}
		return false
	})
	if err != nil {
		return err
	}
	c.tests = tests
	c.askBloomFilters(tests)
	return c.newFilter(0)
}

// newFilter makes the filter of a part, if a column has values for a test.
func (c *Cutter) newFilter(part int) (err error) {
	f := &filter{part: part, trial: triedRows, memory: &budget{limit: MaxMemory / 4}}
	s := &shared{file: c.shared.file, memory: f.memory}
	if c.filter != nil {
		s.unpacker = c.filter.tests[0].column.unpacker
	}
	for i := range c.tests {
		test := &c.tests[i]
		f.nulls = f.nulls || !test.Null
		t := &tested{Test: test, at: c.given[test.Column]}
		if t.at < 0 || !t.fits(c.columns[t.at]) {
			continue
		}
		if t.column, err = newColumn(s, c.columns[t.at].place); err != nil {
			return err
		}
		t.by = t.New()
		f.tests = append(f.tests, t)
	}
	if len(f.tests) > 0 {
		c.filter = f
	}
	return nil
}

// fits reports whether a column has such values as the test takes.
func (t *tested) fits(c *column) (ok bool) {
	switch {
	case c.maxRep > 0:
		return false
	case c.travels == 0:
		return c.number == nil && c.bytes == nil && t.Ask.Kind == 0
	}
	t.power, t.low, t.high, ok = t.Ask.Numbers(c.travels)
	return ok
}

// begin goes to a row group.
func (f *filter) begin(number int, g *groupOf) error {
	f.rows, f.from, f.to, f.out = g.rows, 0, 0, f.out[:0]
	f.tried, f.words, f.off = 0, 0, !f.nulls
	for _, t := range f.tests {
		if err := t.column.begin(number, g.rows, g.metas[t.at]); err != nil {
			return err
		}
		t.owed, t.off, t.in, t.passed, t.known, t.nothing = 0, f.memory.full, 0, 0, false, false
		err := t.column.pageBounds(func(rows span, s *statistics) {
			if !t.May(t.column.rangeOf(s, rows.to-rows.from)) {
				f.out = append(f.out, rows)
			}
		})
		if err != nil && !f.memory.full {
			return err
		}
	}
	return nil
}

// next returns how many rows from a row on do not pass, and how many behind them are taken by keep, at most until the end of the block. If
// there are none behind, the row group ends, or no row of a long gap passes and there may be more.
func (f *filter) next(row int64) (dead, alive int64, err error) {
	from := row
	for {
		if row = max(row, f.from); row < f.to {
			row += int64(f.keep.zeros(int(row-f.from), int(f.to-f.from)))
		}
		if row < f.to {
			at, n := int(row-f.from), int(f.to-f.from)
			if alive = f.to - row; !f.nulls {
				alive = int64(f.keep.ones(at, n))
			}
			return row - from, alive, nil
		}
		if row == f.rows || row-from >= gapRows {
			return row - from, 0, nil
		}
		if err := f.block(); err != nil {
			return 0, 0, err
		}
	}
}

// block tests the next block.
func (f *filter) block() error {
	n := int(min(takeRows, f.rows-f.to))
	f.from, f.to = f.to, f.to+int64(n)
	f.keep = mask{}
	f.keep.set(0, n)
	for _, o := range f.out {
		if from, to := max(o.from, f.from), min(o.to, f.to); from < to {
			f.keep.clear(int(from-f.from), int(to-f.from))
		}
	}
	if f.off {
		return nil
	}
	if err := f.test(n); err != nil {
		return err
	}
	for _, word := range f.keep {
		if word != 0 {
			f.words++
		}
	}
	if f.tried += int64(n); f.tried >= f.trial && f.words*64*2 > f.tried {
		f.off, f.trial = true, againRows
	}
	return nil
}

// test clears the bits of those of n rows that fail.
func (f *filter) test(n int) error {
	for _, t := range f.tests {
		if t.off {
			continue
		}
		was, before := f.keep, f.keep.count()
		if before == 0 {
			t.owed += int64(n)
			continue
		}
		err := t.test(n, &f.keep)
		switch {
		case f.memory.full: // the columns may find room where they are read, without a second copy of their pages
			f.keep, t.off = was, true
			continue
		case err != nil:
			return err
		}
		t.in, t.passed = t.in+int64(before), t.passed+int64(f.keep.count())
		t.off = t.in >= triedRows && t.passed*8 > t.in*keptOfEight
	}
	return nil
}

func (m *mask) count() (n int) {
	for _, word := range m {
		n += bits.OnesCount64(word)
	}
	return n
}

// zeros returns how many bits from one on are not set, up to the end of n.
func (m *mask) zeros(at, n int) int {
	for i := at; i < n; i = (i/64 + 1) * 64 {
		if word := m[i/64] >> (i % 64); word != 0 {
			return min(n, i+bits.TrailingZeros64(word)) - at
		}
	}
	return n - at
}

// ones is zeros for bits that are set.
func (m *mask) ones(at, n int) int {
	var not mask
	for i, word := range m {
		not[i] = ^word
	}
	return not.zeros(at, n)
}

// set and clear set or clear the bits from one up to another.
func (m *mask) set(from, to int) {
	for i := from; i < to; i++ {
		m[i/64] |= 1 << (i % 64)
	}
}

func (m *mask) clear(from, to int) {
	for i := from; i < to; i++ {
		m[i/64] &^= 1 << (i % 64)
	}
}

// test clears the bits of those of n rows that fail.
func (t *tested) test(n int, keep *mask) error {
	c := t.column
	for at := 0; at < n; {
		if dead := keep.zeros(at, n); dead == n-at || dead > 0 && at == 0 {
			t.owed += int64(dead)
			at += dead
			continue
		}
		if err := c.skip(t.owed); err != nil {
			return err
		}
		t.owed = 0
		if c.left == 0 {
			if err := c.nextPage(); err != nil {
				return err
			}
		}
		some := min(n-at, int(c.left))
		if t.nothing && c.unread && (c.pageHead.encoding == encodingDictionary || c.pageHead.encoding == encodingPlainDictionary) {
			keep.clear(at, at+some)
			if err := c.skip(int64(some)); err != nil {
				return err
			}
			at += some
			continue
		}
		if err := c.ready(); err != nil {
			return err
		}
		some, err := t.values(some)
		if err != nil {
			return c.wrong(err)
		}
		for i, pass := range t.pass[:some] {
			if !pass {
				keep[(at+i)/64] &^= 1 << ((at + i) % 64)
			}
		}
		c.left -= int64(some)
		at += some
	}
	return nil
}

// values sets pass for the next rows of the page, at most n. It returns how many they are.
func (t *tested) values(n int) (int, error) {
	c, b := t.column, &t.column.blocks
	if v, is := c.values.(byteValues); is {
		var err error
		if n, err = v.fit(n, roomOfBlock); err != nil {
			return 0, err
		}
	}
	valid, there, err := c.levels(n)
	if err != nil {
		return 0, err
	}
	pass := t.pass[:there]
	switch v := c.values.(type) {
	case *wordNumbers:
		err = t.codes(v, b.codes[:there])
	case numbers:
		if err = v.ints(b.bits[:there]); err == nil {
			err = c.inRange(b.bits[:there])
		}
		if err == nil {
			t.numbers(b.bits[:there], pass)
		}
	case byteValues:
		if err = v.texts(&b.texts, there); err == nil {
			t.bytes(&b.texts, pass)
		}
	}
	if valid != nil {
		for row, from := n-1, there-1; row >= 0; row-- {
			if valid[row/64]>>(row%64)&1 == 0 {
				t.pass[row] = t.Null
				continue
			}
			t.pass[row] = t.pass[from]
			from--
		}
	}
	return n, err
}

// codes tests numbers of words.
func (t *tested) codes(v *wordNumbers, codes []uint32) error {
	if err := v.fill(codes); err != nil {
		return err
	}
	if err := t.column.inDictionary(codes); err != nil {
		return err
	}
	if !t.known {
		t.testWords()
	}
	for i, code := range codes {
		t.pass[i] = t.words[code]
	}
	return nil
}

// testWords tests each word of the dictionary. Words that travel as texts and are numbers pass.
func (t *tested) testWords() {
	d := &t.column.dictionary
	t.words = slices.Grow(t.words[:0], d.words)[:d.words]
	t.known, t.nothing = true, !t.Null
	for from := 0; from < d.words; from += takeRows {
		to := min(from+takeRows, d.words)
		pass := t.words[from:to]
		switch {
		case d.ints != nil:
			t.travelling(d.ints[from:to], pass)
		case t.Ask.Kind == 0:
			t.by.Texts(&columnar.Texts{Bytes: d.texts.Bytes, From: d.texts.From[from:to], To: d.texts.To[from:to]}, pass)
		default:
			fill(pass, true)
		}
		t.nothing = t.nothing && !slices.Contains(pass, true)
	}
}

func fill(pass []bool, with bool) {
	for i := range pass {
		pass[i] = with
	}
}

// numbers tests the bits of numbers.
func (t *tested) numbers(all []int64, pass []bool) {
	convert := t.column.convert
	if convert == nil {
		t.travelling(all, pass)
		return
	}
	t.converted(pass, func(dst []int64, from int) bool { return convert(dst, all[from:from+len(dst)]) })
}

// bytes tests values that are bytes.
func (t *tested) bytes(all *columnar.Texts, pass []bool) {
	c := t.column
	if c.travels == 0 {
		t.by.Texts(all, pass)
		return
	}
	t.converted(pass, func(dst []int64, from int) bool {
		to := from + len(dst)
		return c.ints(dst, &columnar.Texts{Bytes: all.Bytes, From: all.From[from:to], To: all.To[from:to]})
	})
}

// converted tests what convert makes of some values from one on. Those of which it makes nothing pass.
func (t *tested) converted(pass []bool, convert func(dst []int64, from int) bool) {
	ints := t.column.blocks.ints[:len(pass)]
	if convert(ints, 0) {
		t.travelling(ints, pass)
		return
	}
	for i := range pass {
		if pass[i] = true; convert(ints[:1], i) {
			t.travelling(ints[:1], pass[i:i+1])
		}
	}
}

// travelling tests numbers as they travel.
func (t *tested) travelling(all []int64, pass []bool) {
	if t.Ask.Kind == columnar.Float {
		t.by.Numbers(all, pass)
		for i, v := range all {
			if f := math.Float64frombits(uint64(v)); f-f != 0 { // what is parsed for NaN and for the infinite is left to the parser
				pass[i] = true
			}
		}
		return
	}
	ints, beyond := t.ints[:len(all)], false
	for i, v := range all {
		out := v < t.low || v > t.high
		beyond = beyond || out
		ints[i] = v * t.power
	}
	t.by.Numbers(ints, pass)
	if beyond {
		for i, v := range all {
			pass[i] = pass[i] || v < t.low || v > t.high
		}
	}
}
