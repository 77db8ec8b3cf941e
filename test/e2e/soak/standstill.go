package soak

import (
	"slices"
	"sync"
	"time"
)

// Standstill knows when a process stood still: others on the machine had all processors, or the machine itself was stopped for a while. Then the
// cluster stood still as well, and what it did afterwards was late. The process calls Tick every Interval.
type Standstill struct {
	mu   sync.Mutex
	all  []standing
	last time.Time // the last tick
}

type standing struct{ from, to time.Time }

// Interval is the time between two ticks; what is shorter than stoodFrom is no standstill.
const (
	Interval  = 100 * time.Millisecond
	stoodFrom = 500 * time.Millisecond
)

// Tick says that the process runs.
func (s *Standstill) Tick(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.last.IsZero() && now.Sub(s.last) >= stoodFrom {
		s.all = append(s.all, standing{s.last, now})
	}
	s.last = now
}

// Between returns for how long the process stood still between two moments.
func (s *Standstill) Between(from, to time.Time) (sum time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.all
	if now := time.Now(); !s.last.IsZero() && now.Sub(s.last) >= stoodFrom { // it has just ended, and the tick is yet to come
		all = append(slices.Clone(all), standing{s.last, now})
	}
	for _, x := range all {
		a, b := x.from, x.to
		if a.Before(from) {
			a = from
		}
		if b.After(to) {
			b = to
		}
		sum += max(0, b.Sub(a))
	}
	return sum
}
