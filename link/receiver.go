package link

import (
	"fmt"
	"slices"
	"time"
)

// Verdict is what to do with a frame.
type Verdict uint8

const (
	// Take it: it is the next one. Its effect and the hwm go into the same commit (R5).
	Take Verdict = iota
	// Duplicate: drop it and acknowledge again (R4).
	Duplicate
	// Gap: drop it; a resend from hwm+1 is asked for (R4).
	Gap
	// Zombie: drop it, it comes from a superseded incarnation, or from a superseded log (R8).
	Zombie
	// Unknown: drop it; the sender has to say hello first, because its log id is not known here.
	Unknown
)

// Receiver is the receiving end of a link. stored <= taken always.
type Receiver struct {
	edge       string
	from       NodeID
	id         Identity // of the sender, zero until its hello
	taken      Seq      // the last frame whose effect is in memory
	stored     Seq      // the last frame whose effect is durable: the hwm that is acknowledged (R5)
	superseded supersededLogs
	gap        bool // a frame after a hole was seen, and nothing was taken since: a resend is needed
	ackDue     bool // an acknowledgement is to be sent now, whatever ackedAt says
	ackedAt    time.Time
	askedAt    time.Time // when a resend was last asked for
}

// NewReceiver returns the receiving end of a link nothing has come over.
func NewReceiver(edge string, from NodeID) *Receiver {
	return &Receiver{edge: edge, from: from}
}

// Edge returns the name of the edge.
func (r *Receiver) Edge() string { return r.edge }

// From returns the sender.
func (r *Receiver) From() NodeID { return r.from }

// ID returns the sender's identity, zero if it was never heard.
func (r *Receiver) ID() Identity { return r.id }

// Check returns what to do with a frame and changes nothing: a frame that is to be taken may have to wait (R11).
func (r *Receiver) Check(f *Frame) Verdict {
	switch {
	case r.superseded.has(f.ID.LogID):
		return Zombie
	case f.ID.LogID != r.id.LogID:
		return Unknown
	case f.ID.Incarnation < r.id.Incarnation:
		return Zombie
	case f.Seq <= r.taken:
		return Duplicate
	case f.Seq > r.taken+1:
		return Gap
	}
	return Take
}

// Took moves the hwm in memory over a frame whose verdict was Take.
func (r *Receiver) Took(f *Frame) {
	if f.Seq != r.taken+1 {
		panic(fmt.Sprintf("R4: %s from %s: frame %d taken after %d", r.edge, r.from, f.Seq, r.taken))
	}
	r.taken = f.Seq
	r.id.Incarnation = max(r.id.Incarnation, f.ID.Incarnation)
	r.gap = false
	r.superseded.heard()
}

// Dropped notes a frame that was not taken, so that the sender hears of it.
func (r *Receiver) Dropped(v Verdict) {
	switch v {
	case Duplicate, Unknown:
		r.ackDue = true
	case Gap:
		r.gap = true
	}
}

// Hello takes a hello. lost is true when frames from this sender are gone for good (R8): it is known by another log, so it
// lost its disk with what was in flight; or it says that frames were acknowledged here which this disk knows nothing of.
//
// A floor counts as taken, and is acknowledged when the hwm is stored like any other (R5).
func (r *Receiver) Hello(id Identity, h HelloPayload) (lost bool) {
	if r.superseded.zombie(id.LogID) || id.LogID == r.id.LogID && id.Incarnation < r.id.Incarnation {
		return false
	}
	r.ackDue = true
	if id.LogID == r.id.LogID {
		lost = h.Floor > r.taken
		r.taken = max(r.taken, h.Floor)
	} else {
		if lost = r.id.LogID != (LogID{}); lost {
			r.superseded.add(r.id.LogID)
		}
		r.taken, r.stored = h.Floor, 0
	}
	r.id = id
	r.gap = h.Sent > r.taken
	r.superseded.heard()
	return lost
}

// Hwm is the durable part of a Receiver.
type Hwm struct {
	Edge       string
	From       NodeID
	ID         Identity
	Seq        Seq
	Superseded []LogID
}

// Hwm returns what to store: the hwm as it is in memory, to be written with the effects that moved it (R5).
func (r *Receiver) Hwm() Hwm {
	return Hwm{Edge: r.edge, From: r.from, ID: r.id, Seq: r.taken, Superseded: slices.Clone(r.superseded.logs)}
}

// Stored says that the commit with h is on disk.
func (r *Receiver) Stored(h Hwm) {
	if h.ID.LogID != r.id.LogID {
		return // the sender's log was replaced meanwhile; this hwm counts in the old one
	}
	if h.Seq > r.taken {
		panic(fmt.Sprintf("R5: %s from %s: hwm %d stored, only %d taken", r.edge, r.from, h.Seq, r.taken))
	}
	if h.Seq > r.stored {
		r.stored = h.Seq
		r.ackDue = true
	}
}

// Restore sets what a snapshot or a log record says.
func (r *Receiver) Restore(h Hwm) {
	r.id, r.taken, r.stored = h.ID, h.Seq, h.Seq
	r.superseded = supersededLogs{logs: slices.Clone(h.Superseded)}
}

// Reconnected says that frames may have been lost on the way here: the sender is asked to go on from the hwm. It is for
// edges where the receiver makes the connection (SUB), so that the sender cannot see it.
func (r *Receiver) Reconnected() { r.ackDue, r.gap, r.askedAt = true, true, time.Time{} }

// Pace is how often things are said again.
type Pace struct {
	Repeat time.Duration // acknowledgements, at least (R6)
	Ask    time.Duration // requests for a resend, at most: frames behind the hole are still arriving
	Hello  time.Duration // hellos while a peer has not answered or nothing moves
}

// DefaultPace serves networks from one machine to a continent.
var DefaultPace = Pace{Repeat: 500 * time.Millisecond, Ask: 100 * time.Millisecond, Hello: 300 * time.Millisecond}

// Ack returns the acknowledgement that is due: when the hwm moved, when a frame was dropped, and at least every
// pace.Repeat. node and self are the receiver's own name and identity.
func (r *Receiver) Ack(node NodeID, self Identity, now time.Time, pace Pace) (Ack, bool) {
	// A resend is asked for only when all that was taken is stored: hwm+1 is then the frame that is missing.
	ask := r.gap && r.taken == r.stored && now.Sub(r.askedAt) >= pace.Ask
	if !ask && !r.ackDue && now.Sub(r.ackedAt) < pace.Repeat {
		return Ack{}, false
	}
	r.ackDue = false
	r.ackedAt = now
	if ask {
		r.askedAt = now
	}
	return Ack{
		Edge: r.edge, To: r.from, Log: r.id.LogID, Hwm: r.stored, Resend: ask,
		Receiver: node, ID: self,
	}, true
}
