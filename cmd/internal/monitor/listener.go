package monitor

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"posta.dev/posta/medic/agent"
	"posta.dev/posta/security"
	"posta.dev/posta/topology"
	"posta.dev/posta/zmqx"
)

// heartbeatTopic is the topic of heartbeats. Acknowledgements have other topics.
const heartbeatTopic = "H"

// keepAlive finds connections whose other end has gone: a container may move to another address.
const keepAlive = 2 * time.Second

// Listener keeps a view V of what nodes or medics publish on their control sockets.
type Listener[V any] struct {
	sub  *zmqx.Sub
	from []topology.Node // the publishers; the index of a connection is the index of its node here
	done chan struct{}   // closed when run has ended

	expiries *expiries // nil without keys

	mu      sync.Mutex
	table   table[V]      // written by run
	refused map[int]error // reasons why there is no connection, by endpoint, if one side refuses the other
}

type table[V any] interface {
	take(topic string, payload []byte, from topology.NodeID, now time.Time)
	View(now time.Time) V
}

// ListenToNodes subscribes to the heartbeats of nodes. keys are those of the listener; nil in a cluster without keys. The caller must close
// the listener.
func ListenToNodes(nodes []topology.Node, keys *security.Keys) (*Listener[[]Status], error) {
	return listen[[]Status]("heartbeats", nodes, keys, security.Node, newNodeTable(nodes), heartbeatTopic)
}

// ListenToMedics subscribes to the heartbeats and the journals of medics. keys are as in ListenToNodes. The caller must close the listener.
func ListenToMedics(medics []topology.Node, keys *security.Keys) (*Listener[Medics], error) {
	return listen[Medics]("medics", medics, keys, security.Medic, newMedicTable(medics), agent.MessageTopic, agent.JournalTopic)
}

func listen[V any](what string, from []topology.Node, keys *security.Keys, role security.Role, t table[V], topics ...string) (*Listener[V],
	error) {
	// A short pause between attempts: users wait for nodes that are just starting, and an attempt that fails costs little.
	o := zmqx.Options{BackoffMax: 20 * time.Millisecond, MaxFrame: 2 << 20, KeepAlive: keepAlive}
	l := &Listener[V]{from: from, done: make(chan struct{}), table: t, refused: map[int]error{}}
	if keys != nil {
		l.expiries = &expiries{Socket: keys.Socket(security.Control, nil), keys: keys, ends: map[string]time.Time{}}
		o.TLS, o.OnEvent = l.expiries, l.heed
	}
	sub, err := zmqx.NewSub(o)
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
			_, err = sub.ConnectTo(n.Sockets.Control.Dial, security.Identity{Role: role, Name: string(n.ID)}.String())
		}
	}
	if err != nil {
		_ = sub.Close()
		return nil, fmt.Errorf("listen to %s: %w", what, err)
	}
	l.sub = sub
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

// heed remembers that a process has refused this one, or was refused by it. It forgets this when the two are connected.
func (l *Listener[V]) heed(e zmqx.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.refused, e.Endpoint)
	if e.Kind == zmqx.Unreachable && errors.Is(e.Err, zmqx.ErrRefused) {
		l.refused[e.Endpoint] = e.Err
	}
}

// Refused returns an error that names the processes that refuse this one, or that could not prove their names; nil if there are none.
func (l *Listener[V]) Refused() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var errs []error
	for i, n := range l.from {
		if err := l.refused[i]; err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", n.ID, err))
		}
	}
	return errors.Join(errs...)
}

// View returns what is known now.
func (l *Listener[V]) View() V {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.table.View(time.Now())
}

// Until looks every few milliseconds. It returns what it saw last when enough returns true or an error, or when ctx ends.
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

// UntilClosed is Until for a listener that is not needed afterwards: UntilClosed(ctx, enough)(ListenToNodes(nodes)).
func UntilClosed[V any](ctx context.Context, enough func(V) (bool, error)) func(*Listener[V], error) (V, error) {
	return func(l *Listener[V], err error) (view V, _ error) {
		if err != nil {
			return view, err
		}
		defer func() { _ = l.Close() }()
		return l.Until(ctx, enough)
	}
}

// Close ends the listener and waits for its goroutine.
func (l *Listener[V]) Close() error {
	err := l.sub.Close()
	<-l.done
	return err
}
