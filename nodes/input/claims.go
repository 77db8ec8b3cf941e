package input

import (
	"fmt"

	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
)

// ping answers a client that says it is still there. It says what this input has acknowledged to it, too. If the input's log was set back
// (R14), what it acknowledged is gone, no other node may have seen it, and the session would wait for an end that its client will not
// repeat. So the session fails. Its client may also err, or lie: so the node goes on as it is.
func (in *Input) ping(from role.Peer, u *upload, req *protocol.Request) {
	if lacks := u.lacks(req); lacks != "" && req.Token.Hash() == u.Openers.Now() {
		in.lost(u.ID, u.Owner, lacks)
		why, _ := in.Tombstones.Get(u.ID)
		in.ReplyStored(from, why.Refusal(u.ID))
		return
	}
	if full := in.fullDisk(); full != "" {
		in.Reply(from, protocol.Reply{Type: protocol.OK, State: session.Running, Reason: full}) // at once: what is to be stored waits
		return
	}
	in.ReplyStored(from, protocol.Reply{Type: protocol.OK, State: session.Running})
}

// lacks says what a client was acknowledged that is not here, nothing if all is.
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
		return false // it is not the session's own client
	case req.Type == protocol.Chunk:
		return req.Seq > 1
	case req.Type == protocol.End:
		return len(req.Lanes) > 0
	}
	return req.Type == protocol.Ping && (req.Stream != "" || len(req.Lanes) > 0)
}

// leastClaims is of how many sessions one owner may say that they were lost, or limits.sessions if that is more. Each takes a place among the
// sessions that every node remembers, and with made-up ids one client would have all others forgotten.
const leastClaims = 64

// mayClaim reports whether this owner's claim of a session that is not known here is believed. The local operator, who has no name, may do
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

// lost fails a session of which this input has acknowledged something that it does not have (R14). Where the session is not known at all the
// nodes behind this one may know it, and would wait for its end. They hear who says so: another owner's session of the id is not meant (S5).
func (in *Input) lost(id session.ID, owner, what string) {
	in.Host.Abort(id, role.Outcome{Owner: owner, Reason: fmt.Sprintf("node %s lost its data: it does not have %s, which its client says it acknowledged; start the session again", in.About.Node, what)})
}
