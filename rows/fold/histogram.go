package fold

import (
	"encoding/binary"
	"fmt"
	"iter"
	"math"
)

// stepCounts is a cell of kind Histogram: how often each number was added. It keeps at most Agg.N steps. If there are more
// different numbers, they lose their lowest bits, one after the other, until few enough are left.
//
// Why the order of numbers and of merging makes no difference (design D1): let the true shift be the least number of bits
// without which all added numbers together make at most Agg.N steps. A part of the numbers never makes more steps than all of
// them do. So no part, in whatever table, drops more bits than the true shift. And settle ends at the least number of bits that
// suffices, which for all numbers is the true shift.
type stepCounts struct {
	counts       // of numbers without their lowest bits
	shift  uint8 // how many bits they have lost
}

// mostShift is the highest shift: only the sign is left. A histogram of 2 steps may need it.
const mostShift = 63

func (h *stepCounts) add(value, n int64, most int, free *[]count) error {
	value >>= h.shift
	if last := len(h.list) - 1; last >= 0 {
		switch before := &h.list[last]; {
		case value == before.value && before.n <= math.MaxInt64-n:
			before.n += n
			return nil
		case value <= before.value:
			h.mixed = true
		}
	}
	h.list = append(h.list, count{value, n})
	if len(h.list) < max(h.limit, fewCounts) {
		return nil
	}
	err := h.settle(most, free)
	h.limit = 2 * len(h.list)
	return err
}

// settle sorts the list, with each number once, and makes it short enough.
func (h *stepCounts) settle(most int, free *[]count) error {
	if err := h.normalize(free); err != nil {
		return err
	}
	for len(h.list) > most && h.shift < mostShift {
		if err := h.coarsen(1); err != nil {
			return err
		}
	}
	return nil
}

// coarsen drops bits of the numbers in a list that is sorted.
func (h *stepCounts) coarsen(bits uint8) error {
	h.shift += bits
	kept := -1
	for _, x := range h.list {
		x.value >>= bits
		if kept < 0 || x.value != h.list[kept].value {
			kept++
			h.list[kept] = x
			continue
		}
		if h.list[kept].n > math.MaxInt64-x.n {
			return errOften
		}
		h.list[kept].n += x.n
	}
	h.list = h.list[:kept+1]
	return nil
}

func (h *stepCounts) reset() {
	h.counts.reset()
	h.shift = 0
}

// append appends the wire form: the shift, then the numbers as counts do. They are settled, so equal histograms are equal bytes.
func (h *stepCounts) append(b []byte, most int, free *[]count) []byte {
	_ = h.settle(most, free) // the receiver will find the error, so it is not lost
	return h.counts.append(append(b, h.shift), free)
}

// read adds what append wrote.
func (h *stepCounts) read(p []byte, most int, free *[]count) error {
	if len(p) == 0 || p[0] > mostShift {
		return fmt.Errorf("a histogram begins with % x", p[:min(len(p), 1)])
	}
	shift := p[0]
	if shift > h.shift {
		if err := h.settle(most, free); err != nil {
			return err
		}
		if shift > h.shift { // settle may have raised it
			if err := h.coarsen(shift - h.shift); err != nil {
				return err
			}
		}
	}
	return readCounts(p[1:], func(value, n int64) error {
		whole := value << shift
		if whole>>shift != value {
			return fmt.Errorf("the number %d has no room for %d more bits", value, shift)
		}
		return h.add(whole, n, most, free)
	})
}

// AddHistogram adds v to a Histogram, n times; n must be above 0.
func (t *Table) AddHistogram(row, agg int, v, n int64) {
	if n <= 0 {
		panic(fmt.Sprintf("fold: a number is added %d times to %s of %s", n, t.spec.Aggs[agg].Name, t.spec.Name))
	}
	c := t.of(agg, Histogram)
	if err := c.histograms[row].add(v, n, c.agg.N, &c.free); err != nil {
		t.fail(fmt.Errorf("%s of table %s: %w", t.spec.Aggs[agg].Name, t.spec.Name, err))
	}
}

// Histogram returns the steps of a Histogram, sorted: the least number of each step, and how many numbers were added to it. A
// step has 1<<shift numbers. The steps are valid until the table changes.
func (t *Table) Histogram(row, agg int) (shift int, steps iter.Seq2[int64, int64]) {
	c := t.of(agg, Histogram)
	h := &c.histograms[row]
	if err := h.settle(c.agg.N, &c.free); err != nil {
		t.fail(fmt.Errorf("%s of table %s: %w", t.spec.Aggs[agg].Name, t.spec.Name, err))
	}
	return int(h.shift), func(yield func(v, n int64) bool) {
		for _, x := range h.list {
			if !yield(x.value<<h.shift, x.n) {
				return
			}
		}
	}
}

// readCounts calls add for each number in the wire form of counts.
func readCounts(p []byte, add func(value, n int64) error) error {
	value := int64(0)
	for first := true; len(p) > 0; first = false {
		distance, size := binary.Varint(p)
		if size <= 0 {
			return fmt.Errorf("a number in %d bytes is cut or too long", len(p))
		}
		p = p[size:]
		n := int64(1)
		if distance == 0 && !first {
			times, size := binary.Uvarint(p)
			if size <= 0 || times == 0 || times > math.MaxInt64 {
				return fmt.Errorf("a number is added %d times more, in %d bytes", times, size)
			}
			n, p = int64(times), p[size:]
		}
		value += distance
		if err := add(value, n); err != nil {
			return err
		}
	}
	return nil
}
