package nodes

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"posta.dev/posta/link"
	"posta.dev/posta/nodes/heartbeat"
	"posta.dev/posta/wal"
	"posta.dev/posta/zmqx"
)

var pid = os.Getpid()

const (
	tickEvery  = 100 * time.Millisecond // at least so often time alone brings hellos, repeated acknowledgements and timeouts
	drainEvery = 20 * time.Millisecond  // likewise while a node drains, and nobody else wakes it
	maxBurst   = 64                     // events taken in before the core advances
	idleBefore = 300 * time.Millisecond
	cutEvery   = time.Second
)

// run is the node's loop. It ends with a drain when ctx is cancelled, or with an error of the log.
func (x *node) run(ctx context.Context) error {
	x.state = heartbeat.Running
	x.jobs, x.answers = make(chan job, 1), make(chan done, 1)
	go committer(x.log, x.jobs, x.answers)
	defer x.stopCommitter()
	var requests <-chan []zmqx.Received
	if x.router != nil {
		requests = x.router.C()
	}
	x.alarm = newAlarm()
	defer x.alarm.stop()
	x.step(time.Now()) // at once: it says that recovery is over
	for {
		select {
		case <-ctx.Done():
			return x.drain()
		case e := <-x.tr.Events():
			x.event(e)
			x.burst()
		case batch := <-requests:
			x.requests(batch)
		case d := <-x.answers:
			if err := x.answered(d); err != nil {
				return err
			}
		case <-x.alarm.C():
			x.alarm.rang()
		}
		x.step(time.Now())
	}
}

// stopCommitter waits for the committer to be done with its job.
func (x *node) stopCommitter() {
	close(x.jobs)
	for range x.answers {
	}
}

// burst takes what else has arrived, so that it gets into the same commit.
func (x *node) burst() {
	for range maxBurst {
		select {
		case e := <-x.tr.Events():
			x.event(e)
		default:
			return
		}
	}
}

func (x *node) event(e link.Event) {
	now := time.Now()
	switch {
	case e.Frames != nil:
		x.core.Receive(e.Frames)
	case e.Acks != nil:
		for _, a := range e.Acks {
			x.core.Ack(a, now)
		}
	case e.Connected && e.Incoming:
		x.core.Dialled(e.Edge, e.Node)
	case e.Connected:
		x.core.Connected(e.Edge, e.Node)
	case e.Heartbeat != nil:
		b, err := heartbeat.Decode(e.Heartbeat)
		if err != nil || b.Node != e.Node {
			return // not one of ours
		}
		x.core.Heartbeat(now, b.Node, b.ID, b.Ended)
	}
}

// step lets the core take what it can, stores and sends.
func (x *node) step(now time.Time) {
	x.core.Tick(now)
	x.core.Advance()
	x.store(now)
	x.send(now)
	x.beat(now)
	x.memory.adjust(now)
	x.alarm.set(now, x.beatAt.Add(x.cfg.Topology.Medics.Heartbeat))
	x.alarm.set(now, now.Add(tickEvery))
}

// store gives the committer its next job, if it has none.
func (x *node) store(now time.Time) {
	if x.busy {
		return
	}
	if x.failed != nil {
		if now.Before(x.retryAt) {
			return
		}
		j := *x.failed
		x.failed = nil
		x.give(j)
		return
	}
	var j job
	snapshot := x.snapshotDue()
	if snapshot || !x.waits(now) { // a snapshot is of what is stored, and of nothing else
		if j.commit = x.core.Seal(); j.commit != nil {
			x.flush.sealed = now
		}
	}
	if snapshot {
		j.snapshot = x.core.Snapshot()
	}
	x.tidy(now, &j)
	if j.commit != nil || j.snapshot != nil || j.cut > 0 {
		x.give(j)
	}
}

// waits reports whether the commit that is being built waits for more, and sees to it that it does not wait for too long.
func (x *node) waits(now time.Time) bool {
	until := x.flush.due(x.core.Urgency())
	if !now.Before(until) {
		return false
	}
	x.alarm.set(now, until)
	return true
}

func (x *node) give(j job) {
	x.busy = true
	x.jobs <- j
}

// snapshotDue: the log since the last snapshot has outgrown both the limit and the snapshot itself (N3).
func (x *node) snapshotDue() bool {
	return x.sinceCut > max(int64(x.cfg.Topology.Limits.Snapshot), x.snapSize)
}

