package link

import (
	"fmt"
	"time"
)

// Ack takes an acknowledgement. It returns
//   - a LostLog if the receiver has another log than the one that acknowledged frames before: the effects of those frames are gone (R8);
//   - a reason if the acknowledgement shows that this node's own log was set back to a former state (R14).
func (s *Sender) Ack(a Ack, now time.Time) (lost *LostLog, setBack string) {
	p := s.peer(a.Receiver)
	switch {
	case p == nil || a.Edge != s.Edge:
		return nil, ""
	case a.Superseded && a.Log == s.id.LogID && a.Echo == s.id.Life:
		return nil, fmt.Sprintf("node %s knows another log of this node, or another opening of this one", a.Receiver)
	case a.Superseded:
		return nil, "" // meant for a former life
	case p.zombie(a.ID):
		p.rejected = a.ID.Life
		return nil, ""
	case a.Echo != s.id.Life:
		p.unheard = true // the receiver does not know this life yet: a first contact, or a new disk
		return nil, ""
	}
	restarted := a.ID != p.id
	if p.heard(a.ID) {
		lost = s.lostLog(p) // before the new log's hwm moves p.acked, which is still that of the old one
	}
	if a.Log != s.id.LogID {
		p.ready, p.helloDue = false, true
		return lost, ""
	}
	if why := s.contradicts(p, &a); why != "" {
		p.ready = false
		return lost, why
	}
	p.heardUs = true
	if a.Hwm < p.acked && p.ackedHere {
		// The acknowledgement is old, or the receiver's log was set back. The hello says what the receiver has
		// acknowledged, so the receiver can tell.
		p.unheard = true
		return lost, ""
	}
	p.unheard = false
	s.acknowledge(p, a.Hwm, a.HwmLife, now)
	if restarted || !p.ready || a.Resend {
		p.sent = p.acked
		p.ready, p.hellos = true, 0
	}
	if a.Resend && p.sent == s.stored {
		p.helloDue = true // nothing to send again: the hello says so, and the receiver stops asking
	}
	return lost, ""
}

// contradicts returns why an acknowledgement shows that this log was set back (R14); "" if it does not. A receiver never acknowledges a
// frame that this log has not stored, and a number belongs to the frame of one life. A life that is no longer known proves nothing.
func (s *Sender) contradicts(p *peer, a *Ack) string {
	if a.Hwm > s.stored {
		return fmt.Sprintf("node %s has frame %d of edge %s, this node has stored %d", a.Receiver, a.Hwm, s.Edge, s.stored)
	}
	known := Life(0)
	switch {
	case a.Hwm == p.acked:
		known = p.ackedLife
	case a.Hwm > p.acked:
		known = s.entries[s.index(a.Hwm)].frame.Life
	}
	if known != 0 && a.HwmLife != 0 && known != a.HwmLife {
		return fmt.Sprintf("node %s has another frame %d of edge %s than this node", a.Receiver, a.Hwm, s.Edge)
	}
	return ""
}

// zombie reports whether an acknowledgement comes from a superseded incarnation, or from a superseded log (R8).
func (p *peer) zombie(id Identity) bool {
	// After a restart the sender knows only the receiver's log, not which opening of it was running.
	return p.superseded.has(id.LogID) || id.LogID == p.id.LogID && p.id.Incarnation != 0 && id.over(p.id)
}

// heard notes the receiver's present log and incarnation. It reports whether the receiver has lost frames that it had acknowledged.
func (p *peer) heard(id Identity) (lost bool) {
	if p.id.LogID != id.LogID && p.id.LogID != (LogID{}) {
		p.superseded.add(p.id.LogID)
		p.ackedHere = false
		lost = p.acked > 0
	}
	p.id = id
	return lost
}

