package brokered

import (
	"sync"

	"posta.dev/posta/link"
)

// pendingAcks are the acknowledgements on their way from the node's loop to the goroutine that publishes them. Acknowledgements
// are cumulative (R6): the last of each link is enough, so they need no bound.
type pendingAcks struct {
	wake chan struct{}

	mu     sync.Mutex
	latest map[ackKey]link.Ack
}

type ackKey struct {
	edge string
	to   link.NodeID
}

// newPendingAcks returns an empty set.
func newPendingAcks() *pendingAcks {
	return &pendingAcks{wake: make(chan struct{}, 1), latest: map[ackKey]link.Ack{}}
}

// Put takes acknowledgements. A request for a resend that was not published yet is kept.
func (p *pendingAcks) Put(acks []link.Ack) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, a := range acks {
		k := ackKey{a.Edge, a.To}
		if old, ok := p.latest[k]; ok && old.Resend && old.Log == a.Log && old.Hwm == a.Hwm {
			a.Resend = true
		}
		p.latest[k] = a
	}
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// Wake is ready when Take may have something.
func (p *pendingAcks) Wake() <-chan struct{} { return p.wake }

// Take returns, and forgets, what is to be published.
func (p *pendingAcks) Take() []link.Ack {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := make([]link.Ack, 0, len(p.latest))
	for k, a := range p.latest {
		out = append(out, a)
		delete(p.latest, k)
	}
	return out
}

// Empty reports whether nothing is to be published.
func (p *pendingAcks) Empty() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.latest) == 0
}
