// Package input is the clients' way in: it opens sessions, accepts chunks of CSV and acknowledges them when they are
// durable, and holds every session's place until an output says that it has ended.
//
// A session spans all inputs of a cluster: each of them opens it, takes some of its lanes, and ends its streams, so that the
// stages behind them know from the topology how many ends to expect (R12).
//
// What a chunk becomes is recorded by the core as frames. The input itself records only which chunk it was: session, lane,
// number. Both are in one commit, so a chunk counts once however often a client repeats it.
package input

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"time"

	"posta.dev/posta/analyses"
	"posta.dev/posta/link"
	"posta.dev/posta/nodes/gateway"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
)

// Input implements role.Gateway and role.HeartbeatListener.
type Input struct {
	about   gateway.About
	host    role.Host
	uploads map[session.ID]*upload
	gone    gateway.Gone
	logs    map[link.NodeID][]link.LogID // of other inputs: the last few that were heard, the present one last (R8)
	held    []heldChunk
	closed  time.Time // until then no session is opened: see keepOut
	pruned  bool
	now     time.Time
}

// upload is a session as the input sees it, until it is over.
type upload struct {
	id       session.ID
	analysis *analyses.Analysis
	payload  []byte // its announcement
	lanes    map[uint32]uint64
	ended    []bool    // streams
	heard    time.Time // the client's last word
	worked   time.Time // its last chunk or end that was new
	opened   time.Time
	bytes    uint64
	chunks   uint64
}

// heldChunk is a chunk that waits for room: back-pressure reaches the client as a delayed reply (R9).
type heldChunk struct {
	peer role.Peer
	req  protocol.Request
	body []byte // what req is a view into
}

// New returns the role.
func New(about gateway.About) *Input {
	return &Input{about: about, uploads: map[session.ID]*upload{}, logs: map[link.NodeID][]link.LogID{}}
}

// Name says what people call it.
func (in *Input) Name() string { return "input" }

// Attach implements role.Gateway.
func (in *Input) Attach(h role.Host) { in.host = h }

// Open implements role.Role: nothing; uploads begin in Request.
func (in *Input) Open(role.Session) error { return nil }

// Take implements role.Role. Nothing stands in front of an input.
func (in *Input) Take(session.ID, role.Message, role.Emitter) (bool, error) {
	return false, fmt.Errorf("an input takes chunks from clients, not from nodes: see the topology")
}

// Flush implements role.Role.
func (in *Input) Flush(session.ID, role.Emitter) error { return nil }

// End implements role.Role.
func (in *Input) End(session.ID, int, role.Emitter) (bool, error) { return false, nil }

// More implements role.Role.
func (in *Input) More(session.ID, role.Emitter) (bool, error) { return false, nil }

// Drop implements role.Role: when all streams have passed an upload goes on to hold its place; when it failed it is over.
func (in *Input) Drop(id session.ID, why role.Outcome) {
	if why.Failed {
		in.over(id, gateway.Parse(why.Reason))
	}
}

func (in *Input) over(id session.ID, why gateway.Why) {
	delete(in.uploads, id)
	in.gone.Put(id, why)
}

// Snapshot implements role.Role; everything is in SnapshotAll.
func (in *Input) Snapshot(_ session.ID, dst []byte) []byte { return dst }

// Restore implements role.Role.
func (in *Input) Restore(session.ID, []byte) error { return nil }

// Running implements role.Gateway: the sessions that hold a place among limits.sessions.
func (in *Input) Running() int { return len(in.uploads) }

// Heartbeat implements role.HeartbeatListener: outputs tell which sessions have ended; an input that comes with another log has lost its
// data, and with it what it had taken of the sessions that run (R8). The other nodes' lost disks are noticed exactly by those who
// sent to them. But before an input there are only clients, and one that has sent everything would wait for an answer that never
// comes: for what was accepted there and had not left yet nobody else speaks up. So all fail that were open when the new log was
// heard first.
func (in *Input) Heartbeat(_ time.Time, from link.NodeID, id link.Identity, ended []role.Ended) {
	for _, e := range ended {
		if in.uploads[e.ID] == nil {
			continue
		}
		switch u := in.uploads[e.ID]; {
		case e.Failed:
			in.host.Abort(e.ID, e.Reason)
		case u.uploading():
			// Its answer was closed before it could be complete: by a client that gives it up.
			in.host.Abort(e.ID, gateway.Cancelled(e.ID).Text())
		default:
			in.host.Record(encodeOver(e.ID, gateway.Why{}))
			in.over(e.ID, gateway.Why{})
		}
	}
	// A late word of a log that was followed by another says nothing new; logs have no order, but each is new only once.
	if known := in.logs[from]; slices.Contains(in.about.InputNodes, from) && !slices.Contains(known, id.LogID) {
		in.remember(from, id.LogID)
		if len(known) > 0 {
			in.abortAll(fmt.Sprintf("node %s lost its data while the session ran: start the session again", from))
		}
	}
}

