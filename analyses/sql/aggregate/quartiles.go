package aggregate

import (
	"iter"
	"math"
	"math/bits"
	"strconv"

	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/rows/fold"
)

// SUMMARIZE estimates quartiles and the number of distinct values, in bounded memory for any number of rows. Both estimates are
// made from cells of package fold whose contents depend only on the set of rows. So the answer has the same bits for every order
// of rows and every number of processes.
//
// Quartiles come from a histogram of at most quartileSteps steps. A value becomes a number (see quartileNumber), in the order of
// the type. Numbers lose their lowest bits until few enough are left. Of a DOUBLE that is its lowest digits, so the error is
// relative to the value. 16,384 steps are enough for 128 steps between any power of two and the next in every BIGINT or DECIMAL
// column, and in a DOUBLE column with values in up to 128 such ranges.
var quartiles = Aggregate{
	Function: types.Function{Name: "quartiles", Forms: []string{"T -> TEXT[]"}, Nulls: types.Skips, About: "About the quartiles."},
	New: func(c Call) State {
		return &quartileLists{typ: c.Args[0].Type(), estimate: estimate{cell: quartileCell}}
	}, Whole: true, Summary: true,
}

const (
	quartileSteps = 1 << 14
	doubleBits    = 32 // how many bits of a DOUBLE a histogram never gets: 20 bits behind the first one remain, six decimal digits
)

var quartileCell = []fold.Agg{{Name: "steps", Kind: fold.Histogram, N: quartileSteps}}

// quartileLists is a list of three texts for each group.
type quartileLists struct {
	estimate
	typ     types.Type
	repeats *tally // of the only group, where the state travels
}

func (q *quartileLists) Add(r *Rows) (int64, error) {
	t, cell := q.to(r)
	if r.Table != nil && q.repeats == nil {
		q.repeats = &tally{}
	}
	v := r.Args[0]
	for k, i := range r.Sel {
		switch {
		case v.IsNull(i):
		case r.Table != nil:
			q.repeats.put(t, int(r.Groups[k]), cell, quartileNumber(v, i))
		default:
			t.AddHistogram(int(r.Groups[k]), cell, quartileNumber(v, i), 1)
		}
	}
	return q.grown(), t.Err()
}

func (q *quartileLists) Encode(t *fold.Table, cell int) {
	if q.repeats != nil {
		q.repeats.settle(t, 0, cell)
	}
}

func (q *quartileLists) Value(g int32, out *eval.Vector, row int32) error {
	from := q.of(g)
	shift, steps := from.t.Histogram(from.row, from.cell)
	l, some := quartilesOf(q.typ, shift, steps)
	if !some {
		out.SetNull(row)
	}
	out.Lists[row] = l
	return from.t.Err()
}

// tally counts numbers that repeat before they are added to a Histogram. A number has one place. Another number that needs the
// place displaces it to the table.
type tally struct {
	numbers, n [tallyPlaces]int64
}

const (
	tallyBits   = 9
	tallyPlaces = 1 << tallyBits
)

func (c *tally) put(t *fold.Table, row, cell int, number int64) {
	at := uint64(number) * 0x9e3779b97f4a7c15 >> (64 - tallyBits)
	switch {
	case c.n[at] == 0:
		c.numbers[at] = number
	case c.numbers[at] != number:
		t.AddHistogram(row, cell, c.numbers[at], c.n[at])
		c.numbers[at], c.n[at] = number, 0
	}
	c.n[at]++
}

// settle adds what is left to the table.
func (c *tally) settle(t *fold.Table, row, cell int) {
	for at, n := range c.n {
		if n > 0 {
			t.AddHistogram(row, cell, c.numbers[at], n)
		}
	}
	clear(c.n[:])
}

const microsPerSecond = 1_000_000

// quartileNumber maps a value that is not NULL to a number for a histogram. Numbers have the order of the values.
func quartileNumber(v *eval.Vector, row int32) int64 {
	switch v.Kind {
	case types.Double:
		return doubleNumber(v.Floats[row])
	case types.Date:
		return v.Ints[row]
	case types.Timestamp:
		n := v.Ints[row] / microsPerSecond
		if v.Ints[row]%microsPerSecond < 0 {
			n--
		}
		return n
	}
	return doubleNumber(float64(v.Ints[row]))
}

func doubleNumber(f float64) int64 {
	if f != f {
		f = math.NaN() // the positive NaN, which is above infinity
	}
	b := math.Float64bits(f + 0)      // -0 + 0 is 0
	b ^= uint64(int64(b)>>63) | 1<<63 // inverts all bits of a negative number, and the sign bit of others
	return int64(b >> doubleBits)
}

// numberDouble returns the DOUBLE with the given sortable bits.
func numberDouble(b uint64) float64 {
	if b>>63 == 1 {
		return math.Float64frombits(b &^ (1 << 63))
	}
	return math.Float64frombits(^b)
}

