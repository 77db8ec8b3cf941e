package soak

import (
	"slices"
	"sync"
	"time"

	"posta.dev/posta/internal/awake"
)

// Standstill knows when a process stood still: others on the machine had all processors, or the machine itself was stopped for a while.
// Then the cluster stood still as well, and what it did afterwards was late. The process calls Tick every Interval.
type Standstill struct {
	mu    sync.Mutex
	all   []standing
	ticks awake.Ticks
}

type standing struct{ from, to time.Time }

// Interval is the time between two ticks; what is not longer than stoodFrom is no standstill.
const (
	Interval  = 100 * time.Millisecond
	stoodFrom = 500 * time.Millisecond
)

// NewStandstill returns a Standstill without a tick.
func NewStandstill() *Standstill {
	return &Standstill{ticks: awake.NewTicks(stoodFrom, time.Time{})}
}

// Tick says that the process runs.
func (s *Standstill) Tick(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, stood := s.ticks.Tick(now); stood > 0 {
		s.all = append(s.all, standing{now.Add(-stood), now})
	}
}

// Between returns for how long the process stood still between two moments.
func (s *Standstill) Between(from, to time.Time) (sum time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.all
	next, now := s.ticks, time.Now()
	if _, stood := next.Tick(now); stood > 0 { // it has just ended, and the tick is yet to come
		all = append(slices.Clone(all), standing{now.Add(-stood), now})
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
