package shell

import (
	"time"

	"posta.dev/posta/nodes/core"
)

// How long a commit waits for more input.
const (
	linger         = 20 * time.Millisecond // since the last commit, at most, if no client waits for an answer
	clientDeadline = time.Millisecond      // since the last request of a client, if clients wait for an answer
	waitForWork    = 20                    // a commit waits for so many times the work of the loop in a time as long as linger
)

// flushTimer decides when a commit is closed. Without it a node commits whenever its disk is free. On a fast disk that is once for each
// frame: 2,800 fsyncs for 750 MB of flights where 1,000 are enough, each with wake-ups here and at the receivers, and tables are folded
// frame by frame. The first input after a pause is committed at once. So is everything on which the course of a session depends.
//
// Waiting gains something only if more input comes meanwhile. So a commit waits for twenty times the work of the loop in the 20 ms before
// the commit before it. A loop that works for 5 % of its time or more waits for all of linger, and one with an occasional small frame does
// not notice its wait. In between commits grow and shrink with the load: there is no threshold at which their rhythm jumps. The work since
// the last commit was rejected as the measure: each alarm is work, too, and would move the time for which it was set. So were counts of
// frames: a frame may hold ten rows or a million.
//
// A delay for every commit was rejected: a small session would wait for it in each stage. To linger while clients wait was rejected, too: a
// client with a single lane would wait for it with every chunk. clientDeadline is just long enough to receive the requests of all lanes of
// one client.
type flushTimer struct {
	free   bool          // a commit costs no fsync (Config.Unsynced)
	sealed time.Time     // when the last commit was closed
	wait   time.Duration // how long the next one waits since then, where nobody waits for it
	worked time.Duration // by the loop, since sealed
	asked  time.Time     // when clients last asked for something
}

// due returns when a commit of this urgency is to be closed.
func (f *flushTimer) due(u core.FlushUrgency) time.Time {
	switch due := f.sealed.Add(f.wait); u {
	case core.FlushLater:
		return due
	case core.FlushSoon:
		if f.free {
			return time.Time{}
		}
		if quiet := f.asked.Add(clientDeadline); quiet.Before(due) {
			return quiet
		}
		return due
	}
	return time.Time{}
}

// closed notes that a commit is closed. The turn of the loop that does so is reported later. It counts for the commit after the next one.
func (f *flushTimer) closed(now time.Time) {
	inLinger := float64(f.worked) * float64(linger) / float64(max(linger, now.Sub(f.sealed)))
	f.wait = min(linger, time.Duration(waitForWork*inLinger))
	f.sealed, f.worked = now, 0
}

// add counts a turn of the loop.
func (f *flushTimer) add(turn time.Duration) { f.worked += max(0, turn) }
