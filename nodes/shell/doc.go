// Package shell makes all decisions of a node outside its core: when a commit is closed, when a snapshot is due, how far the log may be
// cut, what happens on a full disk, when a heartbeat and the next alarm are due, how a node drains, and when its loop ends (N10).
//
// It does no I/O, starts no goroutine and reads no clock, so the same code runs in production (package nodes) and in the simulator
// (test/sim). The caller only has a select loop:
//
//	s, _ := shell.New(config, now)
//	err := s.Recover(log, analysis)              // N3: snapshot, replay, the heritage of a retired log
//	for {
//		o := s.Step(now)                         // core.Tick, core.Advance, the next job, the messages that may leave
//		if o.End != nil { … }                    // ErrDrained, ErrRetired, or an error of the log (W4)
//		give o.Job to the committer              // at most one is under way
//		send o.Acks, o.Sends, o.Replies          // s.Unsent for what the transport did not take
//		s.Worked(…)                              // how long this turn took
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
//	job      one piece of work of the committer on the log: store a commit, save a snapshot, cut; or retire the log. CarryOut does it, both
//	         in production and in the simulator.
//	answer   the result of a job.
//	log      the methods of package wal that jobs, recovery and retirement need.
//	reserve  disk space that the log gives up when the disk is full, for records that let it be cut: a session's end, a snapshot (W5).
//	alarm    the time at which Step has to be called if nothing else calls for it earlier.
//
// The shell never has two jobs under way (N2), never sends anything that the core does not offer (R3), and never gives the committer a job
// after the log is retired (R14).
package shell
