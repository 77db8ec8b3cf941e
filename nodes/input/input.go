// Package input is the role that clients send their data to. It opens sessions, accepts chunks of CSV and acknowledges them when they are
// durable. It keeps every session's place until an output says that the session has ended.
//
// A session spans all inputs of a cluster: each of them opens it, takes some of its lanes, and ends its streams. So the following stages
// know from the topology how many ends to expect (R12).
//
// The core records what the pipeline makes of a chunk, as frames. The input itself records only which chunk it was: session, lane, number.
// Both are in one commit, so a chunk counts once however often a client repeats it.
package input

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"posta.dev/posta/internal/awake"
	"posta.dev/posta/link"
	"posta.dev/posta/nodes/gateway"
	"posta.dev/posta/nodes/input/coverage"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/security"
	"posta.dev/posta/topology"
)

// Input implements role.Gateway, role.HeartbeatListener and role.ChunkDecoder.
type Input struct {
	gateway.Base
	uploads  map[session.ID]*upload
	logs     map[link.NodeID][]link.LogID // log ids of each other input: the last few that were heard, the present one last (R8)
	held     []role.Request               // requests that wait, in the order they came: chunks for room, reads for the end of their file
	nextRead role.ReadID                  // the id given to the last read
	queue    map[string]queued            // owners that wait for a place; see noPlace
	closed   time.Time                    // until then no session is opened; see closeForOpens
	pruned   bool                         // forgetFormerInputs has run since the start
	now      time.Time
	damaged  map[link.NodeID]damage        // nodes that have reported a damaged log
	full     map[link.NodeID]time.Duration // nodes that have reported a full disk, with the value of awake at the last report
	ticks    awake.Ticks
	awake    time.Duration // how long this process has listened to clients since its start, without the time it was itself asleep (M6)
}

var (
	_ role.Gateway           = (*Input)(nil)
	_ role.HeartbeatListener = (*Input)(nil)
	_ role.ChunkDecoder      = (*Input)(nil)
)

// upload is the input's state of a session, until the session is over.
type upload struct {
	role.Session
	payload      []byte // its announcement
	lanes        map[uint32]taken
	reads        map[uint32]*reading // by lane: files that are read in place
	ended        []bool              // streams
	covered      coverage.Set        // what was taken of each file
	lastHeard    time.Time           // when the client was last heard
	heardAwake   time.Duration       // the value of awake at lastHeard
	lastProgress time.Time           // when the client's last new chunk, piece of a file or end was taken
	waiting      waiting
	progress     progress
	opened       time.Time
	bytes        uint64
	chunks       uint64
}

// taken is the last chunk or read that was taken on a lane: its number, and a checksum of its content.
type taken struct {
	seq      uint64
	sum      uint32
	declined string // why the file of a read is not read here; empty if it is read, and for a chunk
}

// New returns the role.
func New(about gateway.About) *Input {
	return &Input{Base: gateway.NewBase(topology.Input, about), uploads: map[session.ID]*upload{}, queue: map[string]queued{},
		logs: map[link.NodeID][]link.LogID{}, full: map[link.NodeID]time.Duration{}, damaged: map[link.NodeID]damage{},
		ticks: awake.NewTicks(punctual, time.Time{})}
}

// Take implements role.Role. No stage comes before an input.
func (in *Input) Take(session.ID, role.Message, role.Emitter) (bool, error) {
	return false, fmt.Errorf("an input takes chunks from clients, not from nodes: see the topology")
}

// Drop implements role.Role. If all streams have passed, the upload keeps its place. If the session has failed, it is over.
func (in *Input) Drop(id session.ID, why role.Outcome) {
	if why.Failed {
		in.over(id, gateway.OutcomeOf(why), why.Owner)
	}
}

// over notes that a session is over. owner is the owner of a session that was never open here.
func (in *Input) over(id session.ID, why gateway.Outcome, owner string) {
	gone := gateway.Tombstone{Outcome: why, Holder: gateway.Holder{Owner: owner}}
	if u := in.uploads[id]; u != nil {
		gone.Holder = u.holder()
		delete(in.uploads, id)
	}
	in.Tombstones.Put(id, gone)
}

func (u *upload) holder() gateway.Holder {
	return gateway.Holder{Owner: u.Owner, Openers: u.Openers}
}

