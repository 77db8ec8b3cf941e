package link

import (
	"fmt"
	"time"
)

// Ack takes an acknowledgement. It returns
//   - a LostLog when the receiver comes with another log than the one that acknowledged frames before: the effects of those frames are
//     gone (R8);
//   - a reason when the receiver shows that this node's own log was set back to a former state (R14).
func (s *Sender) Ack(a Ack, now time.Time) (lost *LostLog, setBack string) {
	p := s.peer(a.Receiver)
	switch {
	case p == nil || a.Edge != s.Edge:
		return nil, ""
	case a.Superseded && a.Log == s.id.LogID && a.Echo == s.id.Life:
		return nil, fmt.Sprintf("node %s knows another log of this node, or another opening of this one", a.Receiver)
	case a.Superseded:
		return nil, "" // said to a life that is over
	case p.zombie(a.ID):
		p.rejected = a.ID.Life
		return nil, ""
	case a.Echo != s.id.Life:
		p.unheard = true // it does not know this life yet: a first contact, or its disk is new
		return nil, ""
	}
	restarted := a.ID != p.id
	if p.heard(a.ID) {
		lost = s.lostLog(p) // before the hwm of the new log moves what was acknowledged to the old one
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
		// An old word, or the receiver was set back. The hello says what it has acknowledged, and the receiver judges.
		p.unheard = true
		return lost, ""
	}
	p.unheard = false
	s.acknowledge(p, a.Hwm, a.HwmLife, now)
	if restarted || !p.ready || a.Resend {
		p.sent = p.acked
		p.ready = true
	}
	if a.Resend && p.sent == s.stored {
		p.helloDue = true // there is nothing to send again: the hello says so, and it stops asking
	}
	return lost, ""
}

// contradicts says why an acknowledgement shows that this log was set back (R14), nothing if it does not: nobody acknowledges a frame that
// this log never stored, and a number stands for the frame of one life. Lives that are not known any more contradict nothing.
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
	// After a restart only the receiver's log is known, and not which opening of it was running.
	return p.superseded.has(id.LogID) || id.LogID == p.id.LogID && p.id.Incarnation != 0 && id.Over(p.id)
}

// heard notes the receiver's present log and incarnation. It reports whether the receiver has lost what it acknowledged.
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

// Hello returns the hello that is due to node, if one is: after a connect, until the hwm is known, and when nothing has
// moved for a while though frames are under way (they may be lost: the receiver will see). now sets the pace.
func (s *Sender) Hello(node NodeID, now time.Time, every time.Duration) (Frame, bool) {
	p := s.peer(node)
	if p == nil {
		return Frame{}, false
	}
	since := now.Sub(p.helloAt)
	stuck := p.ready && p.sent > p.acked && now.Sub(p.ackedAt) >= every
	if !p.helloDue && !(p.unheard && since >= every/answerFaster) && (since < every || p.ready && !stuck) {
		return Frame{}, false
	}
	p.helloDue = false
	p.helloAt = now
	h := HelloPayload{To: node, Floor: p.acked, FloorLife: p.ackedLife, Sent: s.sentTo(p)}
	if p.ackedHere {
		h.Log, h.Acked, h.Life = p.id.LogID, p.acked, p.ackedLife
	}
	return s.hello(h), true
}

// answerFaster is how much sooner a hello is said again to a receiver that has just spoken and does not know this life.
const answerFaster = 10

// Rejection returns the word to a superseded life of a receiver that is due, if one is (R14). If nobody listens to it any more it is lost.
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

// Heard reports whether every receiver has answered a hello of this life, so that its log is known to continue what they have (R14).
func (s *Sender) Heard() bool {
	for _, p := range s.peers {
		if !p.heardUs {
			return false
		}
	}
	return true
}
