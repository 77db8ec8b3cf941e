package input

import (
	"errors"
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
	"posta.dev/posta/security"
)

// Request implements role.Gateway.
func (in *Input) Request(now time.Time, r *role.Request) bool {
	in.advanceClock(now)
	from := r.From
	req, err := r.Decode()
	if err != nil {
		in.Reply(from, protocol.RefuseFor(protocol.ErrBadRequest, err))
		return true
	}
	if !in.Permits(r, req.Type) {
		return true
	}
	switch req.Type {
	case protocol.Results:
		return false // an output of the same node may handle it
	case protocol.Open:
		in.open(r, req)
	case protocol.Sessions:
		in.Reply(from, protocol.Reply{Type: protocol.Listed, Node: in.About.Node, Sessions: in.list(r.Client)})
	case protocol.Info:
		in.Reply(from, in.About.Info())
	case protocol.Hold:
		in.closeForOpens(r, req)
	case protocol.Close:
		in.close(r, req)
	default:
		if !in.ofSession(r, req) {
			in.Host.Release(r.Body)
		}
	}
	return true
}

func refusef(code protocol.Code, format string, args ...any) protocol.Reply {
	return protocol.Refuse(code, fmt.Sprintf(format, args...))
}

// ofSession handles requests that need an open session. held says that the request waits, so its memory is still needed.
func (in *Input) ofSession(r *role.Request, req *protocol.Request) (held bool) {
	from := r.From
	u := in.upload(r.Client, req)
	if u == nil {
		in.notOpen(r, req)
		return false
	}
	switch h, by := u.holder(), r.Asker(); {
	case h.OpenedBy(by):
		in.hear(u)
	case by.Token != session.TokenHash{}:
		in.foreign(from, u, by.Token)
		return false
	}
	switch req.Type {
	case protocol.Chunk:
		return in.chunk(r, u, req)
	case protocol.Read:
		return in.read(r, u, req, true)
	case protocol.End:
		in.end(from, u, req)
	case protocol.Ping:
		in.ping(from, u, req)
	case protocol.Cancel:
		in.Host.Abort(u.ID, gateway.Cancelled(u.ID).ForRole())
		in.ReplyStored(from, protocol.Reply{Type: protocol.OK})
	default:
		in.Reply(from, in.About.WrongNode(req.Type))
	}
	return false
}

// notOpen answers a request for a session that is over, or was never opened here. A client may repeat a request only because it missed the
// reply, and then gets a reply with which it can continue.
func (in *Input) notOpen(r *role.Request, req *protocol.Request) {
	from := r.From
	why, known := in.gone(req.Session, r.Client.Name)
	why.Outcome = why.Tells(r.Client, why.Outcome)
	switch {
	case !known && in.uploads[req.Session] == nil && claims(req) && in.mayClaim(r.Client.Name):
		in.lost(req.Session, r.Client.Name, "the session")
		in.Reply(from, in.About.Unknown(req.Session))
	case !known || !why.Shows(r.Client, req.Type):
		in.Reply(from, in.About.Unknown(req.Session))
	case !why.LetsAct(r.Asker(), req.Type):
		in.ReplyStored(from, why.Refusal(req.Session))
	case req.Type == protocol.Cancel:
		in.ReplyStored(from, protocol.Reply{Type: protocol.OK})
	case why.Failed():
		in.ReplyStored(from, why.Outcome.Refusal())
	case req.Type == protocol.Ping:
		in.ReplyStored(from, protocol.Reply{Type: protocol.OK, State: session.Done})
	default: // a chunk, a read or an end that was accepted before the session came to its end
		in.ReplyStored(from, taken{}.answer(req))
	}
}

// gone returns what is remembered of a session that is over here. A claim of another client that it has lost a session with the id does not
// count (S5).
func (in *Input) gone(id session.ID, owner string) (gateway.Tombstone, bool) {
	gone, known := in.Tombstones.Get(id)
	return gone, known && !(gone.Claimed() && gone.Owner != owner)
}

func (in *Input) newUpload(id session.ID, payload []byte) (*upload, error) {
	s, err := role.ReadAnnouncement(id, payload, in.About.Known, analyses.Replica{})
	if err != nil {
		return nil, err
	}
	return &upload{
		Session: s, payload: slices.Clone(payload), lanes: map[uint32]taken{}, reads: map[uint32]*reading{},
		ended:     make([]bool, len(s.Analysis.Streams)),
		lastHeard: in.now, heardAwake: in.awake, lastProgress: in.now, opened: in.now,
	}, nil
}