// upload returns a session that is open here. It returns nil if the session is not open here, or if the client that asks may not know of it
// (S5).
func (in *Input) upload(by security.Identity, req *protocol.Request) *upload {
	if u := in.uploads[req.Session]; u != nil {
		if h := u.holder(); h.Shows(by, req.Type) {
			return u
		}
	}
	return nil
}

// Running implements role.Gateway: the sessions that hold a place among limits.sessions.
func (in *Input) Running() int { return len(in.uploads) }

// Heartbeat implements role.HeartbeatListener. Outputs report which sessions have ended. An input that appears with another log has lost
// its data, including what it had taken of the running sessions (R8). If another node loses its disk, the nodes that sent to it notice, and
// they know exactly what is missing. But only clients send to an input. If an input loses chunks that it has accepted and not sent on, no
// node notices that they are missing, and a client that has sent everything would wait for an answer that never comes. So all sessions fail
// that are open when the new log is first heard.
func (in *Input) Heartbeat(_ time.Time, h role.Heard) {
	if in.hearDamage(h); h.Damaged != "" {
		return
	}
	in.hearDisk(h)
	in.hearWaiting(h.Waiting)
	in.hearEnded(h.From, h.Ended)
	// A late heartbeat may name a log that another one has replaced since. Log ids have no order, but each is new only once.
	if known := in.logs[h.From]; h.From != link.NodeID(in.About.Node) && slices.Contains(in.About.InputNodes, h.From) &&
		!slices.Contains(known, h.ID.LogID) {
		in.recordLog(h.From, h.ID.LogID)
		if len(known) > 0 {
			in.abortAll(fmt.Sprintf("node %s lost its data while the session ran: start the session again", h.From))
		}
	}
}

// Awaits implements role.HeartbeatListener.
func (in *Input) Awaits() []session.ID {
	ids := make([]session.ID, 0, len(in.uploads))
	for _, u := range role.ByID(in.uploads) {
		ids = append(ids, u.ID)
	}
	return ids
}

func (in *Input) hearEnded(from link.NodeID, ended []role.Ended) {
	for _, e := range ended {
		if in.uploads[e.ID] == nil {
			continue
		}
		switch u := in.uploads[e.ID]; {
		case e.Opener != session.TokenHash{} && e.Opener != u.Openers.Founder() && e.Failed:
			// Another session of the id has failed. If this session is refused because of that one, the refusal is reported by itself.
		case e.Opener == session.TokenHash{} && e.Owner != "" && e.Owner != u.Owner:
			// Another client has claimed that it lost a session of the id (S5).
		case e.Opener != session.TokenHash{} && e.Opener != u.Openers.Founder():
			in.Host.Abort(e.ID, role.Outcome{Reason: fmt.Sprintf(
				"node %s keeps the answer of another session with the id %s: choose another session id", from, e.ID)})
		case e.Failed:
			in.Host.Abort(e.ID, role.Outcome{Code: e.Code, Reason: e.Reason, Fields: e.Fields})
		case u.uploading():
			// A client has given the session up: it has closed the answer before the answer was complete.
			in.Host.Abort(e.ID, gateway.Cancelled(e.ID).ForRole())
		default:
			in.Host.Record(encodeOver(e.ID, gateway.Outcome{}))
			in.over(e.ID, gateway.Outcome{}, "")
		}
	}
}

// forgetFormerInputs forgets, once after a start, the logs of nodes that are not inputs of the topology. An input that leaves the topology
// and comes back later may have another log, and has lost nothing that a session needs. (Old snapshots contain the logs of all nodes.)
func (in *Input) forgetFormerInputs() {
	if in.pruned || in.About.InputNodes == nil {
		return
	}
	in.pruned = true
	for _, n := range slices.Sorted(maps.Keys(in.logs)) {
		if !slices.Contains(in.About.InputNodes, n) {
			in.recordLog(n, link.LogID{})
		}
	}
}

func (in *Input) recordLog(from link.NodeID, l link.LogID) {
	in.noteLog(from, l)
	in.Host.Record(encodeLog(from, l))
}

// noteLog adds a log to those of a node; the zero log forgets the node.
func (in *Input) noteLog(from link.NodeID, l link.LogID) {
	if l == (link.LogID{}) {
		delete(in.logs, from)
		return
	}
	known := append(in.logs[from], l)
	in.logs[from] = known[max(0, len(known)-maxLogs):]
}

// maxLogs is how many logs of an input are remembered, so that late heartbeats of lost ones are recognized.
const maxLogs = 8

func (in *Input) abortAll(reason string) {
	for _, u := range role.ByID(in.uploads) {
		in.Host.Abort(u.ID, role.Outcome{Reason: reason})
	}
}

