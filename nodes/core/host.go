package core

import (
	"fmt"

	"posta.dev/posta/nodes/core/record"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/nodes/trace"
	"posta.dev/posta/protocol/session"
)

// host is what a gateway, role i of the chain, sees of the core.
type host struct {
	c *Core
	i int
}

func (h *host) Open(s role.Session, payload []byte) error {
	here, known := h.c.holder(s.ID)
	gone, left := h.c.tombstones.Get(s.ID)
	switch {
	case known && here.Openers.Founder() != s.Openers.Founder():
		return h.c.refuseOpen(s)
	case left && gone.same(&s):
		return h.c.wasHere(s.ID, gone)
	case h.c.sessions[s.ID] != nil:
		return nil
	}
	if len(payload) > h.c.cfg.Frame {
		return role.TooLarge("the announcement of session "+s.ID.String()+" with its parameters", len(payload), h.c.cfg.Frame)
	}
	s.Replica = h.c.cfg.Replica
	if err := h.c.open(s, payload, linkKey{from: h.c.cfg.Self}, true); err != nil {
		h.c.fail(s.ID, err)
		return err
	}
	return nil
}

func (h *host) Feed(id session.ID, m role.Message) error {
	s := h.c.sessions[id]
	if s == nil {
		return fmt.Errorf("session %s has left this node", id)
	}
	if m.Chunk != nil {
		h.c.build.bytes += len(m.Chunk.Data)
	}
	s.out[h.i].Emit(0, m)
	err := s.err
	h.c.settle(s)
	return err
}

func (h *host) EndStream(id session.ID, stream int) {
	s := h.c.sessions[id]
	if s == nil || s.ended[stream] {
		return
	}
	h.c.record(record.Input{Op: record.Ended, Session: id, Stream: stream, From: h.c.cfg.Self})
	if h.c.markEos(s, stream, linkKey{from: h.c.cfg.Self}) {
		h.c.streamEnded(s)
	}
}

func (h *host) TakeOver(s role.Session, payload []byte) {
	h.c.takeOver(s, payload, true)
}

func (h *host) Abort(id session.ID, why role.Outcome) {
	why.Failed = true
	h.c.abortFor(id, tombstone{Outcome: why})
}

func (h *host) Room(id session.ID, reference bool) bool {
	s := h.c.sessions[id]
	switch {
	case h.c.cfg.Joiner && !reference && s != nil && s.endsReference(): // the chain's joiner gets no facts yet; see mayTake
		h.c.waits(s, trace.Reference)
	case !h.c.room(reference):
		h.c.waits(s, trace.Blocked)
	case h.c.build.bytes >= h.c.cfg.Commit:
		h.c.waits(s, trace.Log)
	default:
		return true
	}
	return false
}

// waits records what a session with something to do waits for. s may be nil.
func (c *Core) waits(s *sess, state trace.State) {
	if s != nil {
		c.cfg.Trace.Wait(s.trace, state, c.cfg.Trace.Now())
	}
}

func (h *host) Confirmed() bool { return h.c.confirmed }

func (h *host) Forget(id session.ID, by role.Asker) {
	for _, g := range h.c.gateways {
		g.Forget(id, by)
	}
}

func (h *host) Record(payload []byte) {
	h.c.record(record.Input{Op: record.Private, Role: h.i, Payload: payload})
}

func (h *host) Reply(to role.Peer, body []byte) {
	h.c.replies = append(h.c.replies, Reply{to, body})
}

func (h *host) ReplyStored(to role.Peer, body []byte) {
	h.c.build.replies = append(h.c.build.replies, Reply{to, body})
}

func (h *host) Release(body []byte) {
	if len(body) >= minReleased {
		h.c.releasedRequests = append(h.c.releasedRequests, body)
	}
}

func (h *host) ReadFileAt(name string, p []byte, off int64) error {
	if h.c.cfg.Files == nil {
		return fmt.Errorf("node %s has no place for files", h.c.cfg.Self)
	}
	return h.c.cfg.Files.ReadFileAt(name, p, off)
}
