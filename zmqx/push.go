package zmqx

import (
	"context"
	"fmt"

	"github.com/go-zeromq/zmq4"
)

// Push sends to exactly one PULL peer (R1). Its methods may be called from any goroutine.
type Push struct {
	*socket
	queue *sendQueue // of one connection after the other: what is sent without a connection waits in it
}

// NewPush makes a PUSH socket; Connect gives it its peer.
func NewPush(o Options) (*Push, error) {
	p := new(Push)
	p, err := newSocket(p, &p.socket, zmq4.Push, o)
	if err == nil {
		p.queue = newSendQueue(p.opt)
	}
	return p, err
}

// Connect starts keeping a connection to the endpoint; it does not wait for it. A second call is errSecondPeer.
func (p *Push) Connect(endpoint string) error { return p.connectOnce(endpoint, "") }

// ConnectTo is Connect to the process of that name, and to no other that answers there (Options.TLS). A plain socket does not look at the
// name.
func (p *Push) ConnectTo(endpoint, name string) error { return p.connectOnce(endpoint, name) }

// TrySend queues all of msgs or none: errFull when there is no room.
func (p *Push) TrySend(msgs ...Message) error {
	if err := p.opt.limits().sendable(msgs); err != nil {
		return err
	}
	return p.queue.tryPut(msgs)
}

// Reset drops the connection and makes a new one, for a caller that knows that the peer is dead or stuck although TCP does not.
func (p *Push) Reset() {
	for _, peer := range p.allPeers() {
		peer.fail(errReset)
	}
}

// Close waits at most Linger for the queue to be written, and only while there is a connection. It closes the connection and awaits all
// goroutines.
func (p *Push) Close() error {
	p.queue.close()
	return p.close(p.drain, nil)
}

// drain waits until the queue is written or its connection has ended. Waiting for a new connection was tried and rejected:
// when all nodes of a cluster are told to stop at once, a node with frames for one that is already gone would wait for the whole of Linger,
// for nothing.
func (p *Push) drain(ctx context.Context) {
	for _, to := range p.allPeers() { // one at most
		p.queue.drained(ctx, to.quit)
	}
}

func (p *Push) setUp(to *peer) { to.queue, to.in.lim = p.queue, p.opt.commandLimits() }

func (p *Push) deliver(*peer, []Received) error {
	return fmt.Errorf("%w: a PULL does not send", errProtocol)
}
