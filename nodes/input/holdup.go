package input

import (
	"slices"
	"time"

	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol/session"
)

// waiting notes that joiners report that a session's facts wait for the end of its reference data (R11): since is the start of the reports
// without a break, and last is the last report. Both are values of awake. Zero: no joiner has reported it.
type waiting struct{ since, last time.Duration }

// waitBreak is the time without a report after which the session no longer counts as waiting. Joiners report it with each heartbeat.
const waitBreak = 2 * time.Second

func (in *Input) hearWaiting(ids []session.ID) {
	for _, id := range ids {
		u := in.uploads[id]
		if u == nil {
			continue
		}
		if w := &u.waiting; w.last == 0 || in.awake-w.last > waitBreak {
			w.since = in.awake
		}
		u.waiting.last = max(1, in.awake)
	}
}

// holdsUp reports whether a session keeps others waiting through the fault of its client. Facts that wait at a joiner for the end of their
// reference data hold up everything behind them. In any session this happens for a moment. But a client that has ended a reference stream
// at another input, and has sent facts there, must end that stream here, too. If it only pings, it is alive but makes no progress, and the
// others wait. A client that is slow, or that this node keeps waiting, is not affected: it sends no facts before every input has
// acknowledged the end.
func (in *Input) holdsUp(u *upload) bool {
	w, limit := u.waiting, in.About.Limits.ClientTimeout
	return len(in.uploads) > 1 && w.last > 0 && in.awake-w.last <= waitBreak && in.awake-w.since >= limit &&
		!u.referenceEnded() && in.now.Sub(u.lastProgress) >= limit && !in.holds(u.ID)
}

// holds reports whether a chunk of a session waits here for room.
func (in *Input) holds(id session.ID) bool {
	return slices.ContainsFunc(in.held, func(r role.Request) bool {
		req, _ := r.Decode()
		return req.Session == id
	})
}
