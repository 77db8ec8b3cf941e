// Package status has posta status: one look at all nodes and medics, or one every second.
//
//	status.go    the command, and the table of nodes
//	sessions.go  the sessions that run
//	board.go     --watch on a terminal
//	json.go      what --json prints
package status
