package zmqx

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-zeromq/zmq4"
)

// Router receives from REQ and DEALER peers and answers each by its PeerID. Messages are passed as they are on the wire:
// a REQ's begin with an empty part, and so must the answer (SplitEnvelope).
type Router struct {
	*socket
	inbox *inbox
}

// NewRouter makes a ROUTER socket; Listen gives it peers.
func NewRouter(o Options) (*Router, error) {
	r := &Router{inbox: newInbox()}
	s, err := newSocket(zmq4.Router, o, r)
	if err != nil {
		return nil, err
	}
	r.socket = s
	return r, nil
}

// Listen opens an endpoint and returns its actual address (port 0 is replaced).
func (r *Router) Listen(endpoint string) (string, error) { return r.listen(endpoint) }

// Recv returns the next batch: at least one message, all of one peer and in its order.
func (r *Router) Recv(ctx context.Context) ([]Received, error) { return r.inbox.recv(ctx) }

// C gives the same batches as Recv, for a select. It is closed by Close.
func (r *Router) C() <-chan []Received { return r.inbox.batches }

// Send queues msgs for one peer and never waits. ErrUnknownPeer: it is gone, the answer has no address any more.
// ErrOverflow: it does not read its answers; it has been disconnected, with a queue that it did not keep up with.
func (r *Router) Send(to PeerID, msgs ...Message) error {
	if err := r.opt.limits().sendable(msgs); err != nil {
		return err
	}
	p, err := r.peer(to)
	if err != nil {
		return err
	}
	err = p.queue.tryPut(msgs)
	if errors.Is(err, ErrFull) {
		err = fmt.Errorf("%w: peer %d (%s): %w", ErrOverflow, to, p.remote, err)
		p.fail(err)
		r.count.dropped.Add(uint64(len(msgs)))
	}
	return err
}

// Disconnect ends the connection of one peer, for who finds its messages unacceptable.
func (r *Router) Disconnect(id PeerID, cause error) error {
	p, err := r.peer(id)
	if err == nil {
		p.fail(cause)
	}
	return err
}

// Recycle gives the memory of a batch back for messages to come, as it was received and when nobody uses any part of it
// any more. It is never necessary, but makes large messages half as fast again over tcp and two to four times over ipc.
func (r *Router) Recycle(batch []Received) { r.inbox.memory.put(batch) }

// Close waits at most Linger for the queues to be written, closes all connections and awaits all goroutines.
func (r *Router) Close() error {
	err := r.close(r.drainPeers)
	r.inbox.close()
	return err
}

func (r *Router) join(*peer)      {}
func (r *Router) leave(*peer)     {}
func (r *Router) outfit(to *peer) { to.queue, to.in.memory = newSendQueue(r.opt), &r.inbox.memory }

func (r *Router) deliver(from *peer, batch []Received) error { return r.inbox.deliver(from, batch) }
