package zmqx

import (
	"context"
	"fmt"
	"sync"

	"github.com/go-zeromq/zmq4"
)

// Push sends to exactly one PULL peer (R1). Its methods may be called from any goroutine.
type Push struct {
	*socket
	queue *sendQueue

	mu        sync.Mutex
	connected bool
}

// NewPush makes a PUSH socket; Connect gives it its peer.
func NewPush(o Options) (*Push, error) {
	p := new(Push)
	s, err := newSocket(zmq4.Push, o, p)
	if err != nil {
		return nil, err
	}
	p.socket, p.queue = s, newSendQueue(s.opt)
	return p, nil
}

// Connect starts keeping a connection to the endpoint; it does not wait for it. A second call is ErrSecondPeer.
func (p *Push) Connect(endpoint string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.connected {
		return fmt.Errorf("%w: make another PUSH for %s (R1)", ErrSecondPeer, endpoint)
	}
	_, err := p.connect(endpoint)
	p.connected = err == nil
	return err
}

// TrySend queues all of msgs or none: ErrFull when there is no room.
func (p *Push) TrySend(msgs ...Message) error {
	if err := p.opt.limits().sendable(msgs); err != nil {
		return err
	}
	return p.queue.tryPut(msgs)
}

// Send queues msgs in order and waits for room. After an error of ctx the first of them may have been queued.
func (p *Push) Send(ctx context.Context, msgs ...Message) error {
	if err := p.opt.limits().sendable(msgs); err != nil {
		return err
	}
	return p.queue.put(ctx, msgs)
}

// Queued is what was sent and is not yet written to a connection.
func (p *Push) Queued() (messages, bytes int) { return p.queue.size() }

// Reset drops the connection and makes a new one, for who knows that the peer is dead or stuck although TCP does not.
func (p *Push) Reset() {
	for _, peer := range p.allPeers() {
		peer.fail(ErrReset)
	}
}

// Close waits at most Linger for the queue to be written, closes the connection and awaits all goroutines.
func (p *Push) Close() error {
	p.queue.close()
	return p.close(p.queue.drained)
}

func (p *Push) outfit(to *peer) { to.queue, to.in.lim = p.queue, short(p.opt) }

func (p *Push) join(*peer) {
	if p.opt.Hello == nil {
		return
	}
	hello := p.opt.Hello()
	if err := p.opt.limits().sendable(hello); err != nil {
		p.opt.Logger.Error("Options.Hello gave a message that cannot be sent", "cause", err)
		return
	}
	p.queue.putFirst(hello)
}

func (p *Push) leave(*peer) {}

func (p *Push) deliver(*peer, []Received) error {
	return fmt.Errorf("%w: a PULL does not send", ErrProtocol)
}
