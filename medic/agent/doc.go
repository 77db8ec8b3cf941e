// Package agent is the process of a medic: the shell around package core.
//
//	SUB  the control sockets of all nodes and medics: heartbeats "H" of nodes, messages "M" of medics
//	PUB  its own control socket: "M", and three times a second its whole journal, "J", for `posta status` and other readers
//	log  its own data directory: terms and journal, locked by this process (N4)
//	host what the hosts on which it acts have seen, shared with their other medics (package host)
//
// One goroutine owns the core and runs the loop of core's doc.go. It starts tasks in other goroutines, and waits for all of them when it
// ends:
//
//	store           makes one batch of the core durable; on a full disk it waits, and the medic continues to watch
//	execute         carries out one order, because a kill or a start may be slow; the host's lock serialises orders
//	watchProcesses  sees when processes on its hosts end: hints, which shorten a suspicion and never cause one
//
// What it never does: answer for a node, read a node's data, or run on after a failed fsync: it ends, and other medics start it again.
package agent
