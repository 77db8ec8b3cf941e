package core

import "time"

// Kind says what a message is for.
type Kind byte

// The kinds. All of them are published to all. The medic that is named in To acts on it, the others learn the term.
const (
	Beat        Kind = iota + 1 // a sign of life; a leader's also says that it leads
	Election                    // "I hear no leader: is a higher medic there?" (M2)
	Alive                       // the answer of a higher one
	Coordinator                 // "I lead from now on"
	Command                     // the leader's order, to a medic that reaches the host
	Outcome                     // what became of an order
	Entries                     // of the journal (M8)
	Hint                        // a process was seen to end
)

// Message is what medics say to each other. It may be lost, late, and come twice: each is repeated, or does no harm by its absence.
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
	Oldest  EntryID // Entries: the sender has nothing before this one any more

	Node     NodeID // Hint
	EndedPID int    // Hint: the process; 0: there is none
}
