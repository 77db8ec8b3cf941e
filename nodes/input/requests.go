package input

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"posta.dev/posta/analyses"
	"posta.dev/posta/nodes/gateway"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
)

// Request implements role.Gateway.
func (in *Input) Request(now time.Time, r *role.Request) bool {
	in.advanceClock(now)
	from := r.From
	req, err := r.Decode()
	if err != nil {
		in.Reply(from, protocol.Refuse(protocol.ErrBadRequest, err.Error()))
		return true
	}
	switch req.Type {
	case protocol.Results:
		return false // an output of the same node may know
	case protocol.Open:
		in.open(from, req)
	case protocol.Sessions:
		in.Reply(from, protocol.Reply{Type: protocol.Listed, Node: in.About.Node, Sessions: in.list()})
	case protocol.Info:
		in.Reply(from, in.About.Info())
	case protocol.Hold:
		in.closeForOpens(from, req)
	case protocol.Close:
		in.close(from, req)
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

// ofSession handles what needs a session that is open. held says that the request waits, and that its memory is still needed.
func (in *Input) ofSession(r *role.Request, req *protocol.Request) (held bool) {
	from := r.From
	u := in.uploads[req.Session]
	if u == nil {
		in.notOpen(from, req)
		return false
	}
	switch hash := req.Token.Hash(); {
	case hash == u.Opener:
		u.lastHeard = in.now
	case hash != session.TokenHash{}:
		in.ReplyStored(from, gateway.InUse(u.ID))
		return false
	}
	switch req.Type {
	case protocol.Chunk:
		return in.chunk(r, u, req)
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

// notOpen answers for a session that is over, or was never opened here. What a client repeats because it missed the
// answer gets an answer that it can live with.
func (in *Input) notOpen(from role.Peer, req *protocol.Request) {
	why, known := in.Tombstones.Get(req.Session)
	switch {
	case !known && claims(req):
		in.lost(req.Session, "the session")
		in.Reply(from, in.About.Unknown(req.Session))
	case !known:
		in.Reply(from, in.About.Unknown(req.Session))
	case !mayAct(req.Token.Hash(), why.Opener):
		in.ReplyStored(from, why.Refusal(req.Session))
	case req.Type == protocol.Cancel:
		in.ReplyStored(from, protocol.Reply{Type: protocol.OK})
	case why.Failed():
		in.ReplyStored(from, why.Outcome.Refusal())
	case req.Type == protocol.Ping:
		in.ReplyStored(from, protocol.Reply{Type: protocol.OK, State: session.Done})
	default: // a chunk or an end that was accepted before the session came to its end
		in.ReplyStored(from, protocol.Reply{Type: protocol.OK, Lane: req.Lane, Seq: req.Seq})
	}
}

func (in *Input) newUpload(id session.ID, payload []byte) (*upload, error) {
	s, err := role.ReadAnnouncement(id, payload, in.About.Known, analyses.Replica{})
	if err != nil {
		return nil, err
	}
	return &upload{
		Session: s, payload: slices.Clone(payload), lanes: map[uint32]taken{}, ended: make([]bool, len(s.Analysis.Streams)),
		lastHeard: in.now, lastProgress: in.now, opened: in.now,
	}, nil
}

func (in *Input) open(from role.Peer, req *protocol.Request) {
	opener := req.Token.Hash()
	payload := role.Announcement{Analysis: req.Analysis, Params: req.Params, Wiring: in.About.Wiring, Opener: opener, Epoch: 1}.Encode()
	if u := in.uploads[req.Session]; u != nil {
		in.openAgain(from, u, opener, payload)
		return
	}
	gone, known := in.Tombstones.Get(req.Session)
	if known && gone.Opener != opener {
		in.ReplyStored(from, gone.Refusal(req.Session))
		return
	}
	a, err := in.About.Known.Find(req.Analysis)
	if err != nil {
		in.Reply(from, protocol.Refuse(protocol.ErrUnknownAnalysis, err.Error()))
		return
	}
	if _, err := a.Args(req.Params); err != nil {
		in.Reply(from, protocol.Refuse(protocol.ErrBadParam, err.Error()))
		return
	}
	if known {
		in.ReplyStored(from, in.openedBefore(a, gone.Outcome))
		return
	}
	if in.now.Before(in.closed) {
		r := refusef(protocol.ErrBusy, "node %s opens no session while the cluster is being changed: try again later", in.About.Node)
		r.Err.RetryAfter = in.About.Limits.RetryAfter
		in.Reply(from, r)
		return
	}
	if !in.Host.Confirmed() {
		r := refusef(protocol.ErrBusy, "node %s has just started, and waits to hear from the nodes behind it: try again", in.About.Node)
		r.Err.RetryAfter = min(in.About.Limits.RetryAfter, confirmSoon)
		in.Reply(from, r)
		return
	}
	if len(in.uploads) >= in.About.Limits.Sessions {
		in.Reply(from, in.busy())
		return
	}
	in.start(from, req.Session, payload)
}

// openAgain answers for a session that runs. Only its opener hears what was taken (R17).
func (in *Input) openAgain(from role.Peer, u *upload, opener session.TokenHash, payload []byte) {
	if u.Opener != opener {
		in.ReplyStored(from, gateway.InUse(u.ID))
		return
	}
	u.lastHeard = in.now
	if !slices.Equal(u.payload, payload) {
		in.Reply(from, refusef(protocol.ErrBadRequest, "session %s is open for analysis %s with other parameters: choose another session id",
			u.ID, u.Analysis.Name))
		return
	}
	in.ReplyStored(from, in.opened(u))
}

// close drops what is kept of a session, for its opener or by the command of a person.
func (in *Input) close(from role.Peer, req *protocol.Request) {
	by := req.Token.Hash()
	if u := in.uploads[req.Session]; u != nil && !mayAct(by, u.Opener) {
		in.ReplyStored(from, gateway.InUse(u.ID))
		return
	}
	in.Host.Forget(req.Session, by)
	in.ReplyStored(from, protocol.Reply{Type: protocol.OK})
}

// confirmSoon is how soon a client asks an input again that has just started: it waits for one message of each receiver.
const confirmSoon = 100 * time.Millisecond

// closeForOpens opens no session for a while, and lists those that run. It is a lease, and a restart forgets it. Whoever changes the cluster
// renews the lease again and again; when it stops doing so the cluster goes on by itself.
func (in *Input) closeForOpens(from role.Peer, req *protocol.Request) {
	in.closed = in.now.Add(req.Lease)
	in.Reply(from, protocol.Reply{Type: protocol.Listed, Node: in.About.Node, Sessions: in.list()})
}

func (in *Input) busy() protocol.Reply {
	r := refusef(protocol.ErrBusy, "node %s runs %d sessions, as many as limits.sessions allows: try again later",
		in.About.Node, len(in.uploads))
	r.Err.RetryAfter = in.About.Limits.RetryAfter
	return r
}

func (in *Input) start(from role.Peer, id session.ID, payload []byte) {
	u, err := in.newUpload(id, payload)
	if err != nil {
		in.Reply(from, protocol.Refuse(protocol.ErrBadRequest, err.Error()))
		return
	}
	in.uploads[id] = u
	in.Host.Record(encodeOpen(id, payload))
	if err := in.Host.Open(u.Session, payload); err != nil {
		in.ReplyStored(from, protocol.Refuse(protocol.ErrFailed, err.Error()))
		return
	}
	in.ReplyStored(from, in.opened(u))
}

func (in *Input) opened(u *upload) protocol.Reply {
	r := in.describe(u.Analysis)
	r.State = session.Running
	for _, lane := range slices.Sorted(maps.Keys(u.lanes)) {
		r.Lanes = append(r.Lanes, protocol.LaneSeq{Lane: lane, Seq: u.lanes[lane].seq})
	}
	for i, e := range u.ended {
		if e {
			r.Ended = append(r.Ended, u.Analysis.Streams[i].Name)
		}
	}
	return r
}

// openedBefore answers for a session that is over: everything has ended.
func (in *Input) openedBefore(a *analyses.Analysis, why gateway.Outcome) protocol.Reply {
	if why.Failed() {
		return why.Refusal()
	}
	r := in.describe(a)
	r.State = session.Done
	for _, s := range a.Streams {
		r.Ended = append(r.Ended, s.Name)
	}
	return r
}

func (in *Input) describe(a *analyses.Analysis) protocol.Reply {
	return protocol.Reply{
		Type: protocol.Opened, Inputs: in.About.Inputs, Outputs: in.About.Outputs, Chunk: int(in.About.Limits.Chunk), Frame: int(in.About.Limits.Frame),
		ClientTimeout: in.About.Limits.ClientTimeout, Streams: gateway.Streams(a), Queries: gateway.Queries(a),
	}
}

func (in *Input) list() (all []protocol.SessionInfo) {
	for _, u := range role.ByID(in.uploads) {
		all = append(all, protocol.SessionInfo{
			Session: u.ID, Analysis: u.Analysis.Name, State: session.Running, Node: in.About.Node,
			Age: max(0, in.now.Sub(u.opened)), Bytes: u.bytes,
		})
	}
	return all
}
