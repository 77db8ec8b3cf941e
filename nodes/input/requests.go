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
func (in *Input) Request(now time.Time, from role.Peer, body []byte) bool {
	in.passed(now)
	req, err := protocol.DecodeRequest(body)
	if err != nil {
		in.reply(from, protocol.Refuse(protocol.ErrBadRequest, err.Error()))
		return true
	}
	switch req.Type {
	case protocol.Results:
		return false // an output of the same node may know
	case protocol.Open:
		in.open(from, &req)
	case protocol.Sessions:
		in.reply(from, protocol.Reply{Type: protocol.Listed, Node: in.about.Node, Sessions: in.list()})
	case protocol.Info:
		in.reply(from, in.about.Info())
	case protocol.Hold:
		in.keepOut(from, &req)
	case protocol.Close:
		in.host.Forget(req.Session)
		in.replyStored(from, protocol.Reply{Type: protocol.OK})
	default:
		if !in.ofSession(from, &req, body) {
			in.host.Release(body)
		}
	}
	return true
}

func (in *Input) reply(to role.Peer, r protocol.Reply)       { in.host.Reply(to, r.Append(nil)) }
func (in *Input) replyStored(to role.Peer, r protocol.Reply) { in.host.ReplyStored(to, r.Append(nil)) }

func refusef(code protocol.Code, format string, args ...any) protocol.Reply {
	return protocol.Refuse(code, fmt.Sprintf(format, args...))
}

// ofSession handles what needs a session that is open. held says that the request waits, and that its memory is still needed.
func (in *Input) ofSession(from role.Peer, req *protocol.Request, body []byte) (held bool) {
	u := in.uploads[req.Session]
	if u == nil {
		in.notOpen(from, req)
		return false
	}
	u.heard = in.now
	switch req.Type {
	case protocol.Chunk:
		return in.chunk(from, u, req, body)
	case protocol.End:
		in.end(from, u, req)
	case protocol.Ping:
		in.replyStored(from, protocol.Reply{Type: protocol.OK, State: session.Running})
	case protocol.Cancel:
		in.host.Abort(u.id, gateway.Cancelled(u.id).Text())
		in.replyStored(from, protocol.Reply{Type: protocol.OK})
	default:
		in.reply(from, in.about.WrongNode(req.Type))
	}
	return false
}

// notOpen answers for a session that is over, or was never opened here. What a client repeats because it missed the
// answer gets an answer that it can live with.
func (in *Input) notOpen(from role.Peer, req *protocol.Request) {
	why, known := in.gone.Get(req.Session)
	switch {
	case !known:
		in.reply(from, in.about.Unknown(req.Session))
	case req.Type == protocol.Cancel:
		in.replyStored(from, protocol.Reply{Type: protocol.OK})
	case why.Code != "":
		in.replyStored(from, why.Refusal())
	case req.Type == protocol.Ping:
		in.replyStored(from, protocol.Reply{Type: protocol.OK, State: session.Done})
	default: // a chunk or an end that was accepted before the session came to its end
		in.replyStored(from, protocol.Reply{Type: protocol.OK, Lane: req.Lane, Seq: req.Seq})
	}
}

func (in *Input) newUpload(id session.ID, payload []byte) (*upload, error) {
	s, err := role.ReadAnnouncement(id, payload, in.about.Known, analyses.Replica{})
	if err != nil {
		return nil, err
	}
	return &upload{
		id: id, analysis: s.Analysis, payload: slices.Clone(payload), lanes: map[uint32]uint64{},
		ended: make([]bool, len(s.Analysis.Streams)), heard: in.now, worked: in.now, opened: in.now,
	}, nil
}

