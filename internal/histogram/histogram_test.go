package histogram

import (
	"testing"
	"time"
)

func TestBuckets(t *testing.T) {
	var h Histogram
	for _, d := range []time.Duration{-time.Second, 0, 100 * time.Microsecond, 100*time.Microsecond + 1, time.Second, time.Hour} {
		h.Observe(d)
	}
	s := h.Snapshot()
	want := map[float64]uint64{0.0001: 3, 0.00025: 4, 0.5: 4, 1: 5, 60: 5}
	for i, b := range s.Buckets {
		if n, asked := want[b.Bound]; asked && b.Count != n {
			t.Errorf("%d values are not above %g s, want %d", b.Count, b.Bound, n)
		}
		if delete(want, b.Bound); i > 0 && b.Bound <= s.Buckets[i-1].Bound {
			t.Errorf("%g comes behind %g", b.Bound, s.Buckets[i-1].Bound)
		}
	}
	if len(want) > 0 {
		t.Errorf("there are no buckets %v", want)
	}
	if want := 3601.000200001; s.Count != 6 || s.Seconds != want {
		t.Errorf("%d values of %.9f s together, want 6 of %.9f", s.Count, s.Seconds, want)
	}
	if len(s.Buckets) != len(bounds) {
		t.Errorf("%d buckets", len(s.Buckets))
	}
}

func TestNilCountsNothing(t *testing.T) {
	var h *Histogram
	h.Observe(time.Second)
	if s := h.Snapshot(); s.Count != 0 || s.Seconds != 0 {
		t.Errorf("it counted %+v", s)
	}
}

func TestObserveAllocatesNothing(t *testing.T) {
	var h Histogram
	if n := testing.AllocsPerRun(100, func() { h.Observe(3 * time.Millisecond) }); n != 0 {
		t.Errorf("%.0f allocations for a value", n)
	}
}

func BenchmarkObserve(b *testing.B) {
	var h Histogram
	for b.Loop() {
		h.Observe(3 * time.Millisecond)
	}
}
