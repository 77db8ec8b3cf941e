// Package chaos has posta chaos: it injects faults into nodes and medics of a running cluster, and shows how they come back.
//
//	chaos.go   the command and its flags
//	inject.go  the faults, one after the other, and the wait until all is well
//	lines.go   the lines of faults and of the journal in the order in which things happened
//	json.go    what --json prints
package chaos
