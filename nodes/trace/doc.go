// Package trace records where the time of a session goes in one node, for `posta trace`. A node always records: it keeps the running
// sessions and the last Kept sessions that have left it, only in memory.
//
//	Recorder   belongs to the node's loop. The core tells it what happens, and it reads the clock that it was given
//	Session    what is recorded of one session. At each moment the session is in one state, so the states add up to its time in the node
//	Report     a node's answer about one session, with its wire form
//
// Each link that ends or begins at the node has a queue. For a link that ends here, the queue measures the time from a frame's arrival
// until the roles take it. For a link that begins here, it measures the time from when a frame is durable until every receiver has the
// frame's effect on disk.
//
// A Report gives times as ages, so the asker need not know the clock of the node's host. The package has no lock, no I/O and no goroutine.
// All methods of a nil Recorder do nothing.
package trace
