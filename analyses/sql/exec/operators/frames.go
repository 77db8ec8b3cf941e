package operators

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"sort"
	"time"

	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/syntax"
	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/analyses/sql/values"
)

// frames returns a function that returns the start and the end of the frame for a place in the partition. Both may lie
// outside of the partition, and the end may lie before the start.
func (w *window) frames() (func(i int) (start, end int), error) {
	f := w.call.Frame
	if f == nil {
		return func(i int) (int, int) { return 0, int(w.peerEnd[i]) }, nil
	}
	lo, err := w.bound(f.Lo, f.Range, false)
	if err != nil {
		return nil, err
	}
	hi, err := w.bound(f.Hi, f.Range, true)
	return func(i int) (int, int) { return lo(i), hi(i) }, err
}

// bound returns a function for one end of the frame: its first place, or with end the place after its last.
func (w *window) bound(b plan.FrameBound, values, end bool) (func(i int) int, error) {
	n, one := len(w.rows), 0
	if end {
		one = 1
	}
	switch {
	case b.Kind == syntax.UnboundedPreceding:
		return func(int) int { return 0 }, nil
	case b.Kind == syntax.UnboundedFollowing:
		return func(int) int { return n }, nil
	case b.Kind == syntax.CurrentRow && values:
		return func(i int) int { return w.peer(i, end) }, nil
	case b.Kind == syntax.CurrentRow:
		return func(i int) int { return i + one }, nil
	case values:
		return w.distance(b, end)
	}
	by, ok := b.X.(*plan.Const).Value.(int64)
	if !ok || by < 0 {
		return nil, fmt.Errorf("a frame of %v rows: %w", b.X.(*plan.Const).Value, eval.ErrUnsupported)
	}
	k := int(min(by, int64(n)+1))
	if b.Kind == syntax.Preceding {
		k = -k
	}
	return func(i int) int { return i + k + one }, nil
}

func (w *window) peer(i int, end bool) int {
	if end {
		return int(w.peerEnd[i])
	}
	return int(w.peerStart[i])
}

// distance returns a function for one end of a RANGE frame, at a distance in values. The frame of a NULL consists of all
// NULLs.
func (w *window) distance(b plan.FrameBound, end bool) (func(i int) int, error) {
	k := w.keys[0]
	up := b.Kind == syntax.Following
	// PRECEDING goes toward smaller values, with DESC toward greater ones.
	away, err := w.away(k.V, b.X.(*plan.Const), up != k.Desc, up == end)
	if err != nil {
		return nil, err
	}
	// Skip the NULLs at both ends of the order.
	lo, hi := 0, len(w.rows)
	for lo < hi && k.V.IsNull(w.rows[lo]) {
		lo++
	}
	for hi > lo && k.V.IsNull(w.rows[hi-1]) {
		hi--
	}
	return func(i int) int {
		r := w.rows[i]
		if k.V.IsNull(r) {
			return w.peer(i, end)
		}
		compare := away(r)
		return lo + sort.Search(hi-lo, func(j int) bool {
			c := compare(w.rows[lo+j])
			if k.Desc {
				c = -c
			}
			return c > 0 || c == 0 && !end
		})
	}, nil
}

// away returns a function that adds the distance to a row's value, or subtracts it, and compares other rows with the result.
// With wide, the frame must hold all values up to the distance, so a distance with more digits than the values is rounded
// down.
func (w *window) away(v *eval.Vector, c *plan.Const, add, wide bool) (func(r int32) func(other int32) int, error) {
	typ := w.call.Order[0].X.Type()
	switch d := c.Value.(type) {
	case plan.Interval:
		if !add {
			d = plan.Interval{Months: -d.Months, Days: -d.Days, Micros: -d.Micros}
		}
		switch v.Kind {
		case types.Timestamp:
			return func(r int32) func(int32) int {
				to := plus(v.Ints[r], d)
				return func(other int32) int { return cmp.Compare(v.Ints[other], to) }
			}, nil
		case types.Date:
			return func(r int32) func(int32) int {
				to := plus(v.Ints[r]*values.MicrosPerDay, d)
				return func(other int32) int { return cmp.Compare(v.Ints[other]*values.MicrosPerDay, to) }
			}, nil
		}
	case float64:
		if !add {
			d = -d
		}
		value := func(r int32) float64 { return v.Floats[r] }
		if v.Kind != types.Double {
			by := math.Pow10(int(typ.Scale))
			value = func(r int32) float64 { return float64(v.Ints[r]) / by }
		}
		return func(r int32) func(int32) int {
			to := value(r) + d
			return func(other int32) int { return values.CompareFloats(value(other), to) }
		}, nil
	case int64:
		scale := c.T.Scale
		if v.Kind == types.Double {
			by := float64(d) / math.Pow10(int(scale))
			if !add {
				by = -by
			}
			return func(r int32) func(int32) int {
				to := v.Floats[r] + by
				return func(other int32) int { return values.CompareFloats(v.Floats[other], to) }
			}, nil
		}
		by := rescale(d, scale, typ.Scale, wide)
		return func(r int32) func(int32) int {
			to := saturated(v.Ints[r], by, add)
			return func(other int32) int { return cmp.Compare(v.Ints[other], to) }
		}, nil
	}
	return nil, &eval.Unsupported{At: c.At, What: "RANGE with a distance of " + c.T.String()}
}

// saturated returns x ± by, limited to the range of int64.
func saturated(x, by int64, add bool) int64 {
	switch {
	case add && x > math.MaxInt64-by:
		return math.MaxInt64
	case add:
		return x + by
	case x < math.MinInt64+by:
		return math.MinInt64
	}
	return x - by
}

// rescale changes the digits after the point of a distance, rounds it down or up, and limits it to the range of int64.
func rescale(d int64, from, to uint8, down bool) int64 {
	r := new(big.Int).Mul(big.NewInt(d), new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(to)), nil))
	by := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(from)), nil)
	q, rest := new(big.Int).QuoRem(r, by, new(big.Int))
	if rest.Sign() > 0 && !down {
		q.Add(q, big.NewInt(1))
	}
	if !q.IsInt64() {
		return math.MaxInt64
	}
	return q.Int64()
}

// plus adds an interval to microseconds since 1970: first the months, with a day of at most the month's last, then days and microseconds.
func plus(micros int64, d plan.Interval) int64 {
	if d.Months != 0 {
		day, rest := values.FloorDiv(micros, values.MicrosPerDay)
		t := time.Unix(day*86400, 0).UTC()
		first := time.Date(t.Year(), t.Month()+time.Month(d.Months), 1, 0, 0, 0, 0, time.UTC)
		last := first.AddDate(0, 1, -1).Day()
		micros = (first.Unix()/86400+int64(min(t.Day(), last))-1)*values.MicrosPerDay + rest
	}
	return shifted(micros, int64(d.Days)*values.MicrosPerDay+d.Micros)
}

func shifted(x, by int64) int64 {
	if by < 0 {
		return saturated(x, -by, false)
	}
	return saturated(x, by, true)
}
