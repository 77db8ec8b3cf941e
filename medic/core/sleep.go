package core

import "time"

// noticeSleep finds out whether this medic has slept. Each call with a time calls it first: otherwise the medic would send or carry out
// outdated orders.
func (c *Core) noticeSleep(now time.Time) {
	if slept := c.det.tick(now); slept > 0 {
		c.wake(slept, now)
	}
}

// wake is called after a sleep. After a long one another medic may lead by now, and received messages may be outdated. So for one timeout
// this medic gives and carries out no order and begins no election (M6).
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
