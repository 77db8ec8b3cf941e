package zmqx

import (
	"context"
	"sync"
)

// EventKind says what happened to a peer.
type EventKind int

const (
	// Connected: a handshake has succeeded; messages flow from now on.
	Connected EventKind = iota + 1
	// Disconnected: the connection is over. Err says why, Dropped what was lost with it.
	Disconnected
	// Unreachable: an endpoint given to Connect could not be reached. Told once per outage, attempts go on.
	Unreachable
)

func (k EventKind) String() string {
	switch k {
	case Connected:
		return "connected"
	case Disconnected:
		return "disconnected"
	case Unreachable:
		return "unreachable"
	}
	return "unknown"
}

// Event is told to Options.OnEvent. For one endpoint of Connect, Disconnected comes before the next Connected. A message
// may be received a little before the Connected event of its peer, and none is received after its Disconnected was sent
// except those already handed over to the receiving side.
type Event struct {
	Kind     EventKind
	Peer     PeerID // 0 for Unreachable
	Endpoint int
	Remote   string
	Err      error
	Dropped  int // messages queued for the peer that were not written, or perhaps only in part
}

// maxEvents is how many events may wait for a slow OnEvent. Beyond, the goroutine of the peer that comes or goes waits:
// an event must not get lost, because a link says hello on it, and must not pile up, because strangers cause it.
const maxEvents = 4096

// notifier tells events in order from one goroutine.
type notifier struct {
	fn   func(Event)
	wake chan struct{} // 1 deep
	done chan struct{}

	mu     sync.Mutex
	queue  []Event
	room   chan struct{} // closed when the queue is taken; nil when nobody waits
	closed bool
}

func newNotifier(fn func(Event)) *notifier {
	n := &notifier{fn: fn, wake: make(chan struct{}, 1), done: make(chan struct{})}
	if fn == nil {
		close(n.done)
		return n
	}
	go n.run()
	return n
}

func (n *notifier) run() {
	defer close(n.done)
	for range n.wake {
		n.mu.Lock()
		events, closed := n.queue, n.closed
		n.queue = nil
		if n.room != nil {
			close(n.room)
			n.room = nil
		}
		n.mu.Unlock()
		for _, e := range events {
			n.fn(e)
		}
		if closed {
			return
		}
	}
}

// tell queues e. It waits for room only while ctx lives: on Close all events are taken.
func (n *notifier) tell(ctx context.Context, e Event) {
	if n.fn == nil {
		return
	}
	for {
		n.mu.Lock()
		if len(n.queue) < maxEvents || ctx.Err() != nil {
			n.queue = append(n.queue, e)
			n.mu.Unlock()
			n.kick()
			return
		}
		if n.room == nil {
			n.room = make(chan struct{})
		}
		room := n.room
		n.mu.Unlock()
		select {
		case <-room:
		case <-ctx.Done():
		}
	}
}

func (n *notifier) kick() {
	select {
	case n.wake <- struct{}{}:
	default:
	}
}

// close tells what is queued and waits until it is told.
func (n *notifier) close() {
	n.mu.Lock()
	n.closed = true
	n.mu.Unlock()
	n.kick()
	<-n.done
}
