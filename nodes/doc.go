// Package nodes runs one node of the pipeline: it puts the shell and the core between the sockets, the log and the clock.
//
// The shell (package shell) and the core within it (package core) decide; this package only acts. Two goroutines share the work, and a
// third one reports it. A node that parses chunks starts some more while it parses:
//
//	loop       owns the shell. Waits for events of the transport, requests of clients, the committer's answers and the alarm, tells the
//	           shell, and does what its Step says.
//	committer  owns the log for writing. Carries out one job at a time: appends and fsyncs a commit, saves a snapshot, cuts the log.
//	beats      publishes heartbeats, also while the loop works on something for long, and ends the process if the loop hangs (N9).
//	parsing    one goroutine for each piece of a file that is read in place, while the loop does something else; and one for each of the
//	           chunks
//	           that clients' requests brought together, which the loop awaits before it takes them (role.Preparer).
//
// While the committer waits for the disk, the loop continues: what arrives meanwhile becomes the next commit (N1). So under
// load commits are large, and an idle node answers within one fsync.
//
// The node never sends a byte that is not on disk (R3) because the core never offers one; it never starts on a data
// directory that another process holds (N4), nor on a log that is damaged beyond what a crash explains (W2).
package nodes
