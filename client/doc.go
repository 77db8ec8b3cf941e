// Package client runs an analysis on a cluster: it finds the files, sends them, and brings back the answers. The commands use it. It knows
// the protocol (package protocol), but not the inside of the cluster.
//
// A state machine, package client/core, decides what to ask which node, in which order and how often (N10). This package runs it: it has
// the sockets, the files, a timer, and the caller that waits.
//
// The words:
//
//	entry    an endpoint the caller knows; the first that answers tells which inputs and outputs there are
//	line     drives one connection of the session: a REQ socket, which is closed if no reply comes, and opened again for the
//	         same request (the ZeroMQ guide's lazy pirate). The line of a lane also fetches its chunks
//	lane     a connection that sends chunks; an input gets one or more, each with its own sequence numbers
//	reader   cuts files into chunks
//	chunk    whole records of one file
//
// The main loop is in run.go:
//
//	Dial     ask the entries in turn for the inputs and outputs
//	Open     at every input, in their order, so that the first input decides which session is admitted and which waits (busy); from then on
//	         pings keep the session alive
//	Upload   stream by stream: readers cut files into chunks, lanes pull chunks and wait for each to be durable; then
//	         every input is told that the stream has ended
//	Results  ask an output for part after part; if it is silent, ask another one
//	Finish   close the session at every input and output (or Cancel, when anything went wrong)
//
// In events.go, the goroutine that sees an event tells it to the session, and hands to the lines at once what the session wants done. Lanes
// pull chunks: a silent or slow input delays only the chunk that its lane holds. A late reply is the cluster's backpressure, so it is never
// an error: the client repeats the request while any node of the cluster answers.
//
// What it never does: read a whole file into memory (it holds a few chunks per lane, however long the file), send a file from outside the
// directory it was given, leave a goroutine or an open session, or read a part of a file twice.
package client
