// Package core decides what a medic does: it detects failures, takes part in elections, gives and carries out orders, and keeps the journal
// (design §9). It is a state machine without I/O, clock or goroutine. Package agent is the shell around it, and test/medicsim runs it in a
// simulated world that injects faults.
//
//	detector   when each member was heard; only time in which this medic itself was awake counts as silence (M6)
//	bully      which medic leads: one that hears no leader asks the higher medics, and if none objects begins a new generation (M2, M3)
//	reconcile  how the leader treats a target: suspect, wait in a crash loop, order, await the new incarnation (M5)
//	isolation  what a medic must not do while it hears nobody (M7)
//	executor   how a medic handles an order for its host
//	Fence      the newest term that a host has seen, and how the host decides about an order; pure, too (M4)
//	Journal    what happened: a set of entries that leaders write and all medics keep (M8)
//
// The main loop is the shell's:
//
//	take everything that has arrived: c.Receive, c.HeardNode, c.ProcessEnded, c.Executed
//	c.Tick(now)
//	if records := c.Seal(); records != nil { store them in another goroutine, then c.Stored() }
//	o := c.Output()   // may be sent: all that it depends on is durable
//	publish o.Messages, raise o.Fence, execute o.Orders
//
// A batch holds what must wait for the disk: orders, messages of a new generation, and messages with new entries leave only after Stored
// was called for their batch.
//
// # Targets
//
// For the leader every node and every other medic is a target. A target is in one of four phases, and this table has all changes of phase.
// In the code it is the map transitions. A change that is not in the table is a bug and stops the medic.
//
//	from      event      to        writes     when
//	well      missed     waiting   Suspected  it is silent for too long, or its process was seen to end; and this medic is not isolated
//	well      recovered  well      Recovered  an earlier leader left its incident open, or it came back by itself; and it is at work
//	waiting   back       well      -          it is heard: it had only been slow
//	waiting   due        ordered   -          the pause of its crash loop is over, and it is silent still; the order is given, and repeated
//	ordered   recalled   waiting   -          the order has not left, and it was heard, or this medic slept or is isolated
//	ordered   back       well      -          no medic reaches its host, and it is heard
//	ordered   restarted  starting  Restarted  report Done
//	ordered   adopted    starting  Adopted    report Found: a process was there that is too young to be the one that was missed
//	ordered   failed     waiting   Missed     report Failed; the next order comes after the pause of a crash loop
//	ordered   held       waiting   -          report Held: the host is being taken down; the next order comes after suspect_after
//	ordered   late       waiting   -          report Late; the next order comes after a heartbeat
//	starting  missed     waiting   Suspected  the new incarnation is silent, its process ended, or nothing was heard in the start timeout
//	starting  recovered  well      Recovered  the new incarnation is at work; or an adopted process is, though it is the old incarnation
//
// A report Refused changes no phase: it ends the term, and with it all targets.
//
// What it never does: act as leader without leading, rely on a single message (all are repeated), restart a process because this medic
// itself slept, or use a generation that is not durable.
package core
