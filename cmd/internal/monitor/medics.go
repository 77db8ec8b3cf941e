package monitor

import (
	"context"
	"fmt"
	"sync"
	"time"

	"posta.dev/posta/medic/agent"
	"posta.dev/posta/medic/core"
	"posta.dev/posta/topology"
	"posta.dev/posta/zmqx"
)

// Medic is what was heard of a medic.
type Medic struct {
	Node  topology.Node
	Heard bool
	Age   time.Duration
	Beat  core.Message
}

// Medics is what medics say of themselves, and what they remember.
type Medics struct {
	All     []Medic // in the order of the topology
	Term    core.Term
	Led     bool // the leader of the term says so itself
	Entries []core.Entry
}

// Watcher listens to medics.
type Watcher struct {
	sub  *zmqx.Sub
	done chan struct{}
	of   []topology.Node

	mu    sync.Mutex
	beats map[topology.NodeID]core.Message
	at    map[topology.NodeID]time.Time
	last  core.Message // the newest journal
}

// Watch subscribes to medics. The watcher must be closed.
func Watch(medics []topology.Node) (*Watcher, error) {
	sub, err := zmqx.NewSub(zmqx.Options{BackoffMax: 100 * time.Millisecond, MaxFrame: 2 << 20, KeepAlive: keepAlive})
	if err != nil {
		return nil, fmt.Errorf("listen to medics: %w", err)
	}
	w := &Watcher{sub: sub, done: make(chan struct{}), of: medics, beats: map[topology.NodeID]core.Message{}, at: map[topology.NodeID]time.Time{}}
	for _, topic := range []string{agent.MessageTopic, agent.JournalTopic} {
		if err == nil {
			err = sub.Subscribe(topic)
		}
	}
	for _, n := range medics {
		if err == nil {
			_, err = sub.Connect(n.Sockets.Control.Dial)
		}
	}
	if err != nil {
		_ = sub.Close()
		return nil, fmt.Errorf("listen to medics: %w", err)
	}
	go w.run()
	return w, nil
}

func (w *Watcher) run() {
	defer close(w.done)
	for batch := range w.sub.C() {
		for _, r := range batch {
			if len(r.Msg) == 2 && r.Endpoint < len(w.of) {
				w.take(string(r.Msg[0]), r.Msg[1], w.of[r.Endpoint].ID)
			}
		}
	}
}

func (w *Watcher) take(topic string, p []byte, from topology.NodeID) {
	m, err := core.DecodeMessage(p)
	if err != nil || m.From != from {
		return // another version's, or a stranger's
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case topic == agent.JournalTopic:
		newer := m.Term.Gen > w.last.Term.Gen || m.Term.Gen == w.last.Term.Gen && (m.Leading || !w.last.Leading)
		if newer {
			w.last = m
		}
	case m.Kind == core.Beat:
		if old, ok := w.beats[from]; !ok || old.ID.LogID != m.ID.LogID || m.ID.Incarnation >= old.ID.Incarnation {
			w.beats[from], w.at[from] = m, time.Now()
		}
	}
}

// View is what is known now.
func (w *Watcher) View() Medics {
	w.mu.Lock()
	defer w.mu.Unlock()
	v := Medics{Entries: w.last.Entries}
	now := time.Now()
	for _, n := range w.of {
		beat, ok := w.beats[n.ID]
		m := Medic{Node: n, Heard: ok, Beat: beat}
		if ok {
			m.Age = now.Sub(w.at[n.ID])
		}
		v.All = append(v.All, m)
		if m.Heard && beat.Term.Gen >= v.Term.Gen && (beat.Term != v.Term || beat.Leading) {
			v.Term, v.Led = beat.Term, beat.Leading && m.Age < time.Second
		}
	}
	return v
}

// Until looks every few milliseconds and returns when enough says so, or with an error when ctx ends, with what was seen last.
func (w *Watcher) Until(ctx context.Context, enough func(Medics) bool) (Medics, error) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		v := w.View()
		if enough(v) {
			return v, nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return v, context.Cause(ctx)
		}
	}
}

// Close ends the watcher and awaits its goroutine.
func (w *Watcher) Close() error {
	err := w.sub.Close()
	<-w.done
	return err
}
