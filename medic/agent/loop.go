package agent

import (
	"context"
	"fmt"
	"time"

	"posta.dev/posta/medic"
	"posta.dev/posta/medic/core"
	"posta.dev/posta/nodes/heartbeat"
	"posta.dev/posta/zmqx"
)

// run is the medic's loop.
func (a *agent) run(ctx context.Context) error {
	defer a.stop()
	if pids := a.pids(); pids != nil {
		a.spawn(func() { watchProcesses(a.life, pids, a.targets(), a.cfg.Topology.Medics.Heartbeat, a.ends) })
	}
	a.cfg.Log.Info("watching", "hosts", a.cfg.Hosts, "incarnation", a.log.Identity().Incarnation)
	pause := a.core.Pause(time.Now()) // until the next tick, at most
	tick := time.NewTimer(heartbeat.Next(time.Now(), pause))
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case batch := <-a.sub.C():
			a.take(batch)
		case r := <-a.reports:
			a.core.Executed(r, time.Now())
		case ends := <-a.ends:
			for _, e := range ends {
				a.core.ProcessEnded(e.who, e.pid)
			}
		case err := <-a.stored:
			if err != nil {
				return fmt.Errorf("medic %s: W4: %w: it stops, and its next start recovers from what is on disk", a.node.ID, err)
			}
			a.storing = false
			a.noteRoom(time.Now())
			a.core.Stored(time.Now())
		case <-tick.C:
			a.tick()
			pause = 0
		}
		a.pump(ctx)
		now := time.Now()
		if next := a.core.Pause(now); pause == 0 || next < pause {
			pause = next
			tick.Reset(heartbeat.Next(now, pause))
		}
	}
}

// pids returns the source of hints that processes have ended; nil if there is none.
func (a *agent) pids() medic.Pids {
	switch r := a.cfg.Restarter.(type) {
	case medic.Watcher:
		a.spawn(func() { r.Watch(a.life) })
		return r.Seen()
	case medic.Pids:
		return r
	}
	return nil
}

// spawn starts a task beside the loop, which stop awaits.
func (a *agent) spawn(do func()) {
	a.tasks.Add(1)
	go func() {
		defer a.tasks.Done()
		do()
	}()
}

// stop ends the watches, discards reports, and waits for all tasks.
func (a *agent) stop() {
	a.end()
	a.tasks.Wait()
}

// tick takes all received messages before the core sees the new time. So a message that has arrived never counts as silence.
func (a *agent) tick() {
	for range 256 {
		select {
		case batch := <-a.sub.C():
			a.take(batch)
			continue
		default:
		}
		break
	}
	a.core.Tick(time.Now())
}

// take ignores messages from senders that are not in the topology, and messages in another's name. With keys, the peer of a connection is
// the one that was dialled (S3).
func (a *agent) take(batch []zmqx.Received) {
	now := time.Now()
	for _, r := range batch {
		if len(r.Msg) != 2 || r.Endpoint >= len(a.from) {
			continue
		}
		switch from := a.from[r.Endpoint].ID; string(r.Msg[0]) {
		case BeatTopic:
			if b, err := heartbeat.Decode(r.Msg[1]); err == nil && b.Node == from {
				a.core.HeardNode(b.Node, core.Sign{
					Identity:   core.Identity{LogID: b.ID.LogID, Incarnation: uint64(b.ID.Incarnation), PID: b.PID},
					Recovering: b.State == heartbeat.Recovering, Mark: b.Mark, MarkAge: b.MarkAge,
				}, now)
			}
		case MessageTopic:
			if m, err := core.DecodeMessage(r.Msg[1]); err == nil && m.From == from {
				a.core.Receive(m, now)
			}
		}
	}
}