func (in *Input) open(r *role.Request, req *protocol.Request) {
	from := r.From
	if in.first() {
		req.Openers = nil // the first input uses only its own list
	}
	switch u := in.uploads[req.Session]; {
	case u != nil && u.Owner != r.Client.Name:
		in.Reply(from, gateway.Taken(req.Session))
		return
	case u != nil:
		in.openAgain(r, u, req)
		return
	}
	a := in.announcement(r, req)
	gone, known := in.gone(req.Session, a.Owner)
	if known && gone.Openers.Now() == req.Token.Hash() {
		a.Openers = gone.Openers
	}
	if shown := gone.Shows(r.Client, req.Type); known && (!shown || len(gone.Openers) == 0 || !gone.Openers.Begin(a.Openers)) {
		switch {
		case !in.first() && len(gone.Openers) > 0 && gone.Openers.Founder() != a.Openers.Founder():
			// the first input has allowed the id again, so no other input may refuse it, or the session would be open at some of the inputs only
			known = false
		case !shown:
			in.Reply(from, gateway.Taken(req.Session))
			return
		default:
			in.ReplyStored(from, gone.Refusal(req.Session))
			return
		}
	}
	analysis, err := in.About.Known.Open(req.Analysis, req.Plan)
	switch {
	case errors.Is(err, analyses.ErrBadPlan):
		in.Reply(from, protocol.RefuseFor(protocol.ErrBadParam, err))
		return
	case err != nil:
		in.Reply(from, protocol.RefuseFor(protocol.ErrUnknownAnalysis, err))
		return
	}
	if _, err := analysis.Args(req.Params); err != nil {
		in.Reply(from, protocol.RefuseFor(protocol.ErrBadParam, err))
		return
	}
	switch {
	case known:
		in.takeOverEnded(req.Session, gone, a)
		in.ReplyStored(from, in.openedBefore(analysis, gone.Outcome, a.Openers))
	case a.Openers.Now() != req.Token.Hash(), req.Takeover && len(req.Openers) == 0 && !in.first():
		in.Reply(from, in.badOpeners(req))
	case in.now.Before(in.closed):
		in.Reply(from, in.busy(in.About.Limits.RetryAfter, "opens no session while the cluster is being changed: try again later"))
	case !in.Host.Confirmed():
		in.Reply(from, in.unconfirmed())
	case in.damagedLog() != "":
		in.Reply(from, protocol.Refuse(protocol.ErrFailed, "no session is begun: "+in.damagedLog()))
	case in.fullDisk() != "":
		in.Reply(from, in.busy(in.About.Limits.RetryAfter, "begins no session: %s", in.fullDisk()))
	default:
		if why := in.noPlace(a.Owner); why != "" {
			in.Reply(from, in.busy(in.About.Limits.RetryAfter, "%s: try again later", why))
			return
		}
		in.start(from, req.Session, a.Encode())
	}
}

// announcement returns the announcement that a client's open makes for a session that nobody has opened yet. If the client has taken the
// session over at another input, it brings the openers from there.
func (in *Input) announcement(r *role.Request, req *protocol.Request) role.Announcement {
	a := role.Announcement{Analysis: req.Analysis, Params: req.Params, Plan: slices.Clone(req.Plan), Trace: req.Trace,
		Wiring: in.About.Wiring, Openers: req.Openers, Owner: r.Client.Name}
	if len(req.Openers) == 0 {
		a.Openers = session.Openers{req.Token.Hash()}
	}
	return a
}

// first reports whether this is the input at which clients open sessions first. The first input decides whose session an id is: it alone
// refuses an id that was used before, and it alone decides on takeovers.
func (in *Input) first() bool {
	return len(in.About.InputNodes) == 0 || in.About.InputNodes[0] == link.NodeID(in.About.Node)
}

// openAgain answers an open for a session that runs. Only the opener is told what was taken (R17).
func (in *Input) openAgain(r *role.Request, u *upload, req *protocol.Request) {
	from, opener := r.From, req.Token.Hash()
	a := in.announcement(r, req)
	a.Openers, a.Trace, a.Wiring = u.Openers, u.Trace, u.Wiring // a session keeps the trace and the wiring that it began with
	same := slices.Equal(u.payload, a.Encode())
	switch {
	case opener == u.Openers.Now() && (len(req.Openers) == 0 || slices.Equal(req.Openers, u.Openers)):
		in.hear(u)
		if !same {
			in.Reply(from, in.otherParams(u))
			return
		}
		in.ReplyStored(from, in.opened(u))
	case !req.Takeover || u.Openers.Superseded(opener):
		in.foreign(from, u, opener)
	case !same:
		in.Reply(from, in.otherParams(u))
	default:
		in.takeOver(from, u, req, a)
	}
}

func (in *Input) otherParams(u *upload) protocol.Reply {
	return refusef(protocol.ErrBadRequest, "session %s is open for analysis %s with other parameters: choose another session id", u.ID,
		u.Analysis.Name)
}

// close drops what is kept of a session. The session's opener may ask for that, and so may its owner or an operator that shows no token.
func (in *Input) close(r *role.Request, req *protocol.Request) {
	by := r.Asker()
	if u := in.upload(r.Client, req); u != nil {
		if h := u.holder(); !h.LetsAct(by, req.Type) {
			in.foreign(r.From, u, by.Token)
			return
		}
	}
	in.Host.Forget(req.Session, by)
	in.ReplyStored(r.From, protocol.Reply{Type: protocol.OK})
}

