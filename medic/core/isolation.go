package core

import (
	"slices"
	"time"
)

// A medic that hears nobody at all, no node and no medic, is more likely to be cut off than to be the last one alive. It may be able to kill
// all the same, because processes are reached in other ways than messages are. So it takes itself for isolated first, and leaves it to the
// others to elect a leader and to restart it. It does not wait for ever, or the last medic alive would help nobody (M7). And it does not wait
// where processes are known to be gone: an order on a hint never kills.

// isolated reports whether nobody at all is heard, and has not been for long enough to believe that nobody is there.
func (c *Core) isolated(now time.Time) bool {
	quiet := now.Sub(c.det.lastAny)
	enough := c.cfg.SuspectAfter + c.cfg.IsolationTimeout
	if !c.det.heardAny {
		enough += c.cfg.StartTimeout // the medic that has started this one waits so long for its first word before it starts it again
	}
	return quiet >= c.cfg.freshTimeout() && quiet < enough
}

// rejoin comes when somebody is heard again. A medic that was cut off is like one that has slept: the others' silence means nothing, and they
// get one full timeout, in which this medic hears of a new leader if there is one.
func (c *Core) rejoin(now time.Time) {
	for _, v := range c.det.members {
		if !v.ended {
			v.silentSince = now
		}
	}
	for _, t := range c.targets {
		t.since = now // what was started meanwhile may have been at work for long
	}
	c.leaderHeard, c.candidateSince = now, now
	c.recallAll(now)
	for id, t := range c.targets {
		if t.phase == waiting && !c.det.members[id].ended {
			t.wait = max(t.wait, c.cfg.SuspectAfter) // also a target that was not heard after its start: its heartbeats may be what was missed
		}
	}
}

// mayOrder reports whether an order for a target that is missed does no harm as far as this medic can tell.
func (c *Core) mayOrder(v *liveness, now time.Time) bool { return v.ended || !c.isolated(now) }

// mayCampaign reports whether this medic may begin an election, or end one: it hears somebody, or sees that there is nobody to be heard.
func (c *Core) mayCampaign(now time.Time) bool {
	if !c.isolated(now) {
		return true
	}
	seen := 0
	for _, m := range c.cfg.members() {
		if m.ID == c.cfg.Self || !slices.Contains(c.cfg.Reach, m.Host) {
			continue
		}
		if !c.det.members[m.ID].ended {
			return false
		}
		seen++
	}
	return seen > 0
}
