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
	// ErrStillThere is returned by Restarter.Kill when a process does not go although it was killed: it hangs in the kernel.
	ErrStillThere = errors.New("it is still there")
)

// Restarter starts and ends the processes of nodes. Its methods may be called by several goroutines at once. A restart (M5) is
// Kill and then Start: what hangs is never waited for.
type Restarter interface {
	// Start gives the node a process and returns when it exists; that it works is for heartbeats to say. ErrRunning: it
	// has one, and Wait waits for the end of that one.
	Start(ctx context.Context, node NodeID) error
	// Terminate asks the node to drain and go (N5) and does not wait. Nothing there is no error.
	Terminate(ctx context.Context, node NodeID) error
	// Kill ends the node's process whatever it does, and returns when it is gone. Nothing there is no error.
	Kill(ctx context.Context, node NodeID) error
	// Alive says whether the node has a process.
	Alive(ctx context.Context, node NodeID) (bool, error)
	// Wait returns when the node has no process. The error is ctx's, or says why nobody can tell.
	Wait(ctx context.Context, node NodeID) (Death, error)
}

// Pids is what a Restarter may do beside: tell processes. Without it no hints are possible.
type Pids interface {
	// Pid tells one process of the node from another. 0: it has none. An error: nobody can tell, which is no hint of anything.
	Pid(node NodeID) (int, error)
}

// Watcher is a Restarter that is told of ends instead of asking for them, because each question is expensive.
type Watcher interface {
	// Watch keeps Seen up to date until ctx ends.
	Watch(ctx context.Context)
	// Seen is what is known without a question. It may lag behind, so before an act the Restarter itself is asked.
	Seen() Pids
}