// forgetGone forgets the logs of nodes that are no inputs, or not any more, once after a start: who leaves the topology and comes
// back later comes with another log, and has lost nothing that a session needs. (A log from before only inputs counted knows all nodes.)
func (in *Input) forgetGone() {
	if in.pruned || in.about.InputNodes == nil {
		return
	}
	in.pruned = true
	for _, n := range slices.Sorted(maps.Keys(in.logs)) {
		if !slices.Contains(in.about.InputNodes, n) {
			in.remember(n, link.LogID{})
		}
	}
}

func (in *Input) remember(from link.NodeID, l link.LogID) {
	in.note(from, l)
	in.host.Record(encodeLog(from, l))
}

// note adds a log to those of a node; the zero log forgets the node.
func (in *Input) note(from link.NodeID, l link.LogID) {
	if l == (link.LogID{}) {
		delete(in.logs, from)
		return
	}
	known := append(in.logs[from], l)
	in.logs[from] = known[max(0, len(known)-maxLogs):]
}

// maxLogs is of how many lost disks a late word is known for what it is.
const maxLogs = 8

func (in *Input) abortAll(reason string) {
	for _, u := range in.inOrder() {
		in.host.Abort(u.id, reason)
	}
}

// Tick implements role.Gateway.
func (in *Input) Tick(now time.Time) {
	in.passed(now)
	in.forgetGone()
	in.retryHeld()
	silent := false
	for _, u := range in.uploads {
		// After a restart both count from here. Each by itself: a ping may have come before the first tick.
		if u.heard.IsZero() {
			u.heard = now
		}
		if u.worked.IsZero() {
			u.worked = now
		}
		silent = silent || in.lost(u) != (gateway.Why{})
	}
	if silent { // seldom: a tick comes with every event
		in.giveUp()
	}
}

// lost says why a session is given up, nothing if it is not. A client may be silent for limits.client_timeout while it
// uploads. And for limits.results_ttl a session may hold its place without getting on: a client that only pings keeps
// other sessions' facts waiting for its reference rows (R11), and one that ended its streams here and never opened the
// session at another input will never be answered.
func (in *Input) lost(u *upload) gateway.Why {
	l := in.about.Limits
	switch {
	case u.uploading() && in.now.Sub(u.heard) >= l.ClientTimeout:
		return gateway.Why{Code: protocol.ErrExpired, Reason: fmt.Sprintf(
			"session %s was given up: its client said nothing for %s (limits.client_timeout)", u.id, l.ClientTimeout)}
	case in.now.Sub(u.worked) >= l.ResultsTTL:
		return gateway.Why{Code: protocol.ErrExpired, Reason: fmt.Sprintf(
			"session %s was given up: it did not get on for %s (limits.results_ttl)", u.id, l.ResultsTTL)}
	}
	return gateway.Why{}
}

func (in *Input) giveUp() {
	for _, u := range in.inOrder() {
		if why := in.lost(u); why != (gateway.Why{}) {
			in.host.Abort(u.id, why.Text())
		}
	}
}

// passed takes note of the time. A node that was itself asleep has heard nobody: what it missed is no client's silence (as M6
// for medics).
func (in *Input) passed(now time.Time) {
	if gap := now.Sub(in.now); !in.now.IsZero() && gap > in.about.Limits.ClientTimeout/4 {
		for _, u := range in.uploads {
			u.heard, u.worked = u.heard.Add(gap), u.worked.Add(gap)
		}
	}
	in.now = now
}

// inOrder returns the uploads in an order that does not depend on the map, so that the same input makes the same output.
func (in *Input) inOrder() []*upload {
	all := slices.Collect(maps.Values(in.uploads))
	slices.SortFunc(all, func(a, b *upload) int { return bytes.Compare(a.id[:], b.id[:]) })
	return all
}

func (u *upload) uploading() bool {
	for _, e := range u.ended {
		if !e {
			return true
		}
	}
	return false
}

// referenceEnded reports whether facts may come.
func (u *upload) referenceEnded() bool {
	for i, e := range u.ended {
		if !e && u.analysis.Streams[i].Reference {
			return false
		}
	}
	return true
}

// Forget implements role.Gateway: a client that closes a session that still runs gives it up.
func (in *Input) Forget(id session.ID) {
	if in.uploads[id] != nil {
		in.host.Abort(id, gateway.Cancelled(id).Text())
	}
}
