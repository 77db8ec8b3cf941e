// Package eventqueue is the core of a discrete-event simulation: the simulated clock, the pending events in their order, and the only
// source of random numbers. It reads no clock and starts no goroutine, so equal seeds give equal runs.
package eventqueue

import (
	"container/heap"
	"math/rand/v2"
	"time"
)

// epoch is the simulated time at which every run begins. It is not a round number in any unit, and is far from the zero time.
var epoch = time.Unix(1_700_000_003, 141_592_653).UTC()

// Queue holds the pending events. A simulated world embeds it. One goroutine owns it.
type Queue struct {
	At     time.Duration // time since the world began
	Events uint64        // how many events have happened
	Rand   *rand.Rand

	future  schedule
	planned uint64 // how many events were ever added: the number of the next one
}

// New returns an empty queue at time 0. Simulators of different kinds use different salts, so that equal seeds draw different numbers.
func New(seed, salt uint64) *Queue { return &Queue{Rand: rand.New(rand.NewPCG(seed, salt))} }

// event is a pending event. Events at the same moment happen in the order in which they were added.
type event struct {
	at time.Duration
	n  uint64
	do func()
}

type schedule []event

func (s schedule) Len() int { return len(s) }
func (s schedule) Less(i, j int) bool {
	return s[i].at < s[j].at || s[i].at == s[j].at && s[i].n < s[j].n
}
func (s schedule) Swap(i, j int) { s[i], s[j] = s[j], s[i] }
func (s *schedule) Push(x any)   { *s = append(*s, x.(event)) }
func (s *schedule) Pop() any {
	old := *s
	e := old[len(old)-1]
	old[len(old)-1] = event{}
	*s = old[:len(old)-1]
	return e
}

// After adds an event that happens after d. With a negative d it happens now.
func (q *Queue) After(d time.Duration, do func()) {
	q.planned++
	heap.Push(&q.future, event{q.At + max(0, d), q.planned, do})
}

// Empty reports whether no event is left.
func (q *Queue) Empty() bool { return len(q.future) == 0 }

// Next removes the next event and moves the clock to it. The caller runs the returned function. The queue must not be empty.
func (q *Queue) Next() func() {
	e := heap.Pop(&q.future).(event)
	q.At = e.at
	q.Events++
	return e.do
}

// Now returns the simulated time that cores get.
func (q *Queue) Now() time.Time { return epoch.Add(q.At) }

// Between draws a duration of at least low and less than high.
func (q *Queue) Between(low, high time.Duration) time.Duration {
	if high <= low {
		return low
	}
	return low + time.Duration(q.Rand.Int64N(int64(high-low)))
}

// Chance returns true with probability p.
func (q *Queue) Chance(p float64) bool { return p > 0 && q.Rand.Float64() < p }

// OneOf draws one of the given values.
func OneOf[T any](q *Queue, all ...T) T { return all[q.Rand.IntN(len(all))] }
