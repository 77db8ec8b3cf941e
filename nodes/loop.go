package nodes

import (
	"context"
	"time"

	"posta.dev/posta/link"
	"posta.dev/posta/nodes/heartbeat"
	"posta.dev/posta/zmqx"
)

const (
	tickEvery  = 100 * time.Millisecond // at least so often time alone brings hellos, repeated acknowledgements and timeouts
	drainEvery = 20 * time.Millisecond  // the same while a node drains, and nothing else wakes it
	maxBurst   = 64                     // events taken in before the core advances
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
	if x.core.Retired() != "" {
		return errRetired
	}
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
			if err := x.jobDone(d); err != nil {
				return err
			}
		case <-x.alarm.C():
			x.alarm.rang()
		}
		x.step(time.Now())
		if x.core.Retired() != "" {
			return errRetired
		}
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
	x.reportRefused(now)
	x.beat(now)
	x.memory.adjust(now)
	x.alarm.set(now, x.beatAt.Add(x.cfg.Topology.Medics.Heartbeat))
	x.alarm.set(now, now.Add(tickEvery))
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
				x.submit(job{commit: c})
			}
		}
		x.send(now)
		x.beat(now) // a node that drains is not dead: no medic may start another one beside it
		if !x.busy && !x.core.Sendable() {
			return nil
		}
		select {
		case e := <-x.tr.Events():
			if e.Frames == nil { // nothing more is taken in; acknowledgements and connections still help
				x.event(e)
			}
		case d := <-x.answers:
			if err := x.jobDone(d); err != nil {
				return err
			}
		case <-tick.C:
		}
	}
	x.cfg.Log.Info("drained for as long as limits.drain allows; the next start sends the rest")
	return nil
}
