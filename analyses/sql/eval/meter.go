package eval

import (
	"errors"
	"fmt"
	"slices"

	"posta.dev/posta/rows/progress"
)

// A statement is short and its values need not be: repeat('x', 8000000) makes 8 MB of each row. So a function asks before it makes a text,
// and a batch whose texts would take too much is computed in pieces:
//
//	text    one value has at most MaxText bytes
//	batch   the values that the programs of a Meter have made of several rows have at most MaxBatch; then Run returns a *Full, and Pieces
//	        takes fewer rows
//	row     those of a single row have at most MaxRow, because a row cannot be divided
//
// A lower limits.memory lowers the last two (Limit). A recovery under other limits repeats nothing of this: what functions make of facts is
// not recorded.
const (
	MaxBatch = 64 << 20
	MaxRow   = 256 << 20
	// manyBytes is how much a program may have made for its vectors to be used again. The texts of a larger run would stay in memory until
	// other rows take their places.
	manyBytes = 1 << 20
)

// Bounds of what a function may do with a text, in steps of at most 30 ns. The longest steps are those of a regular expression, which
// cannot be interrupted.
const (
	MaxSteps   = 1 << 27 // of one call
	pauseSteps = 1 << 22 // between two pauses
)

// Meter counts what the programs of one goroutine make and do.
type Meter struct {
	// Pause is called during long work. By default it marks progress (N9).
	Pause func()
	// Most bounds the steps between two calls of Begin, if it is not 0.
	Most int

	memory int64 // see Limit; 0: no limit
	slow   bool  // a program has a function that may work long on a value, or make a long one of a short one
	held   int64 // bytes
	steps  int
	since  int // steps since the last pause
	of     []*account
}

// NewMeter returns a meter.
func NewMeter() *Meter { return &Meter{Pause: progress.Mark} }

// Slow reports whether the work of its programs on a few rows may take long.
func (m *Meter) Slow() bool { return m.slow }

// Limit lowers the bounds on what programs make to a limit of so many bytes for a session. A single text always finds room. 0 is no limit.
func (m *Meter) Limit(memory int) { m.memory = int64(memory) }

// most returns how many bytes may be held: of one row the whole limit, of several a quarter.
func (m *Meter) most(rows int) int64 {
	bound, memory := int64(MaxBatch), m.memory/4
	if rows == 1 {
		bound, memory = MaxRow, m.memory
	}
	if m.memory == 0 {
		return bound
	}
	return min(bound, max(memory, MaxText))
}

// within names the bound of limits.memory behind an error about the values of one row, if that is the lower one.
func (m *Meter) within() string {
	if m.most(1) == MaxRow {
		return ""
	}
	return ": limits.memory of the topology allows no more"
}

// Spent reports whether the work on these rows took more steps than Most.
func (m *Meter) Spent() bool { return m.Most != 0 && m.steps > m.Most }

// Begin says that the work on other rows begins.
func (m *Meter) Begin() { m.steps = 0 }

// Release says that nobody needs the vectors of the programs any more.
func (m *Meter) Release() {
	for _, a := range m.of {
		a.stale = a.stale || a.held > manyBytes
		a.to(0)
	}
}

// Programs returns how many programs share the meter.
func (m *Meter) Programs() int { return len(m.of) }

// Forget says that all programs but the first n are not used any more.
func (m *Meter) Forget(n int) {
	for _, a := range m.of[n:] {
		a.to(0)
	}
	clear(m.of[n:])
	m.of = m.of[:n]
}

// Full says that the values of the rows from Row on would take too much memory together with those before.
type Full struct{ Row int32 }

func (f *Full) Error() string {
	return fmt.Sprintf("the values of the rows before row %d fill the memory", f.Row)
}

