package shell

import (
	"time"

	"posta.dev/posta/nodes/core"
)

// How long a commit waits for more input.
const (
	linger         = 20 * time.Millisecond // since the last commit, where no client waits for it
	clientDeadline = time.Millisecond      // since clients last asked for something, where they wait for it
)

// flushTimer decides when a commit is closed. Without it a node commits whenever its disk is free. Where the disk is fast that is once for
// each frame: 2,800 fsyncs for 750 MB of flights where 1,000 do, each with its wake-ups here and in its receivers, and tables that were
// folded frame by frame. The first input after a pause is committed at once; what decides on the course of a session always is.
//
// A delay for every commit was turned down, because a small session would pay it in each stage. Lingering where clients wait was turned
// down, too: a client with a single lane would pay it with every chunk. clientDeadline is just long enough to hear all lanes of one client.
type flushTimer struct {
	sealed time.Time // when the last commit was closed
	asked  time.Time // when clients last asked for something
}

// due returns when a commit of such urgency is to be closed.
func (f *flushTimer) due(u core.FlushUrgency) time.Time {
	switch due := f.sealed.Add(linger); u {
	case core.FlushLater:
		return due
	case core.FlushSoon:
		if quiet := f.asked.Add(clientDeadline); quiet.Before(due) {
			return quiet
		}
		return due
	}
	return time.Time{}
}
