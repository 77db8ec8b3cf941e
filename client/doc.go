// Package client runs an analysis on a cluster: it finds the files, sends them, and brings back the answers. It is what the
// commands use; it knows the protocol (package protocol) and nothing of what is inside the cluster.
//
// The words:
//
//	entry    an endpoint the caller knows; the first that answers tells which inputs and outputs there are
//	conn     a REQ socket to one endpoint; when no reply comes, it closes the socket, opens another and sends the same again (the
//	         ZeroMQ guide's lazy pirate)
//	lane     a conn that sends chunks; an input gets one or more, each with its own sequence numbers
//	chunk    whole records of one file
//
// The main loop is in run.go:
//
//	Dial     ask the entries in turn for the inputs and outputs
//	Open     at every input, in their order, so that the first decides which session is admitted and which waits (busy)
//	Upload   stream by stream: readers cut files into chunks, lanes pull chunks and wait for each to be durable; then the
//	         stream's end is said to every input
//	Results  ask an output for part after part; another one when it is silent
//	Finish   close the session at every input and output (or Cancel, when anything went wrong)
//
// Lanes pull chunks: a silent or slow input delays the chunk that its lane holds and nothing else. A late reply is the cluster's
// backpressure, so it is never an error: the client repeats the request for as long as any node of the cluster answers.
//
// What it never does: read a whole file into memory (it holds a few chunks per lane, however long the file), send a file
// from outside the directory it was given, leave a goroutine or an open session behind, or read from a file twice.
package client
