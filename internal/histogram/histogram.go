// Package histogram counts durations in fixed buckets.
//
// The measuring goroutine counts with two atomic additions, and others may read at any time, so the data path has no lock.
package histogram

import (
	"sync/atomic"
	"time"
)

// bounds are the upper bounds of the buckets. They reach from an fsync of a fast disk to a recovery that waited for a full
// one.
var bounds = [...]time.Duration{
	100 * time.Microsecond, 250 * time.Microsecond, 500 * time.Microsecond,
	time.Millisecond, 2500 * time.Microsecond, 5 * time.Millisecond,
	10 * time.Millisecond, 25 * time.Millisecond, 50 * time.Millisecond,
	100 * time.Millisecond, 250 * time.Millisecond, 500 * time.Millisecond,
	time.Second, 2500 * time.Millisecond, 5 * time.Second, 10 * time.Second, 30 * time.Second, time.Minute,
}

// Histogram counts durations. The zero value is empty. A nil Histogram counts nothing, for callers that need no measurements.
type Histogram struct {
	counts [len(bounds) + 1]atomic.Uint64 // by the first bound that is not below the value; the last one counts all longer values
	sum    atomic.Int64                   // nanoseconds
}

// Observe counts a duration. A negative one counts as 0.
func (h *Histogram) Observe(d time.Duration) {
	if h == nil {
		return
	}
	d = max(0, d)
	i := 0
	for i < len(bounds) && d > bounds[i] {
		i++
	}
	h.counts[i].Add(1)
	h.sum.Add(int64(d))
}

// Snapshot is what a histogram has counted at some moment.
type Snapshot struct {
	Count   uint64
	Seconds float64 // sum of all values
	Buckets []Bucket
}

// Bucket says how many values are at most its bound.
type Bucket struct {
	Bound float64 // in seconds
	Count uint64
}

// Snapshot reads the histogram. Values that are counted during the call may be in it or not; Count always agrees with
// Buckets.
func (h *Histogram) Snapshot() Snapshot {
	s := Snapshot{Buckets: make([]Bucket, 0, len(bounds))}
	if h == nil {
		return s
	}
	for i := range h.counts {
		s.Count += h.counts[i].Load()
		if i < len(bounds) {
			s.Buckets = append(s.Buckets, Bucket{bounds[i].Seconds(), s.Count})
		}
	}
	s.Seconds = time.Duration(h.sum.Load()).Seconds()
	return s
}
