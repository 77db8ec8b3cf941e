// Package client runs an analysis on a cluster: it finds the files, sends them, and brings back the answers. It is what the
// commands use; it knows the protocol (package protocol) and nothing of what is inside the cluster.
//
// The words:
//
//	entry    an endpoint the caller knows; the first that answers tells which inputs and outputs there are
//	line     a REQ socket to one endpoint, with the lazy pirate's habit: hears nothing, hangs up, calls again, says the same
//	lane     a line that carries chunks; an input gets one or more, each with its own sequence numbers
//	piece    whole records of one file, not yet given to a lane
//
// The main loop is in run.go:
//
//	Dial     ask the entries in turn who the inputs and outputs are
//	Open     at every input, in their order, so that the first decides who is admitted and who waits (busy)
//	Upload   stream by stream: readers cut files into pieces, lanes pull pieces and wait for each to be durable; then the
//	         stream's end is said to every input
//	Results  ask an output for part after part; another one when it is silent
//	Farewell close (or cancel, when anything went wrong) at every input and output
//
// Lanes pull, nobody pushes: a silent or held-back input delays the piece its lane holds and nothing else. A reply that is
// late is the cluster's way to say "not so fast", so it is never an error; the client repeats itself for as long as anything
// in the cluster answers.
//
// What it never does: read a whole file into memory (it holds a few chunks per lane, however long the file), send a file
// from outside the directory it was given, leave a goroutine or an open session behind, or read from a file twice.
package client
