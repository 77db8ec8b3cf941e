package link

import (
	"fmt"
	"slices"
	"time"
)

// Verdict says what to do with a frame. Package nodes/core counts the frames that are dropped, by link and verdict.
type Verdict uint8

const (
	// Take: it is the next frame. Its effect and the hwm go into the same commit (R5).
	Take Verdict = iota
	// Duplicate: drop the frame and acknowledge again (R4).
	Duplicate
	// Gap: drop the frame and ask for a resend from hwm+1 (R4).
	Gap
	// Zombie: drop the frame, which comes from a superseded incarnation or log (R8).
	Zombie
	// Unknown: drop the frame. Its log id is not known here, so the sender has to say hello first.
	Unknown
	// Damaged: drop the frame, which is not intact (R18), and ask for a resend.
	Damaged

	// Verdicts is how many there are.
	Verdicts = iota
)

var verdictNames = [Verdicts]string{Take: "take", Duplicate: "duplicate", Gap: "gap", Zombie: "zombie", Unknown: "unknown",
	Damaged: "damaged"}

func (v Verdict) String() string { return verdictNames[v] }

// Receiver is the receiving end of a link. Invariant: stored <= taken.
type Receiver struct {
	Link
	sums       sums
	id         Identity // of the sender, zero until its hello
	taken      Seq      // the last frame whose effect is in memory
	takenLife  Life     // that made it
	stored     Seq      // the hwm that is acknowledged: the last frame whose effect is durable (R5)
	storedLife Life     // that made it
	echo       Life     // the sender's life that acknowledgements echo
	superseded supersededLogs
	rejected   Identity // a superseded opening of the sender that must be told so; zero if none
	rejectedAt time.Time
	gap        bool // a frame is missing and none was taken since: a resend is needed
	ackDue     bool // an acknowledgement must be sent now, whatever ackedAt is
	ackedAt    time.Time
	askedAt    time.Time // when a resend was last asked for
}

// NewReceiver returns the receiving end of a new link.
func NewReceiver(l Link) *Receiver { return &Receiver{Link: l, sums: newSums(l)} }

// ID returns the sender's identity, zero if it was never heard.
func (r *Receiver) ID() Identity { return r.id }

// Intact reports whether a frame arrived as it was made: of this link, under its number, with no bit changed (R18). The caller checks this
// before it uses any field of the frame, even of a hello: a changed log id would look like a lost disk.
func (r *Receiver) Intact(f *Frame) bool { return r.sums.intact(f) }

// Check returns what to do with an intact frame. It changes nothing, because a frame whose verdict is Take may still have to wait (R11).
func (r *Receiver) Check(f *Frame) Verdict {
	switch {
	case r.superseded.has(f.ID.LogID):
		return Zombie
	case f.ID.LogID != r.id.LogID:
		return Unknown
	case f.ID.over(r.id):
		return Zombie
	case f.ID != r.id:
		return Unknown // a sender sends frames only after this node has answered its hello
	case f.Seq <= r.taken:
		return Duplicate
	case f.Seq > r.taken+1:
		return Gap
	}
	return Take
}

// Took moves the hwm in memory to a frame whose verdict was Take.
func (r *Receiver) Took(f *Frame) {
	if f.Seq != r.taken+1 {
		panic(fmt.Sprintf("R4: %s from %s: frame %d taken after %d", r.Edge, r.From, f.Seq, r.taken))
	}
	r.taken, r.takenLife = f.Seq, f.Life
	r.gap = false
}

// Dropped notes a frame that was not taken, so that its sender, id, is told.
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
	Life       Life // the life that made frame Seq (R14)
	Superseded []LogID
}

// Hwm returns the hwm in memory, to be stored in the same commit as the effects that moved it (R5).
func (r *Receiver) Hwm() Hwm {
	return Hwm{Edge: r.Edge, From: r.From, ID: r.id, Seq: r.taken, Life: r.takenLife, Superseded: slices.Clone(r.superseded.logs)}
}

// Stored reports that the commit with h is on disk.
func (r *Receiver) Stored(h Hwm) {
	if h.ID.LogID != r.id.LogID {
		return // the sender's log was replaced meanwhile; h counts in the old one
	}
	if h.Seq > r.taken {
		panic(fmt.Sprintf("R5: %s from %s: hwm %d stored, only %d taken", r.Edge, r.From, h.Seq, r.taken))
	}
	if h.Seq > r.stored {
		r.stored, r.storedLife = h.Seq, h.Life
		r.ackDue = true
	}
}

// Restore sets the state from a snapshot or a log record.
func (r *Receiver) Restore(h Hwm) {
	r.id, r.echo = h.ID, h.ID.Life
	r.taken, r.stored, r.takenLife, r.storedLife = h.Seq, h.Seq, h.Life, h.Life
	r.superseded = supersededLogs{logs: slices.Clone(h.Superseded)}
}

// Reconnected reports that frames may have been lost on the way here: the sender is asked to continue from the hwm. It is for edges where
// the receiver connects (SUB), so that the sender does not notice.
func (r *Receiver) Reconnected() { r.ackDue, r.gap, r.askedAt = true, true, time.Time{} }

// Pace says how often messages are repeated.
type Pace struct {
	Repeat time.Duration // longest pause between acknowledgements (R6)
	Ask    time.Duration // shortest pause between requests for a resend: frames behind the gap keep arriving
	Hello  time.Duration // pause between hellos while a peer has not answered or nothing moves
}

// DefaultPace suits networks from a single machine to a continent.
var DefaultPace = Pace{Repeat: 500 * time.Millisecond, Ask: 100 * time.Millisecond, Hello: 300 * time.Millisecond}

// Ack returns the acknowledgement that is due; false if none is. One is due when the hwm has moved, when a frame was dropped, and at least
// every pace.Repeat. node and self are the receiver's own name and identity.
func (r *Receiver) Ack(node NodeID, self Identity, now time.Time, pace Pace) (Ack, bool) {
	// Ask for a resend only when all taken frames are stored: then hwm+1 is the missing frame.
	ask := r.gap && r.taken == r.stored && now.Sub(r.askedAt) >= pace.Ask
	if !ask && !r.ackDue && now.Sub(r.ackedAt) < pace.Repeat {
		return Ack{}, false
	}
	r.ackDue = false
	r.ackedAt = now
	if r.taken == r.stored {
		// Answer a new life of the sender only when all frames taken from its former lives are stored. From the answer the sender decides whether
		// its log continues the frames here (R14). Its next frames must not get numbers that were taken but not yet acknowledged.
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

// Rejection returns the acknowledgement that tells a superseded opening of the sender so (R14); false if none is due.
// If that opening no longer listens, the message is lost.
func (r *Receiver) Rejection(node NodeID, self Identity, now time.Time, pace Pace) (Ack, bool) {
	if r.rejected.Life == 0 || now.Sub(r.rejectedAt) < pace.Ask {
		return Ack{}, false
	}
	a := Ack{Edge: r.Edge, To: r.From, Log: r.rejected.LogID, Echo: r.rejected.Life, Superseded: true, Receiver: node, ID: self}
	r.rejected, r.rejectedAt = Identity{}, now
	return a, true
}