// pump starts to store the next batch, and sends what is ready to be sent.
func (a *agent) pump(ctx context.Context) {
	if !a.storing {
		if records := a.core.Seal(); records != nil {
			a.store(job{records: records})
		} else if a.core.Idle() && (a.log.Size() > snapshotAt && !a.full || a.full && !time.Now().Before(a.retryAt)) {
			term, _ := a.core.Term()
			a.store(job{snapshot: a.core.Snapshot(), term: term})
		}
	}
	term, _ := a.core.Term()
	a.newest.Store(&term)
	o := a.core.Output()
	for _, m := range o.Messages {
		a.publish(MessageTopic, &m)
	}
	for _, what := range o.Refused {
		a.cfg.Log.Warn("a message is implausible and was refused", "what", what)
	}
	if o.Fence != (core.Term{}) {
		a.raise(o.Fence)
	}
	for _, order := range o.Orders {
		a.execute(ctx, order)
	}
	a.publishJournal()
	a.logTerm()
}

// noteRoom logs when the disk is full, and when there is room again. Meanwhile processes that died are restarted as before.
func (a *agent) noteRoom(now time.Time) {
	switch was := a.full; {
	case a.disk.behind:
		a.full, a.retryAt = true, now.Add(retryFull)
		if !was {
			a.cfg.Log.Warn("the disk is full: the journal stays in memory until there is room", "dir", a.node.DataDir)
		}
	case was:
		a.full = false
		a.cfg.Log.Info("the disk has room again: the journal is written")
	}
}

// store stores one job at a time, in a task.
func (a *agent) store(j job) {
	a.storing = true
	a.spawn(func() { a.stored <- a.disk.store(a.life, j) })
}

// publish ignores the only possible error, a closed socket: then nobody listens.
func (a *agent) publish(topic string, m *core.Message) {
	_ = a.pub.Send(zmqx.Message{[]byte(topic), m.Append(nil)})
}

// hostTimeout bounds one operation on a host.
const hostTimeout = 10 * time.Second

func (a *agent) raise(t core.Term) {
	for name, h := range a.hosts {
		if f, err := h.Seen(); err == nil && f.Term.Gen >= t.Gen {
			continue // the host knows the term already: core repeats it
		}
		a.spawn(func() {
			ctx, cancel := context.WithTimeout(context.Background(), hostTimeout)
			defer cancel()
			if err := h.Raise(ctx, t); err != nil { // an order of this term raises the fence, too
				a.cfg.Log.Warn("a host was not told about the new term", "host", name, "term", t, "err", err)
			}
		})
	}
}

// execute finishes its order even if the medic is told to end: half a restart would only kill the target.
func (a *agent) execute(ctx context.Context, o core.Order) {
	h := a.hosts[o.Host]
	if h == nil || ctx.Err() != nil {
		return
	}
	a.spawn(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), hostTimeout)
		defer cancel()
		r := h.Execute(ctx, o, func() core.Term { return *a.newest.Load() })
		a.cfg.Log.Info("order", "of", o.Leader, "generation", o.Gen, "number", o.N, "target", o.Target, "silent", o.Silent, "ended", o.Ended,
			"verdict", r.Verdict, "process", r.PID, "took", r.Took, "text", r.Text)
		select {
		case a.reports <- r:
		case <-a.life.Done():
		}
	})
}

// journalEvery is how often the journal is published.
const journalEvery = 300 * time.Millisecond

func (a *agent) publishJournal() {
	if now := time.Now(); now.Sub(a.published) >= journalEvery {
		a.published = now
		term, leading := a.core.Term()
		m := core.Message{Kind: core.Entries, From: a.node.ID, ID: a.config().ID, Term: term, Leading: leading, Entries: a.core.Journal()}
		a.publish(JournalTopic, &m)
		a.counts.look(now, term, leading, m.Entries)
	}
}

// logTerm logs changes of leadership. A medic that takes a new term leads in it only once the term is stored, so the two changes are logged
// apart.
func (a *agent) logTerm() {
	if term, leading := a.core.Term(); term != a.logged || leading != a.loggedLeading {
		a.logged, a.loggedLeading = term, leading
		a.cfg.Log.Info("term", "generation", term.Gen, "leader", term.Leader, "leading", leading)
	}
}
