package core

import (
	"slices"
	"time"
)

// A medic that hears nobody at all, no node and no medic, is more likely to be cut off than to be the last one alive. It may still be able
// to kill processes, because that does not need the network. So at first it considers itself isolated, and leaves it to the others to elect
// a leader and to restart it. It does not wait for ever, or the last living medic would restart nothing (M7). And it does not wait where a
// process is known to have ended: an order that follows a hint never kills.

// isolated reports whether this medic hears nobody, but not yet for so long that the others must be dead.
func (c *Core) isolated(now time.Time) bool {
	quiet := now.Sub(c.det.lastAny)
	enough := c.cfg.SuspectAfter + c.cfg.IsolationTimeout
	if !c.det.heardAny {
		enough += c.cfg.StartTimeout // a leader that has restarted this medic waits that long for its first heartbeat
	}
	return quiet >= c.cfg.freshTimeout() && quiet < enough
}

// rejoin is called when a member is heard again after a silence of all. A medic that was cut off is like one that slept: the silence of
// others proves nothing. They get a full timeout, in which this medic also hears of a new leader if there is one.
func (c *Core) rejoin(now time.Time) {
	for _, v := range c.det.members {
		if !v.ended {
			v.silentSince = now
		}
	}
	for _, t := range c.targets {
		t.since = now // a target that was started meanwhile may have worked for long
	}
	c.leaderHeard, c.candidateSince = now, now
	c.recallAll(now)
	for id, t := range c.targets {
		if t.phase == waiting && !c.det.members[id].ended {
			// also for a target that was not heard after its start: this medic may have missed its heartbeats
			t.wait = max(t.wait, c.cfg.SuspectAfter)
		}
	}
}

// mayOrder reports whether this medic may order the restart of a silent target: it is not isolated, or the process is known to have ended.
func (c *Core) mayOrder(v *liveness, now time.Time) bool { return v.ended || !c.isolated(now) }

// mayCampaign reports whether this medic may begin or end an election: it hears somebody, or it sees that all processes within its reach
// have ended.
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
