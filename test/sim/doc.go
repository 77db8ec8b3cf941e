// Package sim runs the real shells and cores of a whole cluster over a simulated network, simulated disks and a simulated clock, and
// injects faults: it drops, repeats and delays messages, cuts connections, crashes nodes between any two steps, loses what was not
// synced, fills and wipes disks, and stops processes and lets them continue. docs/simulation.md describes it in detail.
//
// The words:
//
//	world     everything of one run: clock, queue of events, the one source of chance, nodes, wires, clients
//	seed      decides everything; the same seed gives the same run, event by event
//	node      a shell with its core and roles, run like the loop of package nodes runs it, and a disk that survives it
//	wire      one direction of one link: first in, first out, with an end that may be cut off
//	client    a session as package client runs it (client/core), over simulated connections; its answer is compared with the oracle's
//	checker   knows what is durable at every node, and checks everything that leaves one (R2, R3, R5)
//
// The main loop takes the next event, lets it happen, and stops at the first violated rule:
//
//	for w.err == nil && !w.finished() { w.Next()() }
//
// A run has two phases. While faults are injected only safety is demanded; then everything is healed, and liveness too: each
// session ends, with the right answer unless a fault that was injected into it permits a failure, and no node keeps
// anything of it.
//
// The package starts no goroutine, reads no clock and opens no file, so a run is repeated by its seed alone.
package sim
