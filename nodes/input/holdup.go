package input

import (
	"slices"
	"time"

	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol/session"
)

// waiting is since when joiners have said, without a break, that a session's facts wait for the end of its reference data (R11), and when one
// said so last; both as awake. Zero: no joiner has.
type waiting struct{ since, last time.Duration }

// waitBreak is how long no joiner needs to say it before the session waits no more. Joiners say it with each heartbeat.
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

// holdsUp reports whether a session keeps others waiting by its client's fault. Facts that wait at a joiner for the end of their reference data
// hold up all that comes behind them. They do so for a moment in any session. But a client that has ended a reference stream at another input,
// and has sent facts there, owes the end here. If it only pings instead, it lives and makes no progress, and that is what counts while others
// wait. A client that is slow, or one that this node keeps waiting, never gets here: it sends no facts before it was told of every end.
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
