// Package pulse listens to what nodes say of themselves (package heartbeat) and remembers it.
//
//	Board     who was heard when, how fast they work (pure: time comes in)
//	Listener  a SUB socket to the control sockets of all nodes, and a goroutine that writes the board
//
// It never asks a node anything: a node that hangs cannot make it hang.
package pulse
