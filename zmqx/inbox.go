package zmqx

import (
	"context"
	"sync"
)

// inboxDepth is how many batches may lie ready, so that readers work while the receiver does. Beyond it each reader
// holds one batch and stops reading: what a socket keeps for a receiver that does not come is bounded by one batch per
// peer (at most 256 KiB of small messages, or one large message).
const inboxDepth = 2

// inbox gathers the batches of all peers of a socket.
type inbox struct {
	batches chan []Received
	gate    gate
	memory  recycler
	end     sync.Once
}

func newInbox() *inbox {
	return &inbox{batches: make(chan []Received, inboxDepth)}
}

// deliver waits until the batch can be handed over. It is nil too when the peer ended meanwhile: the batch is dropped,
// and the reader finds the end at its next read.
func (b *inbox) deliver(p *peer, batch []Received) error {
	if !p.gate.pass(p.quit) || !b.gate.pass(p.quit) {
		return nil
	}
	select {
	case b.batches <- batch:
	case <-p.quit:
	}
	return nil
}

// recv returns the next batch, or ErrClosed after the socket has closed.
func (b *inbox) recv(ctx context.Context) ([]Received, error) {
	select {
	case batch, ok := <-b.batches:
		if !ok {
			return nil, ErrClosed
		}
		return batch, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// close is for when all readers have ended.
func (b *inbox) close() { b.end.Do(func() { close(b.batches) }) }
