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
	// Damaged: drop it; it is not intact (R18), and a resend is asked for.
	Damaged
)

// Receiver is the receiving end of a link. stored <= taken always.
type Receiver struct {
	Link
	sums       sums
	id         Identity // of the sender, zero until its hello
	taken      Seq      // the last frame whose effect is in memory
	takenLife  Life     // that made it
	stored     Seq      // the last frame whose effect is durable: the hwm that is acknowledged (R5)
	storedLife Life     // that made it
	echo       Life     // the sender's life that acknowledgements echo
	superseded supersededLogs
	rejected   Identity // of a superseded opening of the sender that is to be told so; zero if none
	rejectedAt time.Time
	gap        bool // a frame after a hole was seen, and nothing was taken since: a resend is needed
	ackDue     bool // an acknowledgement is to be sent now, whatever ackedAt says
	ackedAt    time.Time
	askedAt    time.Time // when a resend was last asked for
}

// NewReceiver returns the receiving end of a link nothing has come over.
func NewReceiver(l Link) *Receiver { return &Receiver{Link: l, sums: newSums(l)} }

// ID returns the sender's identity, zero if it was never heard.
func (r *Receiver) ID() Identity { return r.id }

// Intact reports whether a frame is the one that was made: of this link, under its number, with each bit as it was (R18). It is asked before
// anything else of the frame is believed, a hello's words too: a changed log id looks like a lost disk.
func (r *Receiver) Intact(f *Frame) bool { return r.sums.intact(f) }

// Check returns what to do with a frame that is intact, and changes nothing: a frame that is to be taken may have to wait (R11).
func (r *Receiver) Check(f *Frame) Verdict {
	switch {
	case r.superseded.has(f.ID.LogID):
		return Zombie
	case f.ID.LogID != r.id.LogID:
		return Unknown
	case f.ID.Over(r.id):
		return Zombie
	case f.ID != r.id:
		return Unknown // no sender of ours sends before this node has answered its hello
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
		panic(fmt.Sprintf("R4: %s from %s: frame %d taken after %d", r.Edge, r.From, f.Seq, r.taken))
	}
	r.taken, r.takenLife = f.Seq, f.Life
	r.gap = false
}

// Dropped notes a frame that was not taken, so that its sender, id, hears of it.
func (r *Receiver) Dropped(v Verdict, id Identity) {
	switch v {
	case Zombie:
		r.rejected = id
	case Duplicate, Unknown:
		r.ackDue = true
	case Gap, Damaged:
		r.gap = true
	}
}

// Hwm is the durable part of a Receiver.
type Hwm struct {
	Edge       string
	From       NodeID
	ID         Identity
	Seq        Seq
	Life       Life // that made the frame Seq (R14)
	Superseded []LogID
}

// Hwm returns what to store: the hwm as it is in memory, to be written with the effects that moved it (R5).
func (r *Receiver) Hwm() Hwm {
	return Hwm{Edge: r.Edge, From: r.From, ID: r.id, Seq: r.taken, Life: r.takenLife, Superseded: slices.Clone(r.superseded.logs)}
}

// Stored says that the commit with h is on disk.
func (r *Receiver) Stored(h Hwm) {
	if h.ID.LogID != r.id.LogID {
		return // the sender's log was replaced meanwhile; this hwm counts in the old one
	}
	if h.Seq > r.taken {
		panic(fmt.Sprintf("R5: %s from %s: hwm %d stored, only %d taken", r.Edge, r.From, h.Seq, r.taken))
	}
	if h.Seq > r.stored {
		r.stored, r.storedLife = h.Seq, h.Life
		r.ackDue = true
	}
}

// Restore sets what a snapshot or a log record says.
func (r *Receiver) Restore(h Hwm) {
	r.id, r.echo = h.ID, h.ID.Life
	r.taken, r.stored, r.takenLife, r.storedLife = h.Seq, h.Seq, h.Life, h.Life
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
	if r.taken == r.stored {
		// A new life of the sender is answered only with all that was taken from former ones: it decides by the answer whether its log
		// continues what is here (R14), and what it sends next must not fall on numbers that were taken and not yet told.
		r.echo = r.id.Life
	}
	if ask {
		r.askedAt = now
	}
	return Ack{
		Edge: r.Edge, To: r.From, Log: r.id.LogID, Hwm: r.stored, HwmLife: r.storedLife, Echo: r.echo, Resend: ask,
		Receiver: node, ID: self,
	}, true
}

// Rejection returns the word to a superseded opening of the sender that is due, if one is (R14). If nobody listens to it any more it is lost.
func (r *Receiver) Rejection(node NodeID, self Identity, now time.Time, pace Pace) (Ack, bool) {
	if r.rejected.Life == 0 || now.Sub(r.rejectedAt) < pace.Ask {
		return Ack{}, false
	}
	a := Ack{Edge: r.Edge, To: r.From, Log: r.rejected.LogID, Echo: r.rejected.Life, Superseded: true, Receiver: node, ID: self}
	r.rejected, r.rejectedAt = Identity{}, now
	return a, true
}
