// Package client runs an analysis on a cluster: it finds the files, sends them, and brings back the answers. It is what the
// commands use; it knows the protocol (package protocol) and nothing of what is inside the cluster.
//
// What is asked of whom, in which order and how often is decided by a state machine, package client/core (N10). This package is what
// runs it: sockets, files, a timer, and the waiting of the caller.
//
// The words:
//
//	entry    an endpoint the caller knows; the first that answers tells which inputs and outputs there are
//	line     drives one connection of the session: a REQ socket, which is closed when no reply comes, and opened again for the
//	         same request (the ZeroMQ guide's lazy pirate). It also fetches the chunks if it is a lane's
//	lane     a connection that sends chunks; an input gets one or more, each with its own sequence numbers
//	reader   cuts files into chunks
//	chunk    whole records of one file
//
// The main loop is in run.go:
//
//	Dial     ask the entries in turn for the inputs and outputs
//	Open     at every input, in their order, so that the first decides which session is admitted and which waits (busy); from then on
//	         the session keeps itself alive
//	Upload   stream by stream: readers cut files into chunks, lanes pull chunks and wait for each to be durable; then the
//	         stream's end is said to every input
//	Results  ask an output for part after part; another one when it is silent
//	Finish   close the session at every input and output (or Cancel, when anything went wrong)
//
// Whatever happens is told to the session in events.go, by the goroutine to which it happens, and what the session wants done is handed
// to the lines at once. Lanes pull chunks: a silent or slow input delays the chunk that its lane holds and nothing else. A late reply is
// the cluster's backpressure, so it is never an error: the client repeats the request for as long as any node of the cluster answers.
//
// What it never does: read a whole file into memory (it holds a few chunks per lane, however long the file), send a file
// from outside the directory it was given, leave a goroutine or an open session behind, or read from a file twice.
package client