// Tick implements role.Gateway.
func (in *Input) Tick(now time.Time) {
	in.advanceClock(now)
	in.forgetFormerInputs()
	in.retryHeld()
	silent := false
	for _, u := range in.uploads {
		// After a restart these times count from the first tick. Each is set by itself, because a ping may have come before that tick.
		if u.lastHeard.IsZero() {
			u.lastHeard = now
		}
		if u.lastProgress.IsZero() {
			u.lastProgress = now
		}
		if u.opened.IsZero() {
			u.opened = now
		}
		silent = silent || in.expired(u).Failed()
	}
	if silent { // rare, so expire may be slow; a tick comes with every event
		in.expire()
	}
}

// expired returns why a session is given up; the outcome is empty if it is not. A client that uploads may be silent for
// limits.client_timeout. A session without progress may keep its place for limits.results_ttl. Two kinds of clients make that bound
// necessary. A client that only pings keeps other sessions' facts waiting for its reference rows (R11). A client that ends its streams here
// and never opens the session at another input will never get an answer.
func (in *Input) expired(u *upload) gateway.Outcome {
	l := in.About.Limits
	switch {
	case u.uploading() && in.now.Sub(u.lastHeard) >= l.ClientTimeout:
		return gateway.Outcome{Code: protocol.ErrExpired, Reason: fmt.Sprintf(
			"session %s was given up: its client said nothing for %s (limits.client_timeout)", u.ID, l.ClientTimeout)}
	case in.holdsUp(u):
		return gateway.Outcome{Code: protocol.ErrExpired, Reason: fmt.Sprintf(
			"session %s was given up: for %s (limits.client_timeout) its client ended no reference stream at node %s and sent it nothing, while "+
				"its facts, which it began at another input, held up other sessions; a client ends a stream at every input before it begins the next",
			u.ID, l.ClientTimeout, in.About.Node)}
	case in.now.Sub(u.lastProgress) >= l.ResultsTTL:
		return gateway.Outcome{Code: protocol.ErrExpired, Reason: fmt.Sprintf(
			"session %s was given up: it made no progress for %s (limits.results_ttl)", u.ID, l.ResultsTTL)}
	}
	return gateway.Outcome{}
}

func (in *Input) expire() {
	for _, u := range role.ByID(in.uploads) {
		if why := in.expired(u); why.Failed() {
			in.Host.Abort(u.ID, why.ForRole())
		}
	}
}

// hear notes that a message of the client with the session's token has come.
func (in *Input) hear(u *upload) { u.lastHeard, u.heardAwake = in.now, in.awake }

// advanceClock moves the role's clock. A node that was itself asleep has heard nobody, so its clients were not silent for that time (as M6
// for medics).
func (in *Input) advanceClock(now time.Time) {
	ran, _ := in.ticks.Tick(now)
	in.awake += ran
	if gap := now.Sub(in.now); !in.now.IsZero() && gap > in.About.Limits.ClientTimeout/4 {
		for _, u := range in.uploads {
			u.lastHeard, u.lastProgress = u.lastHeard.Add(gap), u.lastProgress.Add(gap)
		}
	}
	in.now = now
}

// punctual bounds the time between two ticks that counts as time in which clients could be heard. Ticks come every 100 ms; after a longer
// gap the node counts as having been asleep.
const punctual = 500 * time.Millisecond

func (u *upload) uploading() bool { return slices.Contains(u.ended, false) }

// referenceEnded reports whether all reference streams have ended, so that facts may come.
func (u *upload) referenceEnded() bool {
	for i, e := range u.ended {
		if !e && u.Analysis.Streams[i].Reference {
			return false
		}
	}
	return true
}

// Forget implements role.Gateway. A client that closes a running session gives it up. A session that is over counts as closed from now on.
func (in *Input) Forget(id session.ID, by role.Asker) {
	if u := in.uploads[id]; u != nil {
		if h := u.holder(); h.LetsAct(by, protocol.Close) {
			why := gateway.Closed(id)
			if u.uploading() {
				why = gateway.Cancelled(id)
			}
			in.Host.Abort(id, why.ForRole())
		}
		return
	}
	if gone, known := in.Tombstones.Get(id); known && !gone.Failed() && gone.LetsAct(by, protocol.Close) {
		in.Host.Record(encodeOver(id, gateway.Closed(id)))
		in.over(id, gateway.Closed(id), "")
	}
}
