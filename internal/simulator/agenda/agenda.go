// Package agenda is the time and the chance of a simulated world: what will happen, in order, and one source of chance. It reads no
// clock and starts no goroutine, so a seed is a run.
package agenda

import (
	"container/heap"
	"math/rand/v2"
	"time"
)

// epoch is when every simulation begins. It is no round number of anything, and far from the zero time.
var epoch = time.Unix(1_700_000_003, 141_592_653).UTC()

// Agenda is to be embedded in a world. One goroutine owns it.
type Agenda struct {
	At     time.Duration // since the world began
	Events uint64        // that have happened
	Rand   *rand.Rand

	plans   plans
	planned uint64
}

// New begins a world's time. Worlds of different kinds have different salts, so that equal seeds tell different stories.
func New(seed, salt uint64) *Agenda { return &Agenda{Rand: rand.New(rand.NewPCG(seed, salt))} }

// event is something that will happen. Events of one moment happen in the order in which they were planned.
type event struct {
	at time.Duration
	n  uint64
	do func()
}

type plans []event

func (p plans) Len() int { return len(p) }
func (p plans) Less(i, j int) bool {
	return p[i].at < p[j].at || p[i].at == p[j].at && p[i].n < p[j].n
}
func (p plans) Swap(i, j int) { p[i], p[j] = p[j], p[i] }
func (p *plans) Push(x any)   { *p = append(*p, x.(event)) }
func (p *plans) Pop() any {
	old := *p
	e := old[len(old)-1]
	old[len(old)-1] = event{}
	*p = old[:len(old)-1]
	return e
}

// After plans something; what is planned for the past happens now.
func (a *Agenda) After(d time.Duration, do func()) {
	a.planned++
	heap.Push(&a.plans, event{a.At + max(0, d), a.planned, do})
}

// Empty says that nothing will happen any more.
func (a *Agenda) Empty() bool { return len(a.plans) == 0 }

// Next takes the next event and moves the clock to it; what it returns is to be done. The agenda must not be empty.
func (a *Agenda) Next() func() {
	e := heap.Pop(&a.plans).(event)
	a.At = e.at
	a.Events++
	return e.do
}

// Now is the time that cores are told.
func (a *Agenda) Now() time.Time { return epoch.Add(a.At) }

// Between draws a time: low, or more, but less than high.
func (a *Agenda) Between(low, high time.Duration) time.Duration {
	if high <= low {
		return low
	}
	return low + time.Duration(a.Rand.Int64N(int64(high-low)))
}

// Chance is true with probability p.
func (a *Agenda) Chance(p float64) bool { return p > 0 && a.Rand.Float64() < p }

// OneOf draws from what is given.
func OneOf[T any](a *Agenda, all ...T) T { return all[a.Rand.IntN(len(all))] }
