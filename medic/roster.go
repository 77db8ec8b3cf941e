package medic

import (
	"slices"
	"time"
)

// Backoff says how soon a node is started again (M5).
type Backoff struct {
	// First is the pause before the second start in a row; each later pause is twice as long as the one before. The first start after a death
	// never waits. Default 100ms. If it is short, a node that cannot start wastes processor time.
	First time.Duration
	// Max is the longest pause, default 10s. If it is long, a node stays down that long after the cause of its failure is gone.
	Max time.Duration
	// Healthy: a node that ran for at least this long starts a new row of deaths, default 1s. If it is short, a slow crash loop gets no pause;
	// if it is long, a node that fails twice by accident has to wait.
	Healthy time.Duration
}

// Filled returns p with its defaults.
func (p Backoff) Filled() Backoff {
	fill := func(d *time.Duration, def time.Duration) {
		if *d <= 0 {
			*d = def
		}
	}
	fill(&p.First, 100*time.Millisecond)
	fill(&p.Max, 10*time.Second)
	fill(&p.Healthy, time.Second)
	return p
}

// Delay returns the wait after this many deaths in a row: none, First, 2 × First, … Max.
func (p Backoff) Delay(inARow int) time.Duration {
	if inARow <= 1 {
		return 0
	}
	wait := p.First
	for range inARow - 2 {
		if wait >= p.Max {
			break
		}
		wait *= 2
	}
	return min(wait, p.Max)
}

// Roster decides which node is to be started when. It is pure: time comes in as an argument, and decisions go out as values. One goroutine
// owns it.
type Roster struct {
	pace    Backoff
	members map[NodeID]*member
}

type member struct {
	waiting bool      // until due; otherwise the node is being started, or it runs
	due     time.Time // when it is to be started
	started time.Time // the last start that succeeded; zero if none has since the last death
	inARow  int       // deaths that came sooner than Backoff.Healthy
	starts  int
}

// NewRoster wants all nodes started, at once.
func NewRoster(pace Backoff, nodes []NodeID) *Roster {
	r := &Roster{pace: pace.Filled(), members: map[NodeID]*member{}}
	for _, n := range nodes {
		r.members[n] = &member{waiting: true}
	}
	return r
}

// Due returns the nodes to start now, sorted. Each is returned once; the caller then reports Started or Died.
func (r *Roster) Due(now time.Time) []NodeID {
	var due []NodeID
	for n, m := range r.members {
		if m.waiting && !now.Before(m.due) {
			m.waiting = false
			due = append(due, n)
		}
	}
	slices.Sort(due)
	return due
}

// Next returns when Due will return the next node; false while none waits.
func (r *Roster) Next() (next time.Time, some bool) {
	for _, m := range r.members {
		if m.waiting && (!some || m.due.Before(next)) {
			next, some = m.due, true
		}
	}
	return next, some
}

// Started says that the node has a process, and returns how many it has had.
func (r *Roster) Started(node NodeID, now time.Time) (nth int) {
	m := r.members[node]
	if m == nil {
		return 0
	}
	m.started = now
	m.starts++
	return m.starts
}

// Died says that the node's process ended or could not be started. It returns how long the node waits before it is due again, and
// how many deaths there were in a row.
func (r *Roster) Died(node NodeID, now time.Time) (wait time.Duration, inARow int) {
	m := r.members[node]
	if m == nil {
		return 0, 0
	}
	if !m.started.IsZero() && now.Sub(m.started) >= r.pace.Healthy {
		m.inARow = 0
	}
	m.inARow++
	wait = r.pace.Delay(m.inARow)
	m.waiting, m.due, m.started = true, now.Add(wait), time.Time{}
	return wait, m.inARow
}
