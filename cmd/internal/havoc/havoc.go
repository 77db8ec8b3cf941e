package havoc

import (
	"context"

	"posta.dev/posta/medic"
)

// Kind is a bad thing.
type Kind string

// The kinds.
const (
	Kill  Kind = "kill"  // SIGKILL
	Hang  Kind = "hang"  // SIGSTOP for good: medics have to kill it
	Pause Kind = "pause" // SIGSTOP for a while
	Cut   Kind = "cut"   // off the network for a while
)

// Lasts says whether Undo is to follow.
func (k Kind) Lasts() bool { return k == Pause || k == Cut }

// Maker does bad things.
type Maker interface {
	// Kinds is what it can do.
	Kinds() []Kind
	// Pid tells lives apart; 0: it is dead as it is.
	Pid(target medic.NodeID) (int, error)
	// Do does it to whatever life there is.
	Do(ctx context.Context, k Kind, target medic.NodeID) error
	// Undo ends what lasts, unless somebody has restarted the target meanwhile: pid is the life that it was done to.
	Undo(ctx context.Context, k Kind, target medic.NodeID, pid int) error
	// Ready returns when heartbeats of all nodes are there.
	Ready(ctx context.Context) error
	// Close leaves everything as it is.
	Close() error
}
