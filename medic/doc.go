// Package medic keeps nodes alive: whatever dies is started again.
//
// In a cluster that lasts (`posta up`) medics do it, processes of their own (docs/medics.md):
//
//	core     decides: failure detector, election, orders, journal; pure; test/medicsim runs it in a simulated world
//	agent    is a medic as a process
//	host     what a machine has seen of medics, and the lock under which they act (M4)
//	process  the Restarter for processes; siblings are named for how they do it
//
// This package holds what they share with `posta run`, which starts nodes for a single run:
//
//	Restarter   what can start and end the process of a node
//	Backoff     how soon a node is started again
//	Stop        ends nodes: asks first (N5), kills what does not go
//	Roster      which node is to be started when, for a Supervisor (pure)
//	Supervisor  the shell around a Roster and a Restarter: the process that started the nodes sees their ends in the
//	            operating system, which is sooner than any silence, but sees neither a hung node nor another machine
//
// The Supervisor's loop:
//
//	for each node the roster says is due: Start, then Wait for its death, in a goroutine of its own
//	a death goes to the roster, which says when the node is due again: at once, later and later in a crash loop, never not at all
//
// What the package never does: start a second process for a node whose first may live, give up on a node, or take a node down
// because its supervisor went away. Whether nodes outlive their supervisor is a matter of the Restarter.
package medic
