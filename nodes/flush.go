package nodes

import (
	"time"

	"posta.dev/posta/nodes/core"
)

// How long a commit waits for more to be taken into it.
const (
	linger   = 20 * time.Millisecond // since the last one, where nobody waits for it
	patience = time.Millisecond      // since clients last asked for something, where they wait for it
)

// pace decides when a commit is closed. Without it a node commits whenever its disk is free, which is for each frame by itself
// where the disk is fast: 2,800 fsyncs for 750 MB of flights where 1,000 do, each with its wake-ups here and in its receivers, and
// tables that were folded frame by frame. What is first after a pause goes at once; what decides on the course of a session always does.
//
// A delay for every commit was turned down, as a small session would pay it in each stage; so was lingering where clients wait, as who
// has a single lane would pay that with every chunk: patience is just long enough for the lanes of one client to be heard.
type pace struct {
	sealed time.Time // when the last commit was closed
	asked  time.Time // when clients last asked for something
}

// until returns when a commit of such urgency is to be closed.
func (p *pace) until(h core.Haste) time.Time {
	switch due := p.sealed.Add(linger); h {
	case core.Batch:
		return due
	case core.Client:
		if quiet := p.asked.Add(patience); quiet.Before(due) {
			return quiet
		}
		return due
	}
	return time.Time{}
}
