package core

import "time"

// Pause returns the time between two ticks: a quarter of a heartbeat, or half of one while all is well. Each tick wakes a process that may
// have nothing else to do. All is well if this medic follows a leader or leads, no target is being restarted, and every member was heard
// within one and a half heartbeats. The shortest silence that means anything is two heartbeats, so a failure is noticed as early as with
// short pauses. No pause is longer than half a heartbeat, because a medic whose ticks are a heartbeat apart considers itself asleep (M6).
func (c *Core) Pause(now time.Time) time.Duration {
	if c.allIsWell(now) {
		return c.cfg.Heartbeat / 2
	}
	return c.cfg.Heartbeat / 4
}

func (c *Core) allIsWell(now time.Time) bool {
	quiet := c.cfg.Heartbeat + c.cfg.Heartbeat/2
	if c.role == candidate || now.Before(c.actAfter) || c.role == follower && now.Sub(c.leaderHeard) >= quiet {
		return false
	}
	for _, t := range c.targets {
		if t.phase != well {
			return false
		}
	}
	for who, v := range c.det.members {
		if who != c.cfg.Self && (!v.known || v.ended || v.standsFor > 0 || now.Sub(v.silentSince) >= quiet) {
			return false
		}
	}
	return true
}
