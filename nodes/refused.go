package nodes

import "time"

// reportEvery is how often at most a node logs that it heard something that cannot be: a stranger must not fill the log.
const reportEvery = time.Minute

// reportRefused logs what the core has heard and not believed (M10).
func (x *node) reportRefused(now time.Time) {
	what := x.core.Refused()
	if what == "" || !x.reportedAt.IsZero() && now.Sub(x.reportedAt) < reportEvery {
		return
	}
	x.reportedAt = now
	x.cfg.Log.Warn("something was heard and is not believed", "what", what, "so far", x.core.Counters.Refused)
}
