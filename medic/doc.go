// Package medic keeps nodes alive: it starts each process that died again.
//
// In a cluster that lasts (`posta up`) medics do this. Each is a process of its own (docs/medics.md):
//
//	core     decides: failure detector, election, orders, journal; pure; test/medicsim runs it in a simulated world
//	agent    the process of a medic
//	host     the newest term that a machine has seen, and the lock under which medics act there (M4)
//	process  the Restarter for processes; siblings are named for how they do it
//
// This package holds what they share with `posta run`, which starts nodes for a single run:
//
//	Restarter   what can start and end the process of a node
//	Backoff     how soon a node is started again
//	Stop        ends nodes: asks them first (N5), then kills those that still run
//	Roster      which node is to be started when, for a Supervisor (pure)
//	Supervisor  the shell around a Roster and a Restarter: the process that started the nodes learns of their ends from the
//	            operating system, which is faster than waiting for silence; it sees neither hung nodes nor other machines
//
// The Supervisor's loop:
//
//	for each node the roster says is due: Start, then Wait for its death, in a goroutine of its own
//	report a death to the roster, which says when the node is due again: at once, or in a crash loop after growing pauses; it never gives up
//
// What the package never does: start a second process for a node while the first may be alive, give up on a node, or stop a node because
// its supervisor ended. The Restarter decides whether nodes outlive their supervisor.
package medic
