package medics

import (
	"sync"
	"testing"
	"time"

	"posta/medic/core"
	"posta/medic/station"
	"posta/nodes/heartbeat"
	"posta/topology"
	"posta/zmqx"
)

// ear hears what nodes and medics say.
type ear struct {
	t    *testing.T
	sub  *zmqx.Sub
	done chan struct{}

	mu      sync.Mutex
	beats   map[topology.NodeID]heartbeat.Beat
	seen    map[life]*times
	medics  map[topology.NodeID]core.Message
	heard   map[topology.NodeID]time.Time
	journal core.Message
}

// life is one incarnation of a node; times is when it was heard first, at work first, and first with something new on its disk.
type life struct {
	node topology.NodeID
	inc  uint64
}

type times struct{ heard, working, flowing time.Time }

func listen(t *testing.T, topo *topology.Topology) *ear {
	t.Helper()
	sub, err := zmqx.NewSub(zmqx.Options{BackoffMax: 50 * time.Millisecond, MaxFrame: 4 << 20})
	if err != nil {
		t.Fatal(err)
	}
	e := &ear{t: t, sub: sub, done: make(chan struct{}), beats: map[topology.NodeID]heartbeat.Beat{}, seen: map[life]*times{},
		medics: map[topology.NodeID]core.Message{}, heard: map[topology.NodeID]time.Time{}}
	for _, topic := range []string{station.BeatTopic, station.MessageTopic, station.JournalTopic} {
		if err := sub.Subscribe(topic); err != nil {
			t.Fatal(err)
		}
	}
	for _, n := range topo.All() {
		if _, err := sub.Connect(n.Sockets.Control.Dial); err != nil {
			t.Fatal(err)
		}
	}
	go func() {
		defer close(e.done)
		for batch := range sub.C() {
			for _, r := range batch {
				e.take(r.Msg)
			}
		}
	}()
	t.Cleanup(func() { _ = sub.Close(); <-e.done })
	return e
}

func (e *ear) take(m zmqx.Message) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if string(m[0]) == station.BeatTopic {
		if b, err := heartbeat.Decode(m[1]); err == nil {
			e.takeBeat(b)
		}
		return
	}
	msg, err := core.DecodeMessage(m[1])
	if err != nil {
		e.t.Errorf("a medic says what nobody understands: %v", err)
		return
	}
	switch {
	case string(m[0]) == station.JournalTopic:
		if msg.Term.Gen > e.journal.Term.Gen || msg.Term.Gen == e.journal.Term.Gen && (msg.Leading || !e.journal.Leading) {
			e.journal = msg
		}
	case msg.Kind == core.Beat:
		e.medics[msg.From], e.heard[msg.From] = msg, time.Now()
	}
}

func (e *ear) takeBeat(b heartbeat.Beat) {
	now := time.Now()
	e.beats[b.Node] = b
	k := life{b.Node, uint64(b.ID.Incarnation)}
	if e.seen[k] == nil {
		e.seen[k] = &times{heard: now}
	}
	s := e.seen[k]
	if s.working.IsZero() && b.State != heartbeat.Recovering {
		s.working = now
	}
	if s.flowing.IsZero() && b.State != heartbeat.Recovering && b.Commits > 0 {
		s.flowing = now
	}
}

// leader is who says so, "" for nobody in the newest generation.
func (e *ear) leader() topology.NodeID {
	e.mu.Lock()
	defer e.mu.Unlock()
	var term core.Term
	leading := false
	for id, m := range e.medics {
		if m.Term.Gen > term.Gen {
			term, leading = m.Term, false
		}
		if m.Leading && m.Term.Gen == term.Gen && time.Since(e.heard[id]) < 500*time.Millisecond {
			term, leading = m.Term, true
		}
	}
	if !leading {
		return ""
	}
	return term.Leader
}

func (e *ear) generation() (g core.Generation) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, m := range e.medics {
		g = max(g, m.Term.Gen)
	}
	return g
}

func (e *ear) incarnation(id topology.NodeID) uint64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	if m, ok := e.medics[id]; ok {
		return m.ID.Life
	}
	return uint64(e.beats[id].ID.Incarnation)
}

func (e *ear) times(l life) times {
	e.mu.Lock()
	defer e.mu.Unlock()
	if s := e.seen[l]; s != nil {
		return *s
	}
	return times{}
}

func (e *ear) entries() []core.Entry {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.journal.Entries
}

// incidents is what the journal tells since then.
func (e *ear) incidents(since time.Time) (all []core.Incident) {
	for _, i := range core.Incidents(e.entries()) {
		if i.At.After(since) {
			all = append(all, i)
		}
	}
	return all
}

// until waits for what is to come.
func (e *ear) until(what string, done func() bool) {
	e.t.Helper()
	for end := time.Now().Add(60 * time.Second); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			e.t.Fatalf("in vain: %s; the journal: %+v", what, core.Incidents(e.entries()))
		}
	}
}
