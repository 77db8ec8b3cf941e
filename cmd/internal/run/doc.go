// Package run has posta run, and starts the private cluster of one command.
//
//	run.go    the command; starting, supervising and removing a cluster
//	shape.go  how many processes it has on this machine
package run
