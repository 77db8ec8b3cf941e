package nodes

import (
	"os"
	"slices"
	"time"

	"posta.dev/posta/nodes/heartbeat"
)

var pid = os.Getpid()

// beat publishes a heartbeat when it is due (N8).
func (x *node) beat(now time.Time) {
	if now.Sub(x.beatAt) < x.cfg.Topology.Medics.Heartbeat {
		return
	}
	x.beatAt = now
	c := x.core.Counters
	b := heartbeat.Beat{
		Node: x.node.ID, ID: x.id, PID: pid, State: x.state, Uptime: now.Sub(x.started),
		FramesIn: c.FramesIn, BytesIn: c.BytesIn, FramesOut: c.FramesOut, BytesOut: c.BytesOut, Commits: c.Commits,
		LogBytes: uint64(x.logBytes), Sessions: x.core.Sessions(), Running: x.core.Running(), Ended: x.core.Ended(), Links: x.core.Links(),
	}
	if b.State == heartbeat.Running && slices.ContainsFunc(b.Links, func(l heartbeat.Link) bool { return l.Full }) {
		b.State = heartbeat.Blocked
	}
	x.tr.Heartbeat(b.Append(nil))
}

// beatUntil publishes heartbeats while the node recovers, when it has no loop.
func (x *node) beatUntil(stop <-chan struct{}, stopped chan<- struct{}) {
	defer close(stopped)
	tick := time.NewTicker(x.cfg.Topology.Medics.Heartbeat)
	defer tick.Stop()
	for {
		b := heartbeat.Beat{
			Node: x.node.ID, ID: x.id, PID: pid, State: heartbeat.Recovering, Uptime: time.Since(x.started), LogBytes: uint64(x.log.Size()),
		}
		x.tr.Heartbeat(b.Append(nil))
		select {
		case <-stop:
			return
		case <-tick.C:
		}
	}
}