// tidy asks for the log to be cut to what recovery needs: the snapshot, and the frames that are not acknowledged. When
// nothing has been under way for a moment and no session is open, everything may go into a snapshot, and the log returns to nearly
// nothing. A session's state would be written again for each pause of its client's, and by each joiner that has reference data and is not
// given facts; its log is no longer than limits.snapshot without that.
func (x *node) tidy(now time.Time, j *job) {
	if j.commit != nil || x.core.Sessions() > 0 || !x.core.Idle() {
		x.idleAt = time.Time{}
	} else if x.idleAt.IsZero() {
		x.idleAt = now
	}
	idle := !x.idleAt.IsZero() && now.Sub(x.idleAt) >= idleBefore
	if idle && x.sinceCut > 0 && x.log.Last() > x.snapAt {
		j.snapshot, j.cutAll = x.core.Snapshot(), true
		return
	}
	if now.Sub(x.lastCut) < cutEvery && j.snapshot == nil || x.snapAt == 0 {
		return
	}
	x.lastCut = now
	j.cut = x.snapAt
	if oldest, ok := x.core.Oldest(); ok && wal.Index(oldest) <= j.cut {
		j.cut = wal.Index(oldest) - 1
	}
}

// answered takes the committer's answer.
func (x *node) answered(d done) error {
	x.busy = false
	x.logBytes = d.size
	if d.stored {
		x.core.Stored(d.commit, logIndex(d.at))
		x.sinceCut += int64(d.commit.Bytes)
		if x.core.Counters.Commits == 1 {
			x.beatAt = time.Time{} // this life works: whoever waits for it hears so now, not at the next heartbeat
		}
		d.commit = nil
	}
	if d.saved {
		x.snapAt, x.snapSize, x.sinceCut = d.at, int64(len(d.snapshot)), 0
		d.snapshot = nil
	}
	switch {
	case d.err == nil:
		if x.state == heartbeat.DiskFull {
			x.state = heartbeat.Running
			x.cfg.Log.Info("there is room on the disk again")
		}
		return nil
	case full(d.err):
		if x.state != heartbeat.DiskFull {
			x.cfg.Log.Warn("the disk is full: nothing is taken in until there is room", "dir", x.node.DataDir, "err", d.err)
		}
		x.state = heartbeat.DiskFull
		x.failed, x.retryAt = &job{commit: d.commit}, time.Now().Add(retryFull)
		if d.commit == nil {
			x.failed = nil // a snapshot or a cut is asked for again when it is due
			x.lastCut = time.Now()
		}
		return nil
	}
	return fmt.Errorf("node %s: W4: %w: it stops, and its next start recovers from what is on disk", x.node.ID, d.err)
}

// send lets out what the core says may leave.
func (x *node) send(now time.Time) {
	o := x.core.Output(now)
	if len(o.Acks) > 0 {
		x.tr.Acks(o.Acks)
	}
	for _, s := range o.Sends {
		if n := x.tr.Send(s.Edge, s.To, s.Frames); n < len(s.Frames) {
			x.core.Unsent(s.Edge, s.To, s.Frames[n].Seq)
		}
	}
	for _, r := range o.Replies {
		x.reply(r)
	}
	if r, ok := x.tr.(link.Recycler); ok && len(o.Released) > 0 {
		r.Recycle(o.Released)
	}
	for _, body := range o.ReleasedRequests {
		x.router.Recycle([]zmqx.Received{{Msg: zmqx.Message{body}}})
	}
}

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

// drain commits what was taken in, sends what is committed, and gives up after limits.drain (N5). What is left is sent by
// the next start: nothing is lost either way.
func (x *node) drain() error {
	x.state = heartbeat.Draining
	x.cfg.Log.Info("draining")
	until := time.Now().Add(x.cfg.Topology.Limits.Drain)
	tick := time.NewTicker(drainEvery)
	defer tick.Stop()
	for now := time.Now(); now.Before(until); now = time.Now() {
		if !x.busy && x.failed == nil {
			if c := x.core.Seal(); c != nil {
				x.give(job{commit: c})
			}
		}
		x.send(now)
		x.beat(now) // a node that drains is not dead: nobody is to start another one beside it
		if !x.busy && !x.core.Sendable() {
			return nil
		}
		select {
		case e := <-x.tr.Events():
			if e.Frames == nil { // nothing more is taken in; acknowledgements and connections still help
				x.event(e)
			}
		case d := <-x.answers:
			if err := x.answered(d); err != nil {
				return err
			}
		case <-tick.C:
		}
	}
	x.cfg.Log.Info("drained for as long as limits.drain allows; the next start sends the rest")
	return nil
}
