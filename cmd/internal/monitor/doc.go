// Package monitor listens to what nodes report about themselves (package heartbeat) and remembers it.
//
//	nodeTable  which node was heard when, and how fast it works (pure: time comes in); medicTable likewise
//	Listener   a SUB socket to the control sockets of all nodes or medics, and a goroutine that writes their table
//
// It never asks a node anything, so a node that hangs cannot make it hang.
package monitor
