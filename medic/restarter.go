package medic

import (
	"context"
	"errors"

	"posta.dev/posta/topology"
)

// NodeID names a node: "joiner-1".
type NodeID = topology.NodeID

var (
	// ErrRunning is returned by Restarter.Start when the node has a process already.
	ErrRunning = errors.New("it is running already")
	// ErrStillThere is returned by Restarter.Kill when a process was killed and still exists: it hangs in the kernel.
	ErrStillThere = errors.New("it is still there")
)

// Restarter starts and ends the processes of nodes. Its methods may be called by several goroutines at once. A restart (M5) is
// Kill and then Start: nothing waits for a hung process.
type Restarter interface {
	// Start starts the node's process and returns when the process exists; whether it works, its heartbeats show. ErrRunning: the node has a
	// process already, and Wait waits for its end.
	Start(ctx context.Context, node NodeID) error
	// Terminate asks the node to drain and exit (N5), and does not wait. It is not an error if the node has no process.
	Terminate(ctx context.Context, node NodeID) error
	// Kill ends the node's process in any state, and returns when it is gone. It is not an error if the node has no process.
	Kill(ctx context.Context, node NodeID) error
	// Alive says whether the node has a process.
	Alive(ctx context.Context, node NodeID) (bool, error)
	// Wait returns when the node has no process. The error is ctx's, or says why the end could not be observed.
	Wait(ctx context.Context, node NodeID) (Death, error)
}

// Pids is an optional ability of a Restarter: it tells which process a node has. Medics need it for hints.
type Pids interface {
	// Pid returns the node's process, 0 if it has none. After an error nothing is known, so it is not a hint.
	Pid(node NodeID) (int, error)
}

// Watcher is a Restarter that is notified when a process ends. It does not poll, because each question is expensive.
type Watcher interface {
	// Watch keeps Seen up to date until ctx ends.
	Watch(ctx context.Context)
	// Seen is what the events have shown. It may lag behind, so the Restarter itself is asked before something is done.
	Seen() Pids
}
