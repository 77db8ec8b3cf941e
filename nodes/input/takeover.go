package input

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"posta.dev/posta/internal/wire"
	"posta.dev/posta/nodes/gateway"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
)

// leftAfter is how long an input must have heard nothing with the opener's token before another client may continue with the session (R17).
// Clients ping several times in that time. Only time in which this node listened counts: a node that was asleep has heard nobody (M6).
const leftAfter = 5 * time.Second

// takeOver lets a client continue with a session whose client has left. a is the session's announcement.
//
// The first input decides the order of takeovers. At the other inputs a client shows the openers that the first input answered. So two
// simultaneous takeovers have the same order everywhere, and a client that has not asked the first input cannot take over at another one.
func (in *Input) takeOver(from role.Peer, u *upload, req *protocol.Request, a role.Announcement) {
	a.Openers = req.Openers
	if in.first() {
		a.Openers = append(slices.Clip(u.Openers), req.Token.Hash())
	}
	silent := in.awake - u.heardAwake
	switch {
	case a.Openers.Now() != req.Token.Hash():
		in.Reply(from, in.badOpeners(req))
	case len(a.Openers) > session.MaxOpeners:
		in.Reply(from, refusef(protocol.ErrInUse,
			"session %s was taken over %d times, and no more is possible: cancel it, and run it again under another id",
			u.ID, session.MaxOpeners-1))
	case !u.Openers.Begin(a.Openers): // the openers belong to another session with the id, or a third client was faster
		in.foreign(from, u, req.Token.Hash())
	case !in.Host.Confirmed():
		in.Reply(from, in.unconfirmed())
	case silent < leftAfter:
		r := refusef(protocol.ErrInUse,
			"another client opened session %s, and spoke to node %s %v ago: it can be taken over when that client has said nothing for %v",
			u.ID, in.About.Node, silent.Round(100*time.Millisecond), leftAfter)
		r.Err.RetryAfter = max(leftAfter-silent, time.Millisecond) // at least 1 ms: a shorter time would become 0 on the wire, which means never
		in.Reply(from, r)
	default:
		u.Openers, u.payload = a.Openers, a.Encode()
		in.hear(u)
		u.lastProgress, u.progress = in.now, progress{}
		in.dropHeld(u.ID)
		u.giveUpReads()
		in.Host.Record(encodeTakeOver(u.ID, u.payload))
		in.Host.TakeOver(u.Session, bytes.Clone(u.payload))
		in.ReplyStored(from, in.opened(u))
	}
}

// takeOverEnded notes the new opener of a session that is over here. The takeover succeeded at an input that had not heard of the end yet.
func (in *Input) takeOverEnded(id session.ID, gone gateway.Tombstone, a role.Announcement) {
	if len(a.Openers) > len(gone.Openers) {
		gone.Openers = a.Openers
		in.Tombstones.Put(id, gone)
		in.Host.Record(encodeTakeOver(id, a.Encode()))
	}
}

// applyTakeOver repeats a takeover in recovery.
func (in *Input) applyTakeOver(id session.ID, d *wire.Reader) error {
	payload := bytes.Clone(d.Bytes())
	if err := d.Done(); err != nil {
		return fmt.Errorf("input: %w", err)
	}
	a, err := role.DecodeAnnouncement(payload)
	if err != nil {
		return fmt.Errorf("input: %w", err)
	}
	if u := in.uploads[id]; u != nil {
		u.Openers, u.payload = a.Openers, payload
		u.giveUpReads()
	} else if gone, ok := in.Tombstones.Get(id); ok {
		gone.Openers = a.Openers
		in.Tombstones.Put(id, gone)
	}
	return nil
}

// dropHeld drops the chunks of a session that wait for room. The client that takes the session over is told what was taken, and continues
// with the next numbers. A chunk of the former client that was taken later would have one of these numbers, with other content.
func (in *Input) dropHeld(id session.ID) {
	in.held = slices.DeleteFunc(in.held, func(r role.Request) bool {
		req, _ := r.Decode()
		if req.Session != id {
			return false
		}
		in.Host.Release(r.Body)
		return true
	})
}

func (in *Input) badOpeners(req *protocol.Request) protocol.Reply {
	return refusef(protocol.ErrBadRequest,
		"a takeover of session %s that does not come from the first input: take it over at %s first, and repeat here the openers that it "+
			"answers", req.Session, in.firstInput())
}

func (in *Input) firstInput() string {
	if len(in.About.Inputs) == 0 {
		return "the first input"
	}
	return in.About.Inputs[0]
}

// foreign refuses a client whose token is not the opener's. The log of an input that has just started may have been set back to a state
// before the client took the session over (R14). Until the input is confirmed it does not answer, and the client asks again.
func (in *Input) foreign(from role.Peer, u *upload, asks session.TokenHash) {
	if !in.Host.Confirmed() {
		return
	}
	r := gateway.Foreign(u.ID, u.Openers, asks)
	if silent := in.awake - u.heardAwake; r.Err.Code == protocol.ErrInUse && silent >= leftAfter {
		r.Err.Message += fmt.Sprintf("; that client has said nothing for %v, so the session can be taken over", silent.Round(time.Second))
	}
	in.ReplyStored(from, r)
}