func (in *Input) open(from role.Peer, req *protocol.Request) {
	payload := role.Announcement{Analysis: req.Analysis, Params: req.Params, Wiring: in.about.Wiring}.Encode()
	if u := in.uploads[req.Session]; u != nil {
		u.heard = in.now
		if !slices.Equal(u.payload, payload) {
			in.reply(from, refusef(protocol.ErrBadRequest, "session %s is open for analysis %s with other parameters: choose another session id",
				u.id, u.analysis.Name))
			return
		}
		in.replyStored(from, in.opened(u))
		return
	}
	a, err := in.about.Known.Find(req.Analysis)
	if err != nil {
		in.reply(from, protocol.Refuse(protocol.ErrUnknownAnalysis, err.Error()))
		return
	}
	if _, err := a.Args(req.Params); err != nil {
		in.reply(from, protocol.Refuse(protocol.ErrBadParam, err.Error()))
		return
	}
	if why, known := in.gone.Get(req.Session); known {
		in.replyStored(from, in.openedBefore(a, why))
		return
	}
	if in.now.Before(in.closed) {
		r := refusef(protocol.ErrBusy, "node %s opens no session while the cluster is being changed: try again later", in.about.Node)
		r.Err.RetryAfter = in.about.Limits.RetryAfter
		in.reply(from, r)
		return
	}
	if len(in.uploads) >= in.about.Limits.Sessions {
		in.reply(from, in.busy())
		return
	}
	in.start(from, req.Session, payload)
}

// keepOut keeps new sessions out for a while, and tells who is still in. It is a lease, and forgotten in a restart: whoever changes the
// cluster says it again and again, and when he is gone the cluster goes on by itself.
func (in *Input) keepOut(from role.Peer, req *protocol.Request) {
	in.closed = in.now.Add(req.Lease)
	in.reply(from, protocol.Reply{Type: protocol.Listed, Node: in.about.Node, Sessions: in.list()})
}

func (in *Input) busy() protocol.Reply {
	r := refusef(protocol.ErrBusy, "node %s runs %d sessions, as many as limits.sessions allows: try again later",
		in.about.Node, len(in.uploads))
	r.Err.RetryAfter = in.about.Limits.RetryAfter
	return r
}

func (in *Input) start(from role.Peer, id session.ID, payload []byte) {
	u, err := in.newUpload(id, payload)
	if err != nil {
		in.reply(from, protocol.Refuse(protocol.ErrBadRequest, err.Error()))
		return
	}
	s, err := role.ReadAnnouncement(id, payload, in.about.Known, analyses.Replica{})
	if err == nil {
		in.uploads[id] = u
		in.host.Record(encodeOpen(id, payload))
		err = in.host.Open(s, payload)
	}
	if err != nil {
		in.replyStored(from, protocol.Refuse(protocol.ErrFailed, err.Error()))
		return
	}
	in.replyStored(from, in.opened(u))
}

func (in *Input) opened(u *upload) protocol.Reply {
	r := in.describe(u.analysis)
	r.State = session.Running
	for _, lane := range slices.Sorted(maps.Keys(u.lanes)) {
		r.Lanes = append(r.Lanes, protocol.LaneSeq{Lane: lane, Seq: u.lanes[lane]})
	}
	for i, e := range u.ended {
		if e {
			r.Ended = append(r.Ended, u.analysis.Streams[i].Name)
		}
	}
	return r
}

// openedBefore answers for a session that is over: everything has ended.
func (in *Input) openedBefore(a *analyses.Analysis, why gateway.Why) protocol.Reply {
	if why.Code != "" {
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
		Type: protocol.Opened, Inputs: in.about.Inputs, Outputs: in.about.Outputs, Chunk: int(in.about.Limits.Chunk),
		ClientTimeout: in.about.Limits.ClientTimeout, Streams: gateway.Streams(a), Queries: gateway.Queries(a),
	}
}

func (in *Input) list() []protocol.SessionInfo {
	var all []protocol.SessionInfo
	for _, u := range in.uploads {
		all = append(all, protocol.SessionInfo{
			Session: u.id, Analysis: u.analysis.Name, State: session.Running, Node: in.about.Node,
			Age: max(0, in.now.Sub(u.opened)), Bytes: u.bytes,
		})
	}
	slices.SortFunc(all, func(a, b protocol.SessionInfo) int { return slices.Compare(a.Session[:], b.Session[:]) })
	return all
}
