package monitor

import (
	"context"
	"fmt"
	"sync"
	"time"

	"posta.dev/posta/nodes/heartbeat"
	"posta.dev/posta/topology"
	"posta.dev/posta/zmqx"
)

// Topic is what heartbeats are published under; acknowledgements have others.
const Topic = "H"

// keepAlive finds a connection behind which nobody is any more: a container may move to another address.
const keepAlive = 2 * time.Second

// Listener keeps a NodeTable of living nodes.
type Listener struct {
	sub  *zmqx.Sub
	done chan struct{}

	mu    sync.Mutex
	board *NodeTable // written by run
}

// Listen subscribes to all nodes. The listener must be closed.
func Listen(nodes []topology.Node) (*Listener, error) {
	// A short pause between attempts: somebody waits for nodes that are just starting.
	sub, err := zmqx.NewSub(zmqx.Options{BackoffMax: 100 * time.Millisecond, MaxFrame: 2 << 20, KeepAlive: keepAlive})
	if err != nil {
		return nil, fmt.Errorf("listen to heartbeats: %w", err)
	}
	l := &Listener{sub: sub, done: make(chan struct{}), board: NewNodeTable(nodes)}
	err = sub.Subscribe(Topic)
	for _, n := range nodes {
		if err == nil {
			_, err = sub.Connect(n.Sockets.Control.Dial)
		}
	}
	if err != nil {
		_ = sub.Close()
		return nil, fmt.Errorf("listen to heartbeats: %w", err)
	}
	go l.run()
	return l, nil
}

func (l *Listener) run() {
	defer close(l.done)
	for batch := range l.sub.C() {
		now := time.Now()
		for _, r := range batch {
			l.take(r.Msg, now)
		}
	}
}

// take passes over what is no heartbeat: it may be another version's, or a stranger's.
func (l *Listener) take(m zmqx.Message, now time.Time) {
	if len(m) != 2 || string(m[0]) != Topic {
		return
	}
	beat, err := heartbeat.Decode(m[1])
	if err != nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.board.Heard(beat, now)
}

// View is the status of every node now.
func (l *Listener) View() []Status {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.board.View(time.Now())
}

// Until looks every few milliseconds and returns when enough says so or ctx ends, with what was seen last. An error of enough ends
// it too.
func (l *Listener) Until(ctx context.Context, enough func([]Status) (bool, error)) ([]Status, error) {
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

// Close ends the listener and awaits its goroutine.
func (l *Listener) Close() error {
	err := l.sub.Close()
	<-l.done
	return err
}
