package chart

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// scale maps values to positions, in steps that people can read.
type scale struct {
	low, high float64 // values at both ends
	step      float64 // between two ticks
}

// newScale returns a scale with about the given number of ticks. Values that are all equal have a scale, too.
func newScale(low, high float64, ticks int) scale {
	if low > high { // there is no value
		low, high = 0, 1
	}
	size := max(math.Abs(low), math.Abs(high))
	if high-low <= max(size*1e-12, 1e-290) { // widens the scale; also if the precision of the numbers cannot represent its steps
		low, high = low-max(size/10, 1e-12), high+max(size/10, 1e-12)
	}
	raw := (high - low) / float64(ticks)
	ten := math.Pow(10, math.Floor(math.Log10(raw)))
	step := 10 * ten
	for _, n := range []float64{1, 2, 5} {
		if n*ten >= raw {
			step = n * ten
			break
		}
	}
	return scale{math.Floor(low/step) * step, math.Ceil(high/step) * step, step}
}

// at returns the position of a value, from 0 to 1.
func (s scale) at(v float64) float64 { return (v - s.low) / (s.high - s.low) }

// mostTicks bounds the ticks of a scale whose step is lost in the precision of its ends.
const mostTicks = 20

func (s scale) ticks() (all []float64) {
	for i := 0; i <= mostTicks; i++ {
		v := s.low + float64(i)*s.step
		if v > s.high+s.step/2 {
			break
		}
		if math.Abs(v) < s.step/1e6 {
			v = 0
		}
		all = append(all, v)
	}
	return all
}

// dateTicks returns about n times between low and high, with their texts.
func dateTicks(low, high float64, n int) (at []float64, text []string) {
	layout := "2006"
	switch span := high - low; {
	case span < 2*3600:
		layout = time.TimeOnly
	case span < 2*86400:
		layout = "01-02 15:04"
	case span < 3*365*86400:
		layout = time.DateOnly
	case span < 12*365*86400:
		layout = "2006-01"
	}
	for i := range n {
		v := low
		if n > 1 {
			v += (high - low) * float64(i) / float64(n-1)
		}
		at, text = append(at, v), append(text, time.Unix(int64(v), 0).UTC().Format(layout))
		if low == high {
			break
		}
	}
	return at, text
}

// numberText returns a number with commas, and with few digits behind the point.
func numberText(v float64) string {
	if a := math.Abs(v); a != 0 && (a >= 1e15 || a < 1e-4) {
		return strconv.FormatFloat(v, 'g', 4, 64)
	}
	digits := 0
	if a := math.Abs(v); a != math.Trunc(a) && a < 1e5 {
		digits = max(1, 4-max(0, int(math.Floor(math.Log10(a)))))
	}
	s := strconv.FormatFloat(v, 'f', digits, 64)
	whole, rest, fraction := strings.Cut(s, ".")
	sign := strings.HasPrefix(whole, "-")
	whole = strings.TrimPrefix(whole, "-")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if sign {
		whole = "-" + whole
	}
	if rest = strings.TrimRight(rest, "0"); fraction && rest != "" {
		whole += "." + rest
	}
	return whole
}