// quartilesOf returns the quartiles of a histogram of quartileNumber as texts, NULL for no values. A quartile is in the step that
// holds the least value with at least a quarter, a half or three quarters of the values at or below it.
func quartilesOf(t types.Type, shift int, steps iter.Seq2[int64, int64]) (list eval.List, some bool) {
	all := int64(0)
	for _, n := range steps {
		all += n
	}
	if all == 0 {
		return eval.List{}, false
	}
	below, quarter := int64(0), int64(1)
	for low, n := range steps {
		below += n
		for quarter <= 3 && below >= rankOf(all, quarter) {
			list.Items = append(list.Items, stepText(t, low, shift))
			quarter++
		}
	}
	return list, true
}

// rankOf returns how many values are at or below a quartile: all*quarter/4, rounded up.
func rankOf(all, quarter int64) int64 {
	hi, lo := bits.Mul64(uint64(all), uint64(quarter))
	lo, carry := bits.Add64(lo, 3, 0)
	return int64((hi+carry)<<62 | lo>>2)
}

// stepText returns the value that stands for a step, as text.
func stepText(t types.Type, low int64, shift int) string {
	v := eval.NewVector(t.Kind, 1)
	switch t.Kind {
	case types.Double:
		v.Floats[0] = doubleOf(low, shift)
	case types.Date:
		a, b := middle(low, shift)
		v.Ints[0] = a + (b-a)/2
	case types.Timestamp:
		const last = math.MaxInt64 / microsPerSecond
		v.Ints[0] = max(-last, min(last, roundTime(middle(low, shift)))) * microsPerSecond
	case types.Decimal:
		const most = 1e18 - 1 // MaxPrecision digits
		v.Ints[0] = max(-most, min(most, wholeOf(low, shift)))
	default:
		v.Ints[0] = wholeOf(low, shift)
	}
	return string(eval.AppendText(nil, v, 0, t))
}

// middle returns the middle quarter of a step of whole numbers. A step of one number is that number.
func middle(low int64, shift int) (a, b int64) {
	if shift == 0 {
		return low, low
	}
	width := int64(1) << shift
	return low + width/2 - width/8, low + width/2 + width/8
}

// roundTime returns a moment from a to b, in seconds since 1970: a multiple of the longest unit that has one there.
func roundTime(a, b int64) int64 {
	for _, unit := range []int64{24 * 3600, 12 * 3600, 6 * 3600, 3 * 3600, 3600, 15 * 60, 5 * 60, 60, 15, 5} {
		at := b - b%unit
		if at > b {
			at -= unit
		}
		if at >= a {
			return at
		}
	}
	return b
}

// doubles returns the least and the greatest DOUBLE of a step.
func doubles(low int64, shift int) (a, b float64) {
	width := uint64(1) << (doubleBits + shift)
	from := uint64(low) << doubleBits
	return numberDouble(from), numberDouble(from + width - 1)
}

// centre returns the part of a range from which a value is taken that stands for it: the middle quarter. Without a shift the range
// is so narrow that it is all of it, so that a number of up to six digits stands for itself.
func centre(a, b float64, shift int) (float64, float64) {
	if shift == 0 {
		return a, b
	}
	width := b - a
	return a + float64(width*0.375), a + float64(width*0.625)
}

// doubleOf returns a DOUBLE that stands for a step.
func doubleOf(low int64, shift int) float64 {
	a, b := doubles(low, shift)
	switch {
	case a == 0: // the other numbers of the step are below 1e-308
		return 0
	case math.IsInf(b, -1): // the others would be negative NaNs, which do not occur
		return b
	case math.IsNaN(a) || math.IsInf(a, 1): // NaN is the greatest value, and has a step of its own
		return a
	}
	return shortest(centre(a, b, shift))
}

// wholeOf returns a whole number that stands for a step.
func wholeOf(low int64, shift int) int64 {
	from, to := doubles(low, shift)
	if from == 0 {
		return 0
	}
	a, b := centre(from, to, shift)
	a, b = math.Ceil(a), math.Floor(b)
	if a > b { // the step has a single whole number
		a = math.Ceil(from)
		b = a
	}
	switch f := shortest(a, b); {
	case f >= math.MaxInt64:
		return math.MaxInt64
	case f <= math.MinInt64:
		return math.MinInt64
	default:
		return int64(f)
	}
}

// shortest returns the number from a to b with the fewest digits; of several, one nearest to the middle.
func shortest(a, b float64) float64 {
	mid := a + float64((b-a)/2)
	for digits := range 17 {
		f, _ := strconv.ParseFloat(strconv.FormatFloat(mid, 'e', digits, 64), 64)
		if a <= f && f <= b {
			return f
		}
	}
	return mid
}
