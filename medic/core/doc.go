// Package core decides what a medic does: it watches, elects, orders, obeys and remembers (design §9). It is a state machine without I/O,
// clock or goroutine. Package agent is the shell around it, and test/medicsim runs it in a simulated world that injects faults.
//
//	detector   who was heard when; silence counts only while this medic was awake itself (M6)
//	bully      who leads: no leader is heard, higher medics are asked, none of them objects, a new generation begins (M2, M3)
//	reconcile  how the leader treats a target: suspect, wait in a crash loop, order, await the new incarnation (M5)
//	isolation  what a medic that hears nobody does not do (M7)
//	executor   how any medic obeys an order for its host
//	Fence      what a host has seen, and how it decides about an order, pure too (M4)
//	Journal    what happened: a set of entries that leaders write and all keep (M8)
//
// The main loop is the shell's:
//
//	take everything that has arrived: c.Receive, c.HeardNode, c.ProcessEnded, c.Executed
//	c.Tick(now)
//	if records := c.Seal(); records != nil { store them beside the loop, then c.Stored() }
//	o := c.Output()   // all of it may leave: what it depends on is durable
//	publish o.Messages, raise o.Fence, execute o.Orders
//
// "Only after it is stored" is a field of a batch: orders, and messages that speak for a new generation or of entries, stay in the batch
// until Stored was called for it.
//
// # Targets
//
// To its leader every other node and medic is a target. A target is in one of four phases, and this table is all that changes them. The
// code has it as transitions; a step that is not in it is a bug, and stops the medic.
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
// A report Refused changes no phase: it ends the term, and all targets with it.
//
// What it never does: act without being leader, take a message for a promise (all are repeated), restart a process because it was itself
// asleep, or use a generation that is not on its disk.
package core
