// Package agent is a medic as a process: the shell around package core.
//
//	SUB  the control sockets of all nodes and medics: heartbeats "H" of nodes, messages "M" of medics
//	PUB  its own control socket: "M", and three times a second its journal, "J", for `posta status` and other readers
//	log  its own data directory: terms and journal, locked by this process (N4)
//	host what the hosts it acts on have seen, shared with their other medics (package host)
//
// One goroutine owns the core and runs the loop of core's doc.go. It starts tasks beside it, and awaits them all at its end:
//
//	store           makes one batch of the core durable; a full disk makes it wait, and the medic goes on watching
//	execute         carries out one order, because a kill or start may take its time; the host's lock makes orders take turns
//	watchProcesses  sees the ends of processes on its hosts: hints, which shorten a suspicion and never make one
//
// What it never does: answer for a node, read a node's data, or outlive its log: a failed fsync ends it, and other medics start it again.
package agent
