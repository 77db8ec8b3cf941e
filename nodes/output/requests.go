package output

import (
	"slices"
	"time"

	"posta.dev/posta/nodes/gateway"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/security"
)

// Request implements role.Gateway.
func (o *Output) Request(now time.Time, r *role.Request) bool {
	o.now = now
	from := r.From
	req, err := r.Decode()
	if err != nil {
		o.Reply(from, protocol.Refuse(protocol.ErrBadRequest, err.Error()))
		return true
	}
	if !o.Permits(r, req.Type) {
		return true
	}
	by := r.Asker()
	if r := o.result(by.Identity, req); r != nil && !r.heeds(by, req.Type) {
		o.ReplyStored(from, r.foreign(by.Token))
		return true
	}
	switch req.Type {
	case protocol.Results:
		if !o.answer(from, by.Identity, req, true) {
			o.wait(now, from, by.Identity, *req)
		}
	case protocol.Cancel:
		o.cancel(from, by.Identity, req)
	case protocol.Close:
		o.Host.Forget(req.Session, by)
		o.ReplyStored(from, protocol.Reply{Type: protocol.OK})
	case protocol.Ping:
		o.ping(from, by.Identity, req)
	case protocol.Sessions:
		o.Reply(from, protocol.Reply{Type: protocol.Listed, Node: o.About.Node, Sessions: o.list(now, by.Identity)})
	case protocol.Info:
		o.Reply(from, o.About.Info())
	default:
		o.Reply(from, o.About.WrongNode(req.Type))
	}
	return true
}

// result returns what is kept of a session, nil if there is nothing or the session does not exist for who asks (S5).
func (o *Output) result(by security.Identity, req *protocol.Request) *result {
	if r := o.results[req.Session]; r != nil && means(&r.Holder, by, req) {
		return r
	}
	return nil
}

// means reports whether a request is about a session that exists for who asks. A token says that the client asks for the session that it runs
// itself, and what another owner claims to have lost under its id is not that one, though an operator sees it.
func means(h *gateway.Holder, by security.Identity, req *protocol.Request) bool {
	return h.Shows(by, req.Type) && (req.Token == session.Token{} || !h.Claimed() || h.Owner == by.Name)
}

// maxPolls bounds the polls that wait (R16). One more has the oldest answered at once, with nothing new; its client asks again. 60,000 of them
// took 1.2 s of every turn of the loop.
const maxPolls = 1024

func (o *Output) wait(now time.Time, from role.Peer, by security.Identity, req protocol.Request) {
	if len(o.waiting) >= maxPolls {
		oldest := o.waiting[0]
		o.waiting = slices.Delete(o.waiting, 0, 1)
		o.answer(oldest.peer, oldest.by, &oldest.req, false)
	}
	// What a results request has no use for would keep the memory of its whole frame.
	req.Params, req.Header, req.Data, req.Lanes, req.File = nil, nil, nil, nil, ""
	o.waiting = append(o.waiting, poll{from, by, req, now.Add(min(req.Wait, protocol.LongestPoll))})
}

// answer answers a results request if there is something to say, or in any case if it may not wait.
func (o *Output) answer(to role.Peer, by security.Identity, req *protocol.Request, mayWait bool) bool {
	r := o.result(by, req)
	if r == nil {
		o.notHere(to, by, req)
		return true
	}
	r.asked = o.now
	if r.over && r.why.Failed() {
		o.ReplyStored(to, protocol.Reply{Type: protocol.Parts, State: session.Failed, Reason: r.why.Reason, Complete: true})
		return true
	}
	parts, rest := r.after(req.After, o.replyBytes())
	if len(parts) == 0 && !r.over && mayWait && req.Wait > 0 {
		return false
	}
	reply := protocol.Reply{Type: protocol.Parts, State: session.Running, Parts: parts}
	if r.over {
		reply.State = session.Done
		reply.Complete = !rest
	}
	// An answer is given only when it is on disk (R3): after a restart it is the same.
	o.ReplyStored(to, reply)
	return true
}

// notHere answers for a session without an answer.
func (o *Output) notHere(to role.Peer, by security.Identity, req *protocol.Request) {
	if gone, ok := o.Tombstones.Get(req.Session); ok && means(&gone.Holder, by, req) {
		o.ReplyStored(to, gone.Refusal(req.Session))
	} else {
		o.Reply(to, o.About.Unknown(req.Session))
	}
}

// foreign refuses a client whose token is not the opener's (R17).
func (r *result) foreign(asks session.TokenHash) protocol.Reply {
	if !r.over || r.Openers.Superseded(asks) {
		return gateway.Foreign(r.id, r.Openers, asks)
	}
	return gateway.Tombstone{Outcome: r.why, Holder: r.Holder}.Refusal(r.id)
}

// replyBytes is about how large an answer may get. A single part came in a frame and so fits into a reply.
func (o *Output) replyBytes() int {
	if frame := int(o.About.Limits.Frame); frame > 0 {
		return min(protocol.PartBytes, frame/2)
	}
	return protocol.PartBytes
}

// partBytes is about what a part takes in a reply.
func partBytes(p *protocol.Part) int {
	n := 64 + len(p.Query) + p.Rows.Size()
	for _, c := range p.Columns {
		n += len(c) + 5
	}
	return n
}

// after returns about limit bytes of the parts behind n, and whether there are more.
func (r *result) after(n uint64, limit int) (parts []protocol.Part, rest bool) {
	size := 0
	for i := n; i < uint64(len(r.parts)); i++ {
		if size > 0 && size+partBytes(&r.parts[i]) > limit || len(parts) == protocol.MaxParts {
			return parts, true
		}
		size += partBytes(&r.parts[i])
		parts = append(parts, r.parts[i])
	}
	return parts, false
}

func (o *Output) answerPolls(now time.Time) {
	o.waiting = slices.DeleteFunc(o.waiting, func(p poll) bool {
		return o.answer(p.peer, p.by, &p.req, now.Before(p.until))
	})
}

func (o *Output) cancel(from role.Peer, by security.Identity, req *protocol.Request) {
	id, r := req.Session, o.result(by, req)
	switch {
	case r != nil && r.over:
		o.ReplyStored(from, protocol.Reply{Type: protocol.OK, State: r.state()}) // there is nothing to cancel any more
		return
	case r != nil:
		o.Host.Abort(id, gateway.Cancelled(id).ForRole())
	default:
		if gone, ok := o.Tombstones.Get(id); !ok || !means(&gone.Holder, by, req) {
			o.Reply(from, o.About.Unknown(id))
			return
		}
	}
	o.ReplyStored(from, protocol.Reply{Type: protocol.OK})
}

func (o *Output) ping(from role.Peer, by security.Identity, req *protocol.Request) {
	r := o.result(by, req)
	if r == nil {
		o.notHere(from, by, req)
		return
	}
	o.ReplyStored(from, protocol.Reply{Type: protocol.OK, State: r.state(), Reason: r.why.Reason})
}

func (r *result) state() session.State {
	switch {
	case !r.over:
		return session.Running
	case r.why.Failed():
		return session.Failed
	}
	return session.Done
}

func (o *Output) list(now time.Time, to security.Identity) (all []protocol.SessionInfo) {
	for _, r := range role.ByID(o.results) {
		if !r.Shows(to, protocol.Sessions) {
			continue
		}
		all = append(all, protocol.SessionInfo{
			Session: r.id, Analysis: r.analysis, Owner: r.Owner, State: r.state(), Node: o.About.Node, Age: max(0, now.Sub(r.opened)), Bytes: r.size,
		})
	}
	return all
}
