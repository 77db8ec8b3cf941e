package clustertest

import (
	"slices"
	"sync"
	"testing"
	"time"

	"posta.dev/posta/link/keyed"
	"posta.dev/posta/medic/agent"
	"posta.dev/posta/medic/core"
	"posta.dev/posta/nodes/heartbeat"
	"posta.dev/posta/security"
	"posta.dev/posta/topology"
	"posta.dev/posta/zmqx"
)

// Observer listens to nodes and medics.
type Observer struct {
	t    *testing.T
	sub  *zmqx.Sub
	done chan struct{}

	mu      sync.Mutex
	beats   map[topology.NodeID]heartbeat.Beat
	seen    map[Life]*Times
	medics  map[topology.NodeID]core.Message
	heard   map[topology.NodeID]time.Time
	journal core.Message
	told    map[core.EntryID]bool
	entries []Sighting
}

// Sighting is an entry of any medic's journal, and when it was heard first: by the clock of the test, since those of medics may be wrong.
type Sighting struct {
	Heard time.Time
	Late  bool // a newer term had begun: a journal that was lost with its medic has come to light, so Heard says little of when it was written
	core.Entry
}

// Life is one incarnation of a node.
type Life struct {
	Node        topology.NodeID
	Incarnation uint64
}

// Times are the moments when a node was first heard, first at work, and first had something new on its disk.
type Times struct{ Heard, Working, Flowing time.Time }

// Listen listens until the test ends.
func Listen(t *testing.T, topo *topology.Topology) *Observer {
	t.Helper()
	return listen(t, topo, nil)
}

// listen is Listen with the keys of somebody who may watch; nil for a cluster without.
func listen(t *testing.T, topo *topology.Topology, keys *security.Keys) *Observer {
	t.Helper()
	sub, err := zmqx.NewSub(zmqx.Options{BackoffMax: 50 * time.Millisecond, MaxFrame: 4 << 20, TLS: keyed.TLS(keys, security.Control, nil)})
	if err != nil {
		t.Fatal(err)
	}
	e := &Observer{t: t, sub: sub, done: make(chan struct{}), beats: map[topology.NodeID]heartbeat.Beat{}, seen: map[Life]*Times{},
		medics: map[topology.NodeID]core.Message{}, heard: map[topology.NodeID]time.Time{},
		told: map[core.EntryID]bool{}}
	for _, topic := range []string{agent.BeatTopic, agent.MessageTopic, agent.JournalTopic} {
		if err := sub.Subscribe(topic); err != nil {
			t.Fatal(err)
		}
	}
	for _, n := range topo.All() {
		if _, err := sub.ConnectTo(n.Sockets.Control.Dial, n.Identity().String()); err != nil {
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

func (e *Observer) take(m zmqx.Message) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if string(m[0]) == agent.BeatTopic {
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
	case string(m[0]) == agent.JournalTopic:
		e.note(msg.Entries)
		if msg.Term.Gen > e.journal.Term.Gen || msg.Term.Gen == e.journal.Term.Gen && (msg.Leading || !e.journal.Leading) {
			e.journal = msg
		}
	case msg.Kind == core.Beat:
		e.medics[msg.From], e.heard[msg.From] = msg, time.Now()
	}
}

// note remembers entries for good. A medic keeps the newest 256 of them, and may lose its own.
func (e *Observer) note(entries []core.Entry) {
	newest := core.Generation(0)
	for _, m := range e.medics {
		newest = max(newest, m.Term.Gen)
	}
	for _, entry := range entries {
		if !e.told[entry.EntryID] {
			e.told[entry.EntryID] = true
			e.entries = append(e.entries, Sighting{time.Now(), entry.Gen < newest, entry})
		}
	}
}

// Sightings returns all entries that were ever heard, in that order.
func (e *Observer) Sightings() []Sighting {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.entries)
}

func (e *Observer) takeBeat(b heartbeat.Beat) {
	now := time.Now()
	e.beats[b.Node] = b
	k := Life{b.Node, uint64(b.ID.Incarnation)}
	if e.seen[k] == nil {
		e.seen[k] = &Times{Heard: now}
	}
	s := e.seen[k]
	if s.Working.IsZero() && b.State != heartbeat.Recovering {
		s.Working = now
	}
	if s.Flowing.IsZero() && b.State != heartbeat.Recovering && b.Commits > 0 {
		s.Flowing = now
	}
}

// Leader is the medic that leads in the newest generation, "" for none.
func (e *Observer) Leader() topology.NodeID { return e.leader(500 * time.Millisecond) }

// leader is Leader for one that was heard within a time.
func (e *Observer) leader(within time.Duration) topology.NodeID {
	e.mu.Lock()
	defer e.mu.Unlock()
	var term core.Term
	leading := false
	for id, m := range e.medics {
		if m.Term.Gen > term.Gen {
			term, leading = m.Term, false
		}
		if m.Leading && m.Term.Gen == term.Gen && time.Since(e.heard[id]) < within {
			term, leading = m.Term, true
		}
	}
	if !leading {
		return ""
	}
	return term.Leader
}

// Generation returns the newest.
func (e *Observer) Generation() (g core.Generation) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, m := range e.medics {
		g = max(g, m.Term.Gen)
	}
	return g
}

// Agree reports whether all medics that were heard follow the same leader.
func (e *Observer) Agree() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	terms := map[core.Term]bool{}
	for _, m := range e.medics {
		terms[m.Term] = true
	}
	return len(terms) == 1
}

// Incarnation returns the last incarnation that was heard of a node or medic, 0 for none.
func (e *Observer) Incarnation(id topology.NodeID) uint64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	if m, ok := e.medics[id]; ok {
		return m.ID.Incarnation
	}
	return uint64(e.beats[id].ID.Incarnation)
}

// Beat returns a node's last heartbeat, the zero Beat if it was not heard.
func (e *Observer) Beat(id topology.NodeID) heartbeat.Beat {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.beats[id]
}

// Times is zero for a life that was not heard.
func (e *Observer) Times(l Life) Times {
	e.mu.Lock()
	defer e.mu.Unlock()
	if s := e.seen[l]; s != nil {
		return *s
	}
	return Times{}
}

// Entries returns the newest journal.
func (e *Observer) Entries() []core.Entry {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.journal.Entries
}

// Incidents returns what the journal tells since then.
func (e *Observer) Incidents(since time.Time) (all []core.Incident) {
	for _, i := range core.Incidents(e.Entries()) {
		if i.At.After(since) {
			all = append(all, i)
		}
	}
	return all
}

// PausesGrow expects that the medics began at once to restart a target, and that each of their pauses was twice as long as the one before.
func (e *Observer) PausesGrow(target core.NodeID) {
	e.t.Helper()
	var waits []time.Duration
	for _, entry := range e.Entries() {
		if entry.Node == target && entry.Kind == core.Suspected {
			waits = append(waits, entry.Wait)
		}
	}
	for i, w := range waits {
		if i > 1 && w < 2*waits[i-1] && w < 10*time.Second || i == 0 && w != 0 {
			e.t.Errorf("M5: pauses of %v", waits)
			return
		}
	}
}

// Until waits for a condition.
func (e *Observer) Until(what string, done func() bool) {
	e.t.Helper()
	for end := time.Now().Add(4 * time.Minute); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			e.t.Fatalf("not within the time: %s; the journal: %+v", what, core.Incidents(e.Entries()))
		}
	}
}
