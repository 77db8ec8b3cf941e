package display

import "time"

// rate is how fast a counter grew over the last seconds: over a span that is long enough for a readable number, and short enough to show a
// stall.
type rate struct {
	seen []sample
}

type sample struct {
	at time.Time
	n  int64
}

const rateWindow = 3 * time.Second

// add notes the counter and returns its growth per second; 0 while there are too few values.
func (r *rate) add(now time.Time, n int64) float64 {
	r.seen = append(r.seen, sample{now, n})
	old := 0
	for old < len(r.seen)-2 && now.Sub(r.seen[old+1].at) >= rateWindow {
		old++
	}
	r.seen = append(r.seen[:0], r.seen[old:]...)
	first := r.seen[0]
	span := now.Sub(first.at)
	if span < 100*time.Millisecond {
		return 0
	}
	return float64(n-first.n) / span.Seconds()
}
