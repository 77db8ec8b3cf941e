package core

import "time"

// Kind says what a message is for.
type Kind byte

// The kinds. Every message is published to all medics. The medic in To acts on it; the others only learn the term.
const (
	Beat        Kind = iota + 1 // a sign of life; a leader's also says that it leads
	Election                    // "I hear no leader: is a higher medic there?" (M2)
	Alive                       // the answer of a higher one
	Coordinator                 // "I lead from now on"
	Command                     // the leader's order, to a medic that reaches the host
	Outcome                     // the report of an order
	Entries                     // of the journal (M8)
	Hint                        // a process was seen to end
)

// Message is a message between medics. It may be lost, late or repeated. Each message is either sent repeatedly, or its loss does no harm.
type Message struct {
	Kind Kind
	From NodeID
	ID   Identity
	To   NodeID // "" for all
	Term Term   // the newest that is durable at the sender

	Leading bool          // Beat
	Uptime  time.Duration // Beat
	Reach   []string      // Beat: hosts the sender can act on
	Have    []EntryID     // Beat: how far its journal reaches durably, see Journal.extents

	Order  Order  // Command
	Report Report // Outcome

	Entries []Entry // Entries, in the journal's order
	Oldest  EntryID // Entries: the first entry that the sender still has

	Node     NodeID // Hint
	EndedPID int    // Hint: the process; 0: there is none
}