func (s *Sender) acknowledge(p *peer, hwm Seq, life Life, now time.Time) {
	if hwm < p.acked || hwm == 0 {
		return
	}
	p.ackedHere = true
	if hwm == p.acked {
		return
	}
	if i := s.index(hwm); i >= 0 {
		p.ackedEnd, life = s.entries[i].end, s.entries[i].frame.Life
	}
	p.acked, p.ackedLife = hwm, life
	p.sent = max(p.sent, hwm)
	p.ackedAt = now
	s.trim()
}

// Hello returns the hello that is due to node; false if none is. A hello is due after a connect, repeatedly until the hwm is known, and
// when frames are unacknowledged and nothing has moved for a while. In the last case frames may be lost, and the hello lets the receiver
// notice.
func (s *Sender) Hello(node NodeID, now time.Time, every time.Duration) (Frame, bool) {
	p := s.peer(node)
	if p == nil {
		return Frame{}, false
	}
	if at, due := p.helloDueAt(every); !due || now.Before(at) {
		return Frame{}, false
	}
	p.helloDue = false
	p.helloAt = now
	p.hellos = min(p.hellos+1, firstHellos)
	h := HelloPayload{To: node, Floor: p.acked, FloorLife: p.ackedLife, Sent: s.sentTo(p)}
	if p.ackedHere {
		h.Log, h.Acked, h.Life = p.id.LogID, p.acked, p.ackedLife
	}
	return s.hello(h), true
}

// NextHello returns when the next hello to a peer is due if no peer answers before; false if none will be due.
func (s *Sender) NextHello(every time.Duration) (next time.Time, due bool) {
	for _, p := range s.peers {
		if at, is := p.helloDueAt(every); is && (!due || at.Before(next)) {
			next, due = at, true
		}
	}
	return next, due
}

func (p *peer) helloDueAt(every time.Duration) (at time.Time, due bool) {
	pause := every
	if !p.ready {
		pause = every >> (firstHellos - p.hellos)
	}
	switch {
	case p.helloDue:
		return time.Time{}, true
	case p.unheard:
		return p.helloAt.Add(min(pause, every/answerFaster)), true
	case !p.ready:
		return p.helloAt.Add(pause), true
	case p.sent > p.acked && p.ackedAt.After(p.helloAt):
		return p.ackedAt.Add(every), true
	case p.sent > p.acked:
		return p.helloAt.Add(every), true
	}
	return time.Time{}, false
}

const (
	// answerFaster divides the pause before a hello is repeated to a receiver that has just answered but does not know this life.
	answerFaster = 10
	// firstHellos is how often the pause between two hellos doubles after a connect. The connection for the answers
	// may be up some milliseconds later than the one for the hello, and then the first answer is lost. With the full
	// pause from the start, most clusters had their first effect only 0.2 s after their start.
	firstHellos = 6
)

// Rejection returns the hello that tells a superseded life of a receiver so (R14); false if none is due. If that life
// no longer listens, the hello is lost.
func (s *Sender) Rejection(node NodeID, now time.Time, every time.Duration) (Frame, bool) {
	p := s.peer(node)
	if p == nil || p.rejected == 0 || now.Sub(p.rejectedAt) < every {
		return Frame{}, false
	}
	h := HelloPayload{To: node, Superseded: p.rejected}
	p.rejected, p.rejectedAt = 0, now
	return s.hello(h), true
}

func (s *Sender) hello(h HelloPayload) Frame {
	f := Frame{Edge: s.Edge, From: s.From, ID: s.id, Kind: Hello, Payload: h.Encode()}
	f.Sum = s.sums.sent(s.sums.content(&f), s.id)
	return f
}

func (s *Sender) sentTo(p *peer) Seq {
	if !p.ready {
		return p.acked
	}
	return p.sent
}

// Heard reports whether every receiver has answered a hello of this life. Then this log is known to continue what the receivers have (R14).
func (s *Sender) Heard() bool {
	for _, p := range s.peers {
		if !p.heardUs {
			return false
		}
	}
	return true
}
