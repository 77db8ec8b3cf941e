package input

import (
	"fmt"

	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
)

// ping answers a client that reports that it is alive. The client also says what this input has acknowledged to it. If the input's log was
// set back (R14), the input may have lost what it acknowledged, and no other node may have seen it. The session would then wait for an end
// that its client will not repeat, so the session fails. The client may also be wrong, or lie, so the node does not retire its log.
func (in *Input) ping(from role.Peer, u *upload, req *protocol.Request) {
	if lacks := u.lacks(req); lacks != "" && req.Token.Hash() == u.Openers.Now() {
		in.lost(u.ID, u.Owner, lacks)
		why, _ := in.Tombstones.Get(u.ID)
		in.ReplyStored(from, why.Refusal(u.ID))
		return
	}
	if req.Token.Hash() == u.Openers.Now() {
		u.progress.told(in.now, req)
	}
	if full := in.fullDisk(); full != "" {
		// at once, because a reply that has to be stored would wait for room
		in.Reply(from, protocol.Reply{Type: protocol.OK, State: session.Running, Reason: full})
		return
	}
	in.ReplyStored(from, protocol.Reply{Type: protocol.OK, State: session.Running})
}

// lacks returns what is missing here of what the client has an acknowledgement for; empty if nothing is missing.
func (u *upload) lacks(req *protocol.Request) string {
	for _, l := range req.Lanes {
		if u.lanes[l.Lane].seq < l.Seq {
			return fmt.Sprintf("chunk %d of lane %d", l.Seq, l.Lane)
		}
	}
	if stream := u.Analysis.StreamIndex(req.Stream); stream >= 0 && !u.ended[stream] {
		return "the end of stream " + req.Stream
	}
	return ""
}

// claims reports whether a request says that this input has acknowledged something of the session.
func claims(req *protocol.Request) bool {
	switch {
	case req.Token.Hash() == session.TokenHash{}:
		return false // the client shows no token, so it is not the session's own
	case req.Type == protocol.Chunk, req.Type == protocol.Read:
		return req.Seq > 1
	case req.Type == protocol.End:
		return len(req.Lanes) > 0
	}
	return req.Type == protocol.Ping && (req.Stream != "" || len(req.Lanes) > 0)
}

// leastClaims bounds how many sessions one owner may claim to have lost here; if limits.sessions is larger, that is the bound. Each claim
// takes a place among the sessions that every node remembers. Without a bound, one client could claim invented ids until all other sessions
// are forgotten.
const leastClaims = 64

// mayClaim reports whether this owner's claim about a session that is not known here is believed. The local operator has no name and may do
// everything anyway.
func (in *Input) mayClaim(owner string) bool {
	if owner == "" {
		return true
	}
	n := 0
	for _, id := range in.Tombstones.Keys() {
		if gone, _ := in.Tombstones.Get(id); gone.Claimed() && gone.Owner == owner {
			n++
		}
	}
	return n < max(leastClaims, in.About.Limits.Sessions)
}

// lost fails a session if this input has acknowledged something of it that it does not have (R14). Even if the session is not known here,
// later nodes may know it, and would wait for its end. They learn who the owner is, because the claim does not apply to another owner's
// session with the id (S5).
func (in *Input) lost(id session.ID, owner, what string) {
	in.Host.Abort(id, role.Outcome{Owner: owner, Reason: fmt.Sprintf(
		"node %s lost its data: it does not have %s, which its client says it acknowledged; start the session again", in.About.Node, what)})
}
