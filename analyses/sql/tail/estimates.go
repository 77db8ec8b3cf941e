package tail

import (
	"encoding/binary"
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
// Quartiles come from a histogram of at most QuartileSteps steps. A value becomes a number (see QuartileNumber), in the order of
// the type. Numbers lose their lowest bits until few enough are left. Of a DOUBLE that is its lowest digits, so the error is
// relative to the value. 16,384 steps are enough for 128 steps between any power of two and the next in every BIGINT or DECIMAL
// column, and in a DOUBLE column with values in up to 128 such ranges.
//
// Distinct values are counted by their hashes. The DistinctKept smallest hashes are kept. If there are fewer, each stands for
// one value. If not, the greatest of them tells how densely the hashes lie (the k minimum values of Bar-Yossef et al., 2002).
// Rejected: HyperLogLog, which takes a sixth of the bytes for the same error, but is not exact for a few hundred values.
const (
	QuartileSteps = 1 << 14
	DistinctKept  = 1 + 1024 // counts of up to 1,024 are exact. The standard error of the others is 1/√1023, 3.1 %

	doubleBits = 32 // how many bits of a DOUBLE a histogram never gets: 20 bits behind the first one remain, six decimal digits
	hashBits   = 48 // of a hash that is kept
)

const microsPerSecond = 1_000_000

// QuartileNumber maps a value that is not NULL to a number for a histogram. Numbers have the order of the values.
func QuartileNumber(v *eval.Vector, row int32) int64 {
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

// Quartiles returns the quartiles of a histogram of QuartileNumber as texts, NULL for no values. A quartile is in the step that
// holds the least value with at least a quarter, a half or three quarters of the values at or below it.
func Quartiles(t types.Type, shift int, steps iter.Seq2[int64, int64]) (list eval.List, some bool) {
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

// DistinctHash returns the hash of a value that is not NULL. Equal values have equal hashes. scratch is memory for it.
func DistinctHash(v *eval.Vector, row int32, scratch []byte) (hash int64, _ []byte) {
	b := scratch[:0]
	switch v.Kind {
	case types.Text:
		b = append(b, v.Texts[row]...)
	case types.Double:
		f := v.Floats[row]
		if f != f {
			f = math.NaN()
		}
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(f+0))
	case types.Bool:
		b = append(b, 0)
		if v.Bools[row] {
			b[0] = 1
		}
	case types.Interval:
		i := v.Intervals[row]
		b = binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(b, uint32(i.Months)), uint32(i.Days))
		b = binary.LittleEndian.AppendUint64(b, uint64(i.Micros))
	default:
		b = binary.LittleEndian.AppendUint64(b, uint64(v.Ints[row]))
	}
	return int64(fold.Hash(b) >> (64 - hashBits)), b
}

// Distinct estimates how many distinct values there are by their smallest hashes, of which there are at most DistinctKept.
func Distinct(smallest []int64) int64 {
	if len(smallest) < DistinctKept {
		return int64(len(smallest))
	}
	last := uint64(max(1, smallest[DistinctKept-1])) // hashes are not negative, but a forged frame may have any numbers
	return int64((uint64(DistinctKept-1)<<hashBits + last/2) / last)
}

// estimates is quartiles and approx_unique, of which every group has a cell.
type estimates struct {
	table   *fold.Table
	typ     types.Type // of the values, for quartiles
	bytes   int64
	scratch []byte
}

var (
	quartileTable = fold.Spec{Name: "quartiles", Keys: []fold.Key{{Name: "g", Kind: fold.KeyInt}}, Aggs: []fold.Agg{QuartileCell}}
	distinctTable = fold.Spec{Name: "distinct", Keys: []fold.Key{{Name: "g", Kind: fold.KeyInt}}, Aggs: []fold.Agg{DistinctCell}}
)

// The cells that hold what is estimated from, for tables that joiners fold.
var (
	QuartileCell = fold.Agg{Name: "steps", Kind: fold.Histogram, N: QuartileSteps}
	DistinctCell = fold.Agg{Name: "hashes", Kind: fold.Smallest, N: DistinctKept}
)

func newEstimates(spec *fold.Spec, of types.Type) *estimates {
	return &estimates{table: fold.NewTable(spec), typ: of}
}

// grown returns how many more bytes are kept than at the last call.
func (e *estimates) grown() int64 {
	before := e.bytes
	e.bytes = int64(e.table.Bytes())
	return e.bytes - before
}

func (e *estimates) grow(groups int) int64 {
	for e.table.Len() < groups {
		e.table.Row(e.table.Key().Int(int64(e.table.Len())))
	}
	return e.grown()
}

// quartileLists is quartiles: a list of three texts.
type quartileLists struct{ estimates }

func (q *quartileLists) add(args []*eval.Vector, rows, groups []int32) (int64, error) {
	for k, i := range rows {
		if !args[0].IsNull(i) {
			q.table.AddHistogram(int(groups[k]), 0, QuartileNumber(args[0], i), 1)
		}
	}
	return q.grown(), q.table.Err()
}

func (q *quartileLists) result(groups int) (*eval.Vector, error) {
	v := eval.NewVector(types.TextList, groups)
	for g := range groups {
		shift, steps := q.table.Histogram(g, 0)
		list, some := Quartiles(q.typ, shift, steps)
		if !some {
			setNull(v, int32(g))
		}
		v.Lists[g] = list
	}
	return v, q.table.Err()
}

// distinctEstimates is approx_unique.
type distinctEstimates struct{ estimates }

func (d *distinctEstimates) add(args []*eval.Vector, rows, groups []int32) (int64, error) {
	for k, i := range rows {
		if !args[0].IsNull(i) {
			var hash int64
			hash, d.scratch = DistinctHash(args[0], i, d.scratch)
			d.table.AddSmallest(int(groups[k]), 0, hash)
		}
	}
	return d.grown(), d.table.Err()
}

func (d *distinctEstimates) result(groups int) (*eval.Vector, error) {
	v := eval.NewVector(types.BigInt, groups)
	for g := range groups {
		v.Ints[g] = Distinct(d.table.Smallest(g, 0))
	}
	return v, d.table.Err()
}
