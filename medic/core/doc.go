// Package core decides what a medic does: it watches, elects, orders, obeys and remembers (design §9). It is a state machine without I/O,
// clock or goroutine; package agent is the shell around it, and package sim runs it in a world that does its worst.
//
//	detector   who was heard when; silence counts only while this medic was awake itself (M6)
//	bully      who leads: no leader is heard, the question is put, nobody higher answers, a new generation begins (M2, M3)
//	patient    how the leader treats one who is watched: suspect, wait in a crash loop, order, await the new life (M5)
//	executor   how any medic obeys an order for its host
//	Fence      what a host has seen, and how it judges an order, pure too (M4)
//	Journal    what happened: a set of entries that leaders write and all keep (M8)
//
// The main loop is the shell's:
//
//	take everything that has arrived: c.Take, c.HeardNode, c.Gone, c.Carried
//	c.Tick(now)
//	if records := c.Seal(); records != nil { store them beside the loop, then c.Stored() }
//	o := c.Output()   // all of it may leave: what it depends on is durable
//	publish o.Messages, raise o.Fence, carry out o.Orders
//
// "Only after it is stored" is a field of a batch, not a habit: orders, and messages that speak for a new generation or of entries, stay
// in the batch until Stored was called for it.
//
// What it never does: act without being leader, take a message for a promise (all are repeated), restart somebody because it was itself
// asleep, or use a generation that is not on its disk.
package core
