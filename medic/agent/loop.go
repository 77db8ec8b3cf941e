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
func (s *station) run(ctx context.Context) error {
	s.jobs, s.answers = make(chan job, 1), make(chan error, 1)
	s.reports, s.ends = make(chan core.Report), make(chan []end)
	s.beside(func() { clerk(s.log, s.jobs, s.answers, s.stop) })
	if pids := s.eyes(); pids != nil {
		s.beside(func() { lookout(pids, s.targets(), s.cfg.Topology.Medics.Heartbeat, s.ends, s.stop) })
	}
	defer s.endAll()
	s.cfg.Log.Info("watching", "hosts", s.cfg.Hosts, "life", s.log.Identity().Incarnation)
	tick := time.NewTicker(s.cfg.Topology.Medics.Heartbeat / 4)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case batch := <-s.sub.C():
			s.take(batch)
		case r := <-s.reports:
			s.core.Executed(r, time.Now())
		case ends := <-s.ends:
			for _, e := range ends {
				s.core.ProcessEnded(e.who, e.pid)
			}
		case err := <-s.answers:
			if err != nil {
				return fmt.Errorf("medic %s: W4: %w: it stops, and its next start recovers from what is on disk", s.node.ID, err)
			}
			s.busy = false
			s.core.Stored(time.Now())
		case <-tick.C:
			s.tick()
		}
		s.pump(ctx)
	}
}

// eyes is what shows the ends of processes; nil if nothing does.
func (s *station) eyes() medic.Pids {
	switch r := s.cfg.Restarter.(type) {
	case medic.Watcher:
		ctx, cancel := context.WithCancel(context.Background())
		s.beside(func() { r.Watch(ctx) })
		s.beside(func() { <-s.stop; cancel() })
		return r.Seen()
	case medic.Pids:
		return r
	}
	return nil
}

// beside starts a goroutine that run awaits.
func (s *station) beside(do func()) {
	s.hands.Add(1)
	go func() {
		defer s.hands.Done()
		do()
	}()
}

// endAll ends in this order: nothing new to store, hints and reports go nowhere, everybody is awaited.
func (s *station) endAll() {
	close(s.stop)
	close(s.jobs)
	s.hands.Wait()
}

// tick takes all that has arrived before time passes: silence is only what was not there to be heard.
func (s *station) tick() {
	for range 256 {
		select {
		case batch := <-s.sub.C():
			s.take(batch)
			continue
		default:
		}
		break
	}
	s.core.Tick(time.Now())
}

// take passes over what no node and no medic of ours says, and what says it is somebody else's.
func (s *station) take(batch []zmqx.Received) {
	now := time.Now()
	for _, r := range batch {
		if len(r.Msg) != 2 || r.Endpoint >= len(s.from) {
			continue
		}
		switch from := s.from[r.Endpoint].ID; string(r.Msg[0]) {
		case BeatTopic:
			if b, err := heartbeat.Decode(r.Msg[1]); err == nil && b.Node == from {
				id := core.Identity{LogID: b.ID.LogID, Incarnation: uint64(b.ID.Incarnation), PID: b.PID}
				s.core.HeardNode(b.Node, id, b.State == heartbeat.Recovering, now)
			}
		case MessageTopic:
			if m, err := core.DecodeMessage(r.Msg[1]); err == nil && m.From == from {
				s.core.Receive(m, now)
			}
		}
	}
}

// pump stores, and lets out what may leave.
func (s *station) pump(ctx context.Context) {
	if !s.busy {
		if records := s.core.Seal(); records != nil {
			s.give(job{records: records})
		} else if s.log.Size() > snapshotAt && s.core.Idle() {
			s.give(job{snapshot: s.core.Snapshot()})
		}
	}
	term, _ := s.core.Term()
	s.newest.Store(&term)
	o := s.core.Output()
	for _, m := range o.Messages {
		s.publish(MessageTopic, &m)
	}
	if o.Fence != (core.Term{}) {
		s.raise(o.Fence)
	}
	for _, order := range o.Orders {
		s.carryOut(ctx, order)
	}
	s.show()
	s.note()
}

func (s *station) give(j job) {
	s.busy = true
	s.jobs <- j
}

// publish: a closed socket is the only error, and then nobody listens.
func (s *station) publish(topic string, m *core.Message) {
	_ = s.pub.Send(zmqx.Message{[]byte(topic), m.Append(nil)})
}

// handTime bounds what is done on a host.
const handTime = 10 * time.Second

func (s *station) raise(t core.Term) {
	for name, h := range s.hosts {
		s.beside(func() {
			ctx, cancel := context.WithTimeout(context.Background(), handTime)
			defer cancel()
			if err := h.Raise(ctx, t); err != nil { // an order of the term raises it, too
				s.cfg.Log.Warn("a host was not told of the new term", "host", name, "term", t, "err", err)
			}
		})
	}
}

// carryOut goes on when the medic is told to end: half a restart would be a death.
func (s *station) carryOut(ctx context.Context, o core.Order) {
	h := s.hosts[o.Host]
	if h == nil || ctx.Err() != nil {
		return
	}
	s.beside(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), handTime)
		defer cancel()
		r := h.Execute(ctx, o, func() core.Term { return *s.newest.Load() })
		s.cfg.Log.Info("order", "of", o.Leader, "generation", o.Gen, "number", o.N, "target", o.Target, "silent", o.Silent,
			"verdict", r.Verdict, "process", r.PID, "took", r.Took, "text", r.Text)
		select {
		case s.reports <- r:
		case <-s.stop:
		}
	})
}

// showEvery is how often the journal is published.
const showEvery = 300 * time.Millisecond

func (s *station) show() {
	if now := time.Now(); now.Sub(s.shown) >= showEvery {
		s.shown = now
		term, leading := s.core.Term()
		m := core.Message{Kind: core.Entries, From: s.node.ID, ID: s.config().ID, Term: term, Leading: leading, Entries: s.core.Journal()}
		s.publish(JournalTopic, &m)
	}
}

// note logs changes of leadership.
func (s *station) note() {
	if term, leading := s.core.Term(); term != s.term {
		s.term = term
		s.cfg.Log.Info("term", "generation", term.Gen, "leader", term.Leader, "leading", leading)
	}
}
