// Package cluster has the commands for a cluster of processes on this machine and for the file that describes it: posta up, posta down
// and posta topology.
//
//	up.go, up_console.go  starting what does not run, and waiting until it is heard
//	down.go               stopping all
//	note.go, departed.go  what the last posta up started, and the data of nodes that have left
//	topology.go           the file: check, show, draw, make
//	published.go          clusters whose containers publish their ports
package cluster
