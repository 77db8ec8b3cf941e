package trace

import (
	"math"
	"time"
)

const (
	octaves = 24                  // from a microsecond to 16 seconds; longer durations are in the last bucket
	perStep = 4                   // buckets for each doubling, so a quantile is at most 19 % too high
	spreads = octaves*perStep + 1 // buckets
	finest  = float64(time.Microsecond)
)

// spread counts durations in buckets of growing width.
type spread struct {
	buckets [spreads]uint32
	count   uint64
	sum     time.Duration
	max     time.Duration
}

func (s *spread) add(d time.Duration) {
	d = max(0, d)
	i := 0
	if float64(d) > finest {
		i = min(spreads-1, int(math.Ceil(math.Log2(float64(d)/finest)*perStep)))
	}
	s.buckets[i]++
	s.count++
	s.sum += d
	s.max = max(s.max, d)
}

// quantile returns a duration that is at least as long as the share q of all durations.
func (s *spread) quantile(q float64) time.Duration {
	rank, seen := uint64(math.Ceil(q*float64(s.count))), uint64(0)
	for i, n := range s.buckets {
		if seen += uint64(n); seen >= rank && n > 0 {
			return min(s.max, time.Duration(finest*math.Exp2(float64(i)/perStep)))
		}
	}
	return s.max
}

func (s *spread) durations() Durations {
	d := Durations{Count: s.count, P50: s.quantile(0.5), P95: s.quantile(0.95), Max: s.max}
	if s.count > 0 {
		d.Mean = s.sum / time.Duration(s.count)
	}
	return d
}
