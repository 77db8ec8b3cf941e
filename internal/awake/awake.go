// Package awake tells the time in which a process ran from the time in which it did not: it was stopped, starved of processors, or its
// machine stood still. A process that did not run has heard nobody, so that time is nobody else's silence (M6). It has no clock: whoever
// uses it says what time it is.
package awake

import "time"

// Ticks sorts the time between ticks. Its owner calls Tick at intervals well below Longest while it runs. The zero value of last means that
// there was no tick yet.
type Ticks struct {
	longest time.Duration
	last    time.Time
}

// NewTicks returns Ticks whose first interval begins now, or with the first tick if now is zero. An interval longer than longest means that
// the process did not run.
func NewTicks(longest time.Duration, now time.Time) Ticks { return Ticks{longest: longest, last: now} }

// Tick ends an interval. One of its two results is the interval's length and the other one is zero: ran if the process ran, slept if it did
// not. The first tick, and a time before the last one, have neither.
func (t *Ticks) Tick(now time.Time) (ran, slept time.Duration) {
	last := t.last
	t.last = now
	switch gap := now.Sub(last); {
	case last.IsZero() || gap <= 0:
		return 0, 0
	case gap <= t.longest:
		return gap, 0
	default:
		return 0, gap
	}
}

// Last returns the time of the last tick.
func (t *Ticks) Last() time.Time { return t.last }

// Clock is a clock that stands still while the process does. Of a longer interval it counts only Ticks' longest: a process that is always
// late still notices in the end that nobody answers.
type Clock struct {
	ticks Ticks
	slept time.Duration // the time that the clock does not count
}

// NewClock returns a clock whose owner reads it at intervals well below longest.
func NewClock(longest time.Duration) Clock { return Clock{ticks: NewTicks(longest, time.Time{})} }

// Read returns what the clock shows at the machine's time now, and whether the process did not run just before.
func (c *Clock) Read(now time.Time) (shows time.Time, slept bool) {
	if _, gap := c.ticks.Tick(now); gap > 0 {
		c.slept, slept = c.slept+gap-c.ticks.longest, true
	}
	return now.Add(-c.slept), slept
}

// Until returns how long it takes from the last Read until the clock shows at, if the process runs meanwhile.
func (c *Clock) Until(at time.Time) time.Duration { return at.Sub(c.ticks.last.Add(-c.slept)) }
