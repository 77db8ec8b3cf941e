package faults

import (
	"context"

	"posta.dev/posta/medic"
)

// Kind is a kind of fault.
type Kind string

// The kinds.
const (
	Kill  Kind = "kill"  // SIGKILL
	Hang  Kind = "hang"  // SIGSTOP for good: medics have to kill it
	Pause Kind = "pause" // SIGSTOP for a while
	Cut   Kind = "cut"   // off the network for a while
)

// Lasts reports whether the fault lasts until Undo ends it.
func (k Kind) Lasts() bool { return k == Pause || k == Cut }

// Injector makes faults happen.
type Injector interface {
	// Kinds returns the faults that the injector supports.
	Kinds() []Kind
	// Pid returns the target's process, which tells incarnations apart; 0 if the target is dead.
	Pid(target medic.NodeID) (int, error)
	// Do injects the fault into the process that the target has now.
	Do(ctx context.Context, k Kind, target medic.NodeID) error
	// Undo ends a lasting fault, unless the target was restarted meanwhile. pid is the process that Do hit.
	Undo(ctx context.Context, k Kind, target medic.NodeID, pid int) error
	// Ready returns when all nodes have been heard.
	Ready(ctx context.Context) error
	// Close frees the injector's connections. It ends no fault.
	Close() error
}
