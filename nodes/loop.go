package nodes

import (
	"context"
	"time"

	"posta.dev/posta/link"
	"posta.dev/posta/nodes/shell"
	"posta.dev/posta/rows/progress"
	"posta.dev/posta/zmqx"
)

const maxBurst = 64 // events taken in before the core advances

// run is the node's loop. It decides nothing: it waits for events, tells the shell, and does what the shell says. It returns
// shell.ErrDrained some time after ctx is cancelled, shell.ErrRetired, or an error of the log.
func (x *node) run(ctx context.Context) error {
	x.jobs, x.answers = make(chan shell.Job, 1), make(chan shell.Answer, 1)
	go committer(x.log, x.jobs, x.answers, x.beats, &x.synced)
	defer x.stopCommitter()
	var requests <-chan []zmqx.Received
	if x.router != nil {
		requests = x.router.C()
	}
	stop := ctx.Done()
	x.openReader()
	defer x.preparing.wait()
	alarm := newAlarm()
	defer alarm.stop()
	woke := time.Now() // when the last wait ended
	for {
		progress.Mark()
		now := time.Now()
		o := x.shell.Step(now)
		if x.act(&o); o.End != nil {
			return o.End
		}
		reference, facts := x.readFiles(&o)
		x.memory.adjust(now)
		alarm.set(now, o.Alarm)
		x.shell.Worked(time.Since(woke))
		select {
		case <-stop:
			woke = time.Now()
			x.shell.Drain(woke)
			stop = nil
		case e := <-x.tr.Events():
			woke = time.Now()
			x.burst(woke, e)
		case batch := <-requests:
			woke = time.Now()
			x.processors.work(woke)
			x.requests(batch)
		case p := <-reference:
			woke = time.Now()
			x.piece(p)
		case p := <-facts:
			woke = time.Now()
			x.piece(p)
		case <-x.preparing.C():
			woke = time.Now()
			x.prepared()
		case a := <-x.answers:
			woke = time.Now()
			x.shell.Answer(woke, a)
		case <-alarm.C():
			woke = time.Now()
			alarm.rang()
		}
	}
}

// stopCommitter waits until the committer has finished its job. A slow disk is not a hang.
func (x *node) stopCommitter() {
	x.beats.waiting.Store(true)
	close(x.jobs)
	for range x.answers {
	}
}

// burst takes an event and the others that have already arrived, so that all get into the same commit.
func (x *node) burst(now time.Time, e link.Event) {
	x.shell.Event(now, e)
	for range maxBurst {
		select {
		case e := <-x.tr.Events():
			x.shell.Event(now, e)
		default:
			return
		}
	}
}

// act does what the shell says. The committer has no other job, so handing it one does not block.
func (x *node) act(o *shell.Output) {
	for _, n := range o.Notes {
		x.cfg.Log.Log(context.Background(), n.Level, n.Text, n.Args...)
	}
	if o.Job != nil {
		if o.Job.Commit != nil { // an idle node cuts its log now and then
			x.processors.work(time.Now())
		}
		x.jobs <- *o.Job
	}
	if len(o.Acks) > 0 {
		x.tr.Acks(o.Acks)
	}
	for _, s := range o.Sends {
		if n := x.tr.Send(s.Edge, s.To, s.Frames); n < len(s.Frames) {
			x.shell.Unsent(s.Edge, s.To, s.Frames[n].Seq)
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
	if o.Beat != nil {
		x.processors.look(time.Now(), o.Beat.Sessions)
		x.metrics.dropped(o.Drops)
		x.beats.publish(*o.Beat)
	}
	if t, ok := x.tr.(link.Tracer); ok {
		for i := range o.Reports {
			t.Trace(o.Reports[i].Session, o.Reports[i].Append(nil))
		}
	}
	if o.Settled {
		x.notes.settled()
	}
}
