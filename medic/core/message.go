package core

import "time"

// Kind says what a message is for.
type Kind byte

// The kinds. All of them are published; who is named in To is meant, the others learn the term from it.
const (
	Beat        Kind = iota + 1 // a sign of life; a leader's also says that it leads
	Election                    // "no leader is heard: who is higher?" (M2)
	Alive                       // the answer of a higher one
	Coordinator                 // "I lead from now on"
	Command                     // the leader's order to who can carry it out
	Outcome                     // what became of an order
	Entries                     // of the journal (M8)
	Hint                        // a process was seen to end
)

// Message is what medics say to each other. It may be lost, late, and come twice: each is either repeated or of no consequence.
type Message struct {
	Kind Kind
	From NodeID
	ID   Identity
	To   NodeID // "" for all
	Term Term   // the newest that is durable at the sender

	Leading bool          // Beat
	Uptime  time.Duration // Beat
	Reach   []string      // Beat: hosts the sender can act on
	Have    []Extent      // Beat: what it has of the journal, durably

	Order  Order  // Command
	Report Report // Outcome

	Entries []Entry // Entries, in the journal's order
	Oldest  EntryID // Entries: the sender has nothing before this one any more

	Node     NodeID // Hint
	EndedPID int    // Hint: the process; 0: there is none
}
