package core

import "time"

// noticeSleep finds out whether this medic has slept. It comes before anything else that is done with a time: a medic that does not know of
// its sleep would let out orders that are outdated, or obey them.
func (c *Core) noticeSleep(now time.Time) {
	if slept := c.det.tick(now); slept > 0 {
		c.wake(slept, now)
	}
}

// wake comes after a sleep. After a long one another medic may lead by now, and messages that have arrived may be outdated: for one timeout
// no order is given, none obeyed, and no election begun (M6).
func (c *Core) wake(slept time.Duration, now time.Time) {
	c.leaderHeard = c.leaderHeard.Add(slept)
	c.candidateSince = c.candidateSince.Add(slept)
	for _, t := range c.targets {
		t.since = t.since.Add(slept)
	}
	if c.actAfter.After(now.Add(-slept)) {
		c.actAfter = c.actAfter.Add(slept)
	}
	if slept >= c.cfg.SuspectAfter/2 {
		c.actAfter, c.leaderHeard, c.candidateSince = now.Add(c.cfg.SuspectAfter), now, now
		c.recallAll(now)
	}
}
