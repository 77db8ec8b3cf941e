// Package agent is a medic as a process: the shell around package core.
//
//	SUB  the control sockets of all nodes and medics: heartbeats "H" of nodes, messages "M" of medics
//	PUB  its own control socket: "M", and twice a second its journal, "J", for `posta status` and whoever else asks
//	log  its own data directory: terms and journal, locked by this process (N4)
//	host what the hosts it acts on have seen, shared with their other medics (package host)
//
// One goroutine owns the core and runs the loop of core's doc.go. Beside it:
//
//	clerk     stores what the core wants stored, one batch after the other; a full disk makes it wait, and the medic goes on watching
//	hands     one for each order, because a kill or start may take its time; the host's lock makes them take turns
//	lookout   sees the ends of processes on its hosts: hints, which shorten a suspicion and never make one
//
// What it never does: answer for a node, read a node's data, or outlive its log: a failed fsync ends it, and other medics start it again.
package agent
