package output

import (
	"fmt"
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
		o.ReplyStored(from, r.foreign(by))
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

// result returns what is kept of a session; nil if that is nothing, or if the session does not exist for the client (S5).
func (o *Output) result(by security.Identity, req *protocol.Request) *result {
	if r := o.results[req.Session]; r != nil && means(&r.Holder, by, req) {
		return r
	}
	return nil
}

// means reports whether a request is about a session that exists for the client. A request with a token is about the session that the
// client itself runs. If another owner claims to have lost a session with the same id, that is a different session, even if the client, as
// an operator, may see it.
func means(h *gateway.Holder, by security.Identity, req *protocol.Request) bool {
	return h.Shows(by, req.Type) && (req.Token == session.Token{} || !h.Claimed() || h.Owner == by.Name)
}

// maxPolls bounds the polls that wait (R16). A further poll makes the output answer one at once, with nothing new; that client asks again.
// It is the oldest poll of the client that has most of them, so nobody's polls are ended by those of others. 60,000 waiting polls took 1.2
// s of every turn of the loop.
const maxPolls = 1024

func (o *Output) wait(now time.Time, from role.Peer, by security.Identity, req protocol.Request) {
	if len(o.waiting) >= maxPolls {
		polls := role.Tally{}
		for i := range o.waiting {
			polls[o.waiting[i].by.Name]++
		}
		most := polls.Most()
		i := slices.IndexFunc(o.waiting, func(p poll) bool { return p.by.Name == most })
		oldest := o.waiting[i]
		o.waiting = slices.Delete(o.waiting, i, i+1)
		o.answer(oldest.peer, oldest.by, &oldest.req, false)
	}
	// Fields that a results request does not use would keep its whole frame in memory.
	req.Params, req.Header, req.Data, req.Lanes, req.File = nil, nil, nil, nil, ""
	o.waiting = append(o.waiting, poll{from, by, req, now.Add(min(req.Wait, protocol.LongestPoll))})
}

// answer answers a results request if there is something new, and always if the request may not wait.
func (o *Output) answer(to role.Peer, by security.Identity, req *protocol.Request, mayWait bool) bool {
	r := o.result(by, req)
	if r == nil {
		o.notHere(to, by, req)
		return true
	}
	r.asked = o.now
	if r.over && r.why.Failed() {
		o.ReplyStored(to, protocol.Reply{Type: protocol.Parts, State: session.Failed, Reason: r.why.Reason, Err: r.why.Data(), Complete: true})
		return true
	}
	parts, rest, later, err := o.after(r, req.After, o.replyBytes())
	if err != nil {
		// Another output may still have the answer intact; the client asks it next.
		o.ReplyStored(to, protocol.Reply{Type: protocol.Parts, State: session.Failed, Complete: true,
			Reason: fmt.Sprintf("node %s cannot read the answer of session %s from its disk: %v: run the analysis again", o.About.Node, r.id, err)})
		return true
	}
	if len(parts) == 0 && (!r.over || later) && mayWait && req.Wait > 0 {
		return false
	}
	reply := protocol.Reply{Type: protocol.Parts, State: session.Running, Parts: parts}
	if r.over {
		reply.State = session.Done
		reply.Complete = !rest
	}
	// The reply waits until the answer is on disk (R3), so it is the same after a restart.
	o.ReplyStored(to, reply)
	return true
}

// notHere replies that the node has no answer of the session.
func (o *Output) notHere(to role.Peer, by security.Identity, req *protocol.Request) {
	if gone, ok := o.Tombstones.Get(req.Session); ok && means(&gone.Holder, by, req) {
		gone.Outcome = gone.Tells(by, gone.Outcome)
		o.ReplyStored(to, gone.Refusal(req.Session))
	} else {
		o.Reply(to, o.About.Unknown(req.Session))
	}
}

// foreign refuses a client whose token is not the opener's (R17).
func (r *result) foreign(by role.Asker) protocol.Reply {
	if !r.over || r.Openers.Superseded(by.Token) {
		return gateway.Foreign(r.id, r.Openers, by.Token)
	}
	return gateway.Tombstone{Outcome: r.Tells(by.Identity, r.why), Holder: r.Holder}.Refusal(r.id)
}

// replyBytes is about how many bytes of parts a reply may have. A single part may exceed it: the part came in a frame, so it fits into a
// reply.
func (o *Output) replyBytes() int {
	if frame := int(o.About.Limits.Frame); frame > 0 {
		return min(protocol.PartBytes, frame/2)
	}
	return protocol.PartBytes
}

// partLimit is about how many bytes of sorted rows a part has.
func (o *Output) partLimit() int { return min(64<<10, o.replyBytes()) }

// after returns about limit bytes of the parts behind part n; rest says that there are more. Parts of sorted rows get their numbers when
// they are merged. wait says that the merge has not reached the requested parts yet.
func (o *Output) after(r *result, n uint64, limit int) (parts []protocol.Part, rest, wait bool, err error) {
	size, first := 0, uint64(0) // number of parts before the item
	room := func(bytes int) bool { return size == 0 || size+bytes <= limit && len(parts) < protocol.MaxParts }
	add := func(p protocol.Part, bytes int) {
		p.N = n + uint64(len(parts)) + 1
		size += bytes
		parts = append(parts, p)
	}
	for i := range r.items {
		it := &r.items[i]
		next := n + uint64(len(parts)) // the part that is needed next, counted from 0
		if q := it.sorted; q != nil {
			if q.parts == 0 || next < first+q.parts {
				over, wait, err := o.sorted(r, q, next-first, room, add)
				if err != nil || !over {
					return parts, true, wait, err
				}
			}
			first += q.parts
			continue
		}
		if first++; next >= first {
			continue
		}
		if !room(it.n) {
			return parts, true, false, nil
		}
		p, err := r.part(o.Host, it)
		if err != nil {
			return nil, true, false, err
		}
		add(p, it.n)
	}
	return parts, false, false, nil
}

// sorted merges the rows of a query and adds its parts from number next on, while there is room. over reports whether the last part was
// added.
func (o *Output) sorted(r *result, q *sorted, next uint64, room func(int) bool, add func(protocol.Part, int)) (over, wait bool, err error) {
	m := q.reading
	if m == nil {
		o.endReading()
		if m, err = newMerge(r, q, o.Host, o.partLimit()); err != nil {
			return false, false, err
		}
		q.reading = m
	}
	if there, err := m.seek(next); err != nil || !there {
		return false, true, err
	}
	for !m.over {
		if !room(m.nextBytes()) {
			return false, false, nil
		}
		p, err := m.part()
		if err != nil {
			return false, false, err
		}
		add(p, partBytes(&p))
	}
	return true, false, nil
}

// maxReading bounds the queries that are merged for clients at one time: each has a page of each of its runs in memory (R16). A further
// merge ends the merges of one session: of the owner with most merges, the session that was asked for longest ago. If a client asks for
// that session again, its merges start again.
const maxReading = 16

func (o *Output) endReading() {
	merges, n := role.Tally{}, 0
	for _, r := range o.results {
		reads := r.reading()
		merges[r.Owner] += uint64(reads)
		n += reads
	}
	if n < maxReading {
		return
	}
	var oldest *result
	most := merges.Most()
	for _, r := range role.ByID(o.results) {
		if r.Owner == most && r.reading() > 0 && (oldest == nil || r.asked.Before(oldest.asked)) {
			oldest = r
		}
	}
	for _, q := range oldest.sorted {
		q.reading = nil
	}
}

// reading returns how many queries of an answer are being merged.
func (r *result) reading() (n int) {
	for _, q := range r.sorted {
		if q.reading != nil {
			n++
		}
	}
	return n
}

// partBytes estimates the size of a part in a reply.
func partBytes(p *protocol.Part) int {
	n := 64 + len(p.Query) + p.Rows.Size()
	for _, c := range p.Columns {
		n += len(c) + 5
	}
	return n
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
		o.ReplyStored(from, protocol.Reply{Type: protocol.OK, State: r.state()}) // nothing is left to cancel
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
	why := r.Tells(by, r.why)
	o.ReplyStored(from, protocol.Reply{Type: protocol.OK, State: r.state(), Reason: why.Reason, Err: why.Data()})
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
			Session: r.id, Analysis: r.analysis, Owner: r.Owner, State: r.state(), Node: o.About.Node, Age: max(0, now.Sub(r.opened)),
			Bytes: r.size, Asks: r.Asks(to, r.asks, r.outline),
		})
	}
	return all
}
