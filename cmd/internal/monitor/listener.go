package monitor

import (
	"context"
	"fmt"
	"sync"
	"time"

	"posta.dev/posta/medic/agent"
	"posta.dev/posta/topology"
	"posta.dev/posta/zmqx"
)

// heartbeatTopic is what heartbeats are published under; acknowledgements have others.
const heartbeatTopic = "H"

// keepAlive finds a connection behind which nobody is any more: a container may move to another address.
const keepAlive = 2 * time.Second

// Listener keeps a view V of what nodes or medics publish on their control sockets.
type Listener[V any] struct {
	sub  *zmqx.Sub
	from []topology.Node // the publishers, in the order of connections
	done chan struct{}   // closed when run has ended

	mu    sync.Mutex
	table table[V] // written by run
}

type table[V any] interface {
	take(topic string, payload []byte, from topology.NodeID, now time.Time)
	View(now time.Time) V
}

// ListenToNodes subscribes to the heartbeats of nodes. The listener must be closed.
func ListenToNodes(nodes []topology.Node) (*Listener[[]Status], error) {
	return listen[[]Status]("heartbeats", nodes, newNodeTable(nodes), heartbeatTopic)
}

// ListenToMedics subscribes to the heartbeats and the journals of medics. The listener must be closed.
func ListenToMedics(medics []topology.Node) (*Listener[Medics], error) {
	return listen[Medics]("medics", medics, newMedicTable(medics), agent.MessageTopic, agent.JournalTopic)
}

func listen[V any](what string, from []topology.Node, t table[V], topics ...string) (*Listener[V], error) {
	// A short pause between attempts: somebody waits for nodes that are just starting.
	sub, err := zmqx.NewSub(zmqx.Options{BackoffMax: 100 * time.Millisecond, MaxFrame: 2 << 20, KeepAlive: keepAlive})
	if err != nil {
		return nil, fmt.Errorf("listen to %s: %w", what, err)
	}
	for _, topic := range topics {
		if err == nil {
			err = sub.Subscribe(topic)
		}
	}
	for _, n := range from {
		if err == nil {
			_, err = sub.Connect(n.Sockets.Control.Dial)
		}
	}
	if err != nil {
		_ = sub.Close()
		return nil, fmt.Errorf("listen to %s: %w", what, err)
	}
	l := &Listener[V]{sub: sub, from: from, done: make(chan struct{}), table: t}
	go l.run()
	return l, nil
}

func (l *Listener[V]) run() {
	defer close(l.done)
	for batch := range l.sub.C() {
		now := time.Now()
		for _, r := range batch {
			if len(r.Msg) == 2 && r.Endpoint < len(l.from) {
				l.mu.Lock()
				l.table.take(string(r.Msg[0]), r.Msg[1], l.from[r.Endpoint].ID, now)
				l.mu.Unlock()
			}
		}
	}
}

// View is what is known now.
func (l *Listener[V]) View() V {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.table.View(time.Now())
}

// Until looks every few milliseconds and returns when enough says so or ctx ends, with what was seen last. An error of enough ends
// it too.
func (l *Listener[V]) Until(ctx context.Context, enough func(V) (bool, error)) (V, error) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		view := l.View()
		if done, err := enough(view); done || err != nil {
			return view, err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return view, context.Cause(ctx)
		}
	}
}

// UntilClosed is Until for a listener that is of no use afterwards: UntilClosed(ctx, enough)(ListenToNodes(nodes)).
func UntilClosed[V any](ctx context.Context, enough func(V) (bool, error)) func(*Listener[V], error) (V, error) {
	return func(l *Listener[V], err error) (view V, _ error) {
		if err != nil {
			return view, err
		}
		defer func() { _ = l.Close() }()
		return l.Until(ctx, enough)
	}
}

// Close ends the listener and awaits its goroutine.
func (l *Listener[V]) Close() error {
	err := l.sub.Close()
	<-l.done
	return err
}