// Pieces calls run with sel, or with one piece of it after the other if Run finds no room for more. run must change nothing before its
// programs have run.
//
// If the first row already finds no room, one function has filled the memory with the values of all rows, and half of them are tried. A
// piece has at most twice the rows of the one before. So the runs that fail cost a few times what the others do; to try one row, and then
// all again, cost each row the whole memory.
func Pieces(sel []int32, run func(sel []int32) error) error {
	most := len(sel)
	for {
		piece := sel[:min(most, len(sel))]
		err := run(piece)
		for full := (*Full)(nil); len(piece) > 1 && errors.As(err, &full); {
			before, _ := slices.BinarySearch(piece, full.Row)
			if before == 0 {
				before = len(piece) / 2
			}
			piece = piece[:min(before, len(piece)-1)]
			err = run(piece)
		}
		most = 2 * len(piece)
		if sel = sel[len(piece):]; err != nil || len(sel) == 0 {
			return err
		}
	}
}

// account is what a program has made in its current run.
type account struct {
	meter *Meter
	held  int64
	rows  int
	stale bool // the vectors of an earlier run have long texts
}

// to changes what the program holds to the given number of bytes, which is at most as much as it holds.
func (a *account) to(held int64) {
	a.meter.held += held - a.held
	a.held = held
}

// ask asks for n bytes for the value of a row. It returns false if the row does not fit.
func (a *account) ask(n int) bool {
	if a.meter.held+int64(n) > a.meter.most(a.rows) {
		return false
	}
	a.held += int64(n)
	a.meter.held += int64(n)
	return true
}

// full is the reason of a kernel for a row whose value finds no room. No message is like it.
const full = "\x00full"

// text asks for a text of n bytes. It returns the reason if the text cannot be made.
func (k *function) text(n int) (why string) {
	if n > MaxText {
		return k.tooLong(n)
	}
	return k.room(n)
}

func (k *function) tooLong(n int) string {
	if n < 0 { // the size itself does not fit
		return fmt.Sprintf("%s would make a text of more than %d MiB, which is the most that a text may have", k.name, MaxText>>20)
	}
	return fmt.Sprintf("%s would make a text of %d bytes, and a text has at most %d (%d MiB)", k.name, n, MaxText, MaxText>>20)
}

// bytesPerStep is how many bytes of a text are made in a step.
const bytesPerStep = 16

// room asks for n bytes of texts and lists, and for the time to make them.
func (k *function) room(n int) (why string) {
	if steps := n / bytesPerStep; !k.made.work(steps) {
		return k.made.tooSlow(k.name, fmt.Sprintf("a text of %d bytes", n), steps)
	}
	switch {
	case k.made.ask(n):
		return ""
	case k.made.rows == 1:
		return fmt.Sprintf("%s would make %d bytes more, and the values that are made of one row have at most %d MiB together%s", k.name, n,
			k.made.meter.most(1)>>20,
			k.made.meter.within())
	}
	return full
}

// Rows counts rows, or pairs of rows that a join compares, so that there is a pause every few thousand of them, kept or not: a count over
// the pairs of two tables, or a join that keeps no pair, works for long and keeps nothing. It returns an error if they are too many.
func (m *Meter) Rows(n int) error {
	m.did(max(n, 1) * (pauseSteps / progress.Every))
	if m.Most == 0 {
		return nil
	}
	if m.steps += n; m.steps > m.Most {
		return fmt.Errorf("joins and UNNEST would take too long: they make or compare more than %d million rows of rows that travel together, "+
			"while other sessions "+
			"wait; join by =, narrow the rows by WHERE before, or send fewer rows at once (--chunk 64KiB)", m.Most>>20)
	}
	return nil
}

// did counts steps, and pauses after many.
func (m *Meter) did(steps int) {
	if m.since += steps; m.since >= pauseSteps {
		m.since = 0
		m.Pause()
	}
}

// work counts steps of work on a row. It returns false if they are too many.
func (a *account) work(steps int) bool {
	m := a.meter
	m.steps += steps
	m.did(steps)
	return steps <= MaxSteps && !m.Spent()
}

// tooSlow is the reason for which work has returned false.
func (a *account) tooSlow(name, what string, steps int) string {
	if steps > MaxSteps {
		return fmt.Sprintf(
			"%s: %s would take too long: %d million steps, and at most %d million are made for a value; shorten the text or the pattern",
			name, what, steps>>20, MaxSteps>>20)
	}
	return fmt.Sprintf("%s: %s, and those of the rows before, would take too long: more than %d million steps for rows that travel "+
		"together, while other sessions "+
		"wait; shorten the texts or the pattern", name, what, a.meter.Most>>20)
}
