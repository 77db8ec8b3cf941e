package zmqx

import (
	"errors"
	"fmt"

	"github.com/go-zeromq/zmq4"
)

// Router receives from REQ and DEALER peers and answers each by its PeerID. Messages are passed as they are on the wire:
// a REQ's begin with an empty part, and so must the answer.
type Router struct {
	*socket
	*inbox
}

// NewRouter makes a ROUTER socket; Listen gives it peers.
func NewRouter(o Options) (*Router, error) {
	r := &Router{inbox: newInbox()}
	return newSocket(r, &r.socket, zmq4.Router, o)
}

// Listen opens an endpoint and returns its actual address (port 0 is replaced).
func (r *Router) Listen(endpoint string) (string, error) { return r.listen(endpoint) }

// Send queues msgs for one peer and never waits. errUnknownPeer: it is gone, the answer has no address any more.
// errOverflow: it does not read its answers; it has been disconnected, with a queue that it did not keep up with.
func (r *Router) Send(to PeerID, msgs ...Message) error {
	if err := r.opt.limits().sendable(msgs); err != nil {
		return err
	}
	p, err := r.peer(to)
	if err != nil {
		return err
	}
	err = p.queue.tryPut(msgs)
	if errors.Is(err, errFull) {
		err = fmt.Errorf("%w: peer %d (%s): %w", errOverflow, to, p.remote, err)
		p.fail(err)
	}
	return err
}

// Close waits at most Linger for the queues to be written, closes all connections and awaits all goroutines.
func (r *Router) Close() error { return r.close(r.drainPeers, r.end) }
