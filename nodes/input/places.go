package input

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"posta.dev/posta/nodes/gateway"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol"
)

// Places among limits.sessions are given to owners fairly (R16):
//
//   - An owner that runs its limits.client_share of them, or more, gets a further place only while nobody else waits and another place
//     stays free. So a client alone uses what nobody wants, and the first session of another client never waits for it.
//   - A place that becomes free goes to the waiting owner that runs fewest sessions, not to the client that happens to ask first.
//   - If all places are taken, a session that makes no progress gives its place to an owner that runs fewer sessions. Otherwise clients
//     that open sessions and only ping could keep all others out for limits.results_ttl.
//
// Sessions that make progress keep their places: what they have done would be lost. All inputs decide in this way, and not only the first
// one, because a client can leave the first one out.

// queued notes that an owner waits for a place; both times are values of awake.
type queued struct {
	since, last time.Duration // of its first and its last request for the place
}

// noPlace returns why an owner gets no place for one more session now; empty if it gets one. It may give up a session that makes no
// progress.
func (in *Input) noPlace(owner string) (why string) {
	l, runs := in.About.Limits, role.Tally{}
	for _, u := range in.uploads {
		runs[u.Owner]++
	}
	maps.DeleteFunc(in.queue, func(_ string, q queued) bool { return in.awake-q.last > queueBreak*l.RetryAfter })
	if most := l.PartOf(int64(l.Sessions), owner); int64(runs[owner]) >= most && most < int64(l.Sessions) && in.wanted(owner) {
		return fmt.Sprintf("runs %d sessions of this client, as many as limits.client_share allows (%d %% of limits.sessions = %d) while "+
			"other clients may want the places that are free",
			runs[owner], l.ClientShare, l.Sessions)
	}
	if len(in.uploads) >= l.Sessions && !in.freePlace(owner, runs) {
		in.enqueue(owner)
		return fmt.Sprintf("runs %d sessions, as many as limits.sessions allows", len(in.uploads))
	}
	if before := in.before(owner, runs); len(in.uploads)+before >= l.Sessions {
		in.enqueue(owner)
		return "keeps its free places for clients that run fewer sessions, or wait longer"
	}
	delete(in.queue, owner)
	return ""
}

// wanted reports whether a place that an owner takes beyond its share would be missing to others: one of them waits, or it is the last
// place.
func (in *Input) wanted(owner string) bool {
	_, waits := in.queue[owner]
	return len(in.uploads)+1 >= in.About.Limits.Sessions || len(in.queue) > 1 || len(in.queue) == 1 && !waits
}

// queueBreak is after how many times limits.retry_after an owner that has not asked again no longer waits.
const queueBreak = 3

func (in *Input) enqueue(owner string) {
	q, waits := in.queue[owner]
	if !waits {
		q.since = in.awake
	}
	q.last = in.awake
	in.queue[owner] = q
}

// before returns how many owners wait that get a place earlier than this one.
func (in *Input) before(owner string, runs role.Tally) (n int) {
	own, waits := in.queue[owner]
	if !waits {
		own.since = in.awake + 1
	}
	for other, q := range in.queue {
		if other != owner && (runs[other] < runs[owner] || runs[other] == runs[owner] &&
			(q.since < own.since || q.since == own.since && other < owner)) {
			n++
		}
	}
	return n
}

// freePlace gives up the session of another owner that makes no progress. It takes the owner with most sessions, and of these the session
// that has stood still longest. The other owner must still run as many sessions afterwards as this one will, or two owners would take
// places from each other in turns. But an owner without a session gets one.
func (in *Input) freePlace(owner string, runs role.Tally) bool {
	idle := slices.DeleteFunc(role.ByID(in.uploads), func(u *upload) bool {
		return u.Owner == owner || runs[u.Owner] <= runs[owner]+min(runs[owner], 1) || !in.standsStill(u)
	})
	if len(idle) == 0 {
		return false
	}
	u := slices.MinFunc(idle, func(a, b *upload) int {
		return cmp.Or(cmp.Compare(runs[b.Owner], runs[a.Owner]), strings.Compare(a.Owner, b.Owner), a.lastProgress.Compare(b.lastProgress))
	})
	runs[u.Owner]--
	in.Host.Abort(u.ID, gateway.Outcome{Code: protocol.ErrExpired, Reason: fmt.Sprintf(
		"session %s was given up: its client sent nothing for %s (limits.client_timeout) while another client, which runs fewer sessions, "+
			"waited for a place (limits.sessions = %d)",
		u.ID, in.About.Limits.ClientTimeout, in.About.Limits.Sessions)}.ForRole())
	return true
}

// standsStill reports whether a session waits for its client, which only pings. A session whose chunks wait for room here waits for the
// cluster.
func (in *Input) standsStill(u *upload) bool {
	return u.uploading() && !u.lastProgress.IsZero() && in.now.Sub(u.lastProgress) >= in.About.Limits.ClientTimeout && !in.holds(u.ID)
}
