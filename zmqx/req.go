package zmqx

import (
	"context"
	"fmt"
	"sync"

	"github.com/go-zeromq/zmq4"
)

// Req asks one REP or ROUTER peer, one question at a time, as the client of the ZeroMQ guide's lazy pirate pattern: a
// question without an answer costs the connection, so that an answer that comes late cannot be taken for the next one.
type Req struct {
	*socket
	turn chan struct{} // holds a token while a question is in flight

	mu      sync.Mutex    // guards what follows
	current *peer         // the connection to ask over; nil while there is none
	arrived chan struct{} // closed when current is set; another one when it is nil again
	asked   PeerID        // the peer that owes an answer; 0: none does
	answer  chan Message  // of the question in flight, with room for one: deliver never waits
}

// NewReq makes a REQ socket; Connect gives it its peer.
func NewReq(o Options) (*Req, error) {
	r := &Req{turn: make(chan struct{}, 1), arrived: make(chan struct{})}
	return newSocket(r, &r.socket, zmq4.Req, o)
}

// Connect starts keeping a connection to the endpoint; it does not wait for it. A second call is errSecondPeer.
func (r *Req) Connect(endpoint string) error { return r.connectOnce(endpoint, "") }

// ConnectTo is Connect to the process of that name, and to no other that answers there (Options.TLS). A plain socket does not look at the
// name.
func (r *Req) ConnectTo(endpoint, name string) error { return r.connectOnce(endpoint, name) }

// Do sends a question and waits for its answer. It waits for its turn, for a connection and for the answer, all within
// ctx. errDisconnected: the connection went away meanwhile, and the peer may or may not have seen the question.
func (r *Req) Do(ctx context.Context, question Message) (Message, error) {
	wrapped := append(Message{nil}, question...) // the delimiter of a REQ
	if err := r.opt.limits().sendable([]Message{wrapped}); err != nil {
		return nil, err
	}
	select {
	case r.turn <- struct{}{}:
		defer func() { <-r.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-r.ctx.Done():
		return nil, errClosed
	}
	p, answer, err := r.ask(ctx, wrapped)
	if err != nil {
		return nil, err
	}
	select {
	case m := <-answer:
		return m, nil
	case <-p.quit:
		return r.lost(p, answer)
	case <-ctx.Done():
		r.abandon(p)
		return nil, ctx.Err()
	}
}

// ask waits for a connection and puts the question on it.
func (r *Req) ask(ctx context.Context, question Message) (*peer, <-chan Message, error) {
	for {
		r.mu.Lock()
		p, arrived := r.current, r.arrived
		if p != nil {
			r.asked, r.answer = p.id, make(chan Message, 1)
			answer := r.answer
			r.mu.Unlock()
			err := p.queue.put(ctx, question)
			if err != nil {
				r.abandon(p)
			}
			return p, answer, err
		}
		r.mu.Unlock()
		select {
		case <-arrived:
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		case <-r.ctx.Done():
			return nil, nil, errClosed
		}
	}
}

// lost: the answer may have come just before the end of the connection.
func (r *Req) lost(p *peer, answer <-chan Message) (Message, error) {
	r.forget(p)
	select {
	case m := <-answer:
		return m, nil
	default:
	}
	if r.ctx.Err() != nil {
		return nil, errClosed
	}
	return nil, fmt.Errorf("%w: %w", errDisconnected, p.cause)
}

// abandon closes the connection; the dialler opens the next one at once.
func (r *Req) abandon(p *peer) {
	r.forget(p)
	p.fail(errAbandoned)
}

// forget makes sure that the next question does not go to p.
func (r *Req) forget(p *peer) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.asked == p.id {
		r.asked = 0
	}
	if r.current == p {
		r.current, r.arrived = nil, make(chan struct{})
	}
}

// Close ends a question in flight with errClosed and awaits all goroutines.
func (r *Req) Close() error { return r.close(nil, nil) }

func (r *Req) setUp(*peer) {}

func (r *Req) join(p *peer) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.current = p
	close(r.arrived)
}

func (r *Req) leave(p *peer) { r.forget(p) }

// deliver takes the one answer that is owed. An answer without a question ends the connection: what came after it could
// not be told from the right one.
func (r *Req) deliver(from *peer, batch []Received) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	m := batch[0].Msg
	if len(batch) > 1 || r.asked != from.id {
		return fmt.Errorf("%w: an answer without a question", errProtocol)
	}
	if len(m) < 2 || len(m[0]) > 0 {
		return fmt.Errorf("%w: an answer without the empty delimiter and a body", errProtocol)
	}
	r.asked = 0
	r.answer <- m[1:]
	return nil
}
