// Package shell decides everything that a node decides around its core: when a commit is closed, when a snapshot is due and how far the log
// may be cut, what a full disk means, when a heartbeat and the next alarm are due, how a node drains, and when its loop ends (N10).
//
// It does no I/O, starts no goroutine and reads no clock, so the same code runs in production (package nodes) and in the simulator
// (test/sim). What runs it only selects:
//
//	s, _ := shell.New(config, now)
//	err := s.Recover(log, analysis)              // N3: snapshot, replay, what a retired log left
//	for {
//		o := s.Step(now)                         // core.Tick, core.Advance, the next job, what may leave
//		if o.End != nil { … }                    // ErrDrained, ErrRetired, or an error of the log (W4)
//		give o.Job to the committer              // at most one is under way
//		send o.Acks, o.Sends, o.Replies          // s.Unsent for what the transport did not take
//		wait for one of these, and tell the shell:
//			the transport                        // s.Event
//			clients                              // s.Prepare, s.Requests
//			the committer                        // s.Answer(shell.CarryOut(log, job))
//			o.Alarm
//			the order to stop                    // s.Drain
//	}
//
// The words:
//
//	job      what the committer does to the log in one go: store a commit, save a snapshot, cut; or retire the log. CarryOut does it,
//	         in production and in the simulator alike.
//	answer   what became of a job.
//	log      the methods of package wal that a job is carried out with, and those that recovery and retirement need.
//	reserve  room on the disk that the log gives up, on a full disk, for what lets it be cut: a session's end, a snapshot (W5).
//	alarm    the time at which Step has to be called if nothing else calls for it earlier.
//
// The shell never has two jobs under way (N2), never lets anything leave that the core does not offer (R3), and never gives the log an
// order while it is retired (R14).
package shell
