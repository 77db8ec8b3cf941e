// Package nodes runs one node of the pipeline: it puts the core between the sockets, the log and the clock.
//
// The core (package core) decides; this package acts. Two goroutines share the work. Where chunks are parsed there are some more for as
// long as that takes:
//
//	loop       owns the core. Takes events of the transport, requests of clients, ticks, and stored commits; seals a commit
//	           when it is full or has waited long enough (flushTimer); sends what the core says may leave.
//	committer  owns the log for writing. Appends and fsyncs one commit at a time, saves snapshots, cuts the log.
//	parsing    one goroutine for each of the chunks that are at hand together; the loop awaits them before it takes the chunks
//	           (role.Preparer).
//
// While the committer waits for the disk, the loop goes on: what arrives meanwhile becomes the next commit (N1). So under
// load commits are large, and an idle node answers within one fsync.
//
// The node never sends a byte that is not on disk (R3) because the core never offers one; it never starts on a data
// directory that another process holds (N4), nor on a log that is damaged beyond what a crash explains (W2).
package nodes
