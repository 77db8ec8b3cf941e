// Package medic keeps nodes alive: whatever dies is started again.
//
// What is there now is the lower half of design §9, M5 and M9: how a node is started and ended, and when.
//
//	Restarter   what can start and end the process of a node; siblings are named for how they do it (medic/process)
//	Roster      the decision: which node is to be started when (pure)
//	Supervisor  the shell around a Roster and a Restarter: it starts, waits for deaths, starts again, and reports
//	Stop        ends nodes: asks first (N5), kills who does not go
//
// Failure detection by heartbeats, the election of a leader and its journal are not there yet. Until they are, the process
// that started the nodes supervises them and sees a death in the operating system, which is sooner than any silence, but sees
// neither a hung node nor another machine.
//
// The main loop is in supervisor.go:
//
//	for each node the roster says is due: Start, then Wait for its death, in a goroutine of its own
//	a death goes to the roster, which says when the node is due again: at once, later and later in a crash loop, never not at all
//
// What the package never does: start a second process for a node whose first may live, give up on a node, or take a node down
// because its supervisor went away. Whether nodes outlive their supervisor is a matter of the Restarter.
package medic