// confirmSoon is after how long a client asks an input again that has just started. Such an input only waits for one message from each
// receiver.
const confirmSoon = 100 * time.Millisecond

// closeForOpens makes this input open no session for a while, and lists the sessions that run. It is a lease, which a restart forgets. A
// program that changes the cluster renews the lease repeatedly. If the program stops, the cluster soon opens sessions again.
func (in *Input) closeForOpens(r *role.Request, req *protocol.Request) {
	in.closed = in.now.Add(req.Lease)
	in.Reply(r.From, protocol.Reply{Type: protocol.Listed, Node: in.About.Node, Sessions: in.list(r.Client)})
}

func (in *Input) busy(retry time.Duration, why string, args ...any) protocol.Reply {
	r := refusef(protocol.ErrBusy, "node %s %s", in.About.Node, fmt.Sprintf(why, args...))
	r.Err.RetryAfter = retry
	return r
}

func (in *Input) unconfirmed() protocol.Reply {
	return in.busy(min(in.About.Limits.RetryAfter, confirmSoon), "has just started, and waits to hear from the nodes behind it: try again")
}

func (in *Input) start(from role.Peer, id session.ID, payload []byte) {
	u, err := in.newUpload(id, payload)
	if err != nil {
		in.Reply(from, protocol.RefuseFor(protocol.ErrBadRequest, err))
		return
	}
	gone, known := in.Tombstones.Get(id)
	claimed := known && gone.Claimed() && gone.Owner != u.Owner
	if !claimed {
		in.Tombstones.Delete(id)
	}
	in.uploads[id] = u
	err = in.Host.Open(u.Session, payload)
	why := gateway.Outcome{Code: protocol.ErrFailed}
	if err != nil {
		why.Reason, why.Fields = err.Error(), protocol.FieldsOf(err)
	}
	// the claim of another client about its own session of the id stays (S5)
	if begun := err == nil || in.uploads[id] != u; claimed && !begun {
		delete(in.uploads, id)
		in.Reply(from, why.Refusal())
		return
	}
	if err == nil {
		in.Tombstones.Delete(id)
	}
	in.Host.Record(encodeOpen(id, payload))
	if err != nil {
		in.Host.Record(encodeOver(id, why))
		in.over(id, why, "")
		in.ReplyStored(from, why.Refusal())
		return
	}
	in.ReplyStored(from, in.opened(u))
}

func (in *Input) opened(u *upload) protocol.Reply {
	r := in.describe(u.Analysis)
	r.State, r.Openers = session.Running, u.Openers
	for _, lane := range slices.Sorted(maps.Keys(u.lanes)) {
		if u.reads[lane] == nil {
			r.Lanes = append(r.Lanes, protocol.LaneSeq{Lane: lane, Seq: u.lanes[lane].seq})
		}
	}
	for _, lane := range slices.Sorted(maps.Keys(u.reads)) { // a file that is being read here counts as taken, so the client must not send it
		r.Lanes = append(r.Lanes, protocol.LaneSeq{Lane: lane, Seq: u.reads[lane].seq})
	}
	for i, e := range u.ended {
		if e {
			r.Ended = append(r.Ended, u.Analysis.Streams[i].Name)
		}
	}
	r.Ranges = u.covered.Ranges(func(stream int) string { return u.Analysis.Streams[stream].Name })
	return r
}

// openedBefore answers an open for a session that is over: all streams have ended.
func (in *Input) openedBefore(a *analyses.Analysis, why gateway.Outcome, openers session.Openers) protocol.Reply {
	if why.Failed() {
		return why.Refusal()
	}
	r := in.describe(a)
	r.State, r.Openers = session.Done, openers
	for _, s := range a.Streams {
		r.Ended = append(r.Ended, s.Name)
	}
	return r
}

func (in *Input) describe(a *analyses.Analysis) protocol.Reply {
	r := protocol.Reply{
		Type: protocol.Opened, Chunk: int(in.About.Limits.Chunk), Frame: int(in.About.Limits.Frame),
		ClientTimeout: in.About.Limits.ClientTimeout, Roots: in.About.Roots, ReadsColumns: len(in.About.Roots) > 0,
		Streams: gateway.Streams(a), Queries: gateway.Queries(a),
	}
	in.About.Endpoints(&r)
	return r
}

// list returns the sessions that a client may know of.
func (in *Input) list(to security.Identity) (all []protocol.SessionInfo) {
	for _, u := range role.ByID(in.uploads) {
		h := u.holder()
		if !h.Shows(to, protocol.Sessions) {
			continue
		}
		if u.opened.IsZero() { // asked before the first tick after a restart
			u.opened = in.now
		}
		line := protocol.SessionInfo{
			Session: u.ID, Analysis: u.Analysis.Name, Owner: u.Owner, State: session.Running, Node: in.About.Node,
			Age: max(0, in.now.Sub(u.opened)), Bytes: u.bytes, Asks: h.Asks(to, u.Analysis.Asks, u.Analysis.Outline),
		}
		u.progress.tell(in.now, &line)
		all = append(all, line)
	}
	return all
}
