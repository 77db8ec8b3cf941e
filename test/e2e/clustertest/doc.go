// Package clustertest holds what tests of medics have in common, whether nodes are processes, containers or units:
//
//	Observer       hears what the nodes and medics of a cluster publish, without taking part
//	Load           analyses, several at a time, each answer checked
//	Cluster        an observer that checks: Strike harms some nodes and demands that they, and no others, come back after one restart
//	RecoveryTable  times from a kill to new work, step by step
//	Edges          of topologies that are written by hand
//	Build          compiles the program; ImageContext has what images are built from
//	ReplaceFile    changes a file that others read meanwhile
//	FreePorts      ports for a cluster
//	Command        runs a command; Orphan finds what killed runs have left behind
//
// Each test brings its own way to kill or stop a process.
package clustertest
