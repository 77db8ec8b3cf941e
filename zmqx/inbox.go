package zmqx

import "context"

// inboxDepth is how many batches may be ready, so that readers work while the receiver does. Beyond that, each reader holds one batch and
// stops reading. So for a receiver that does not receive, a socket keeps at most one further batch per peer (at most 256 KiB of small
// messages, or one large message).
const inboxDepth = 2

// inbox gathers the batches of all peers of a socket. The sockets that receive embed it.
type inbox struct {
	batches chan []Received // readers send; end closes it when all of them have ended
	pool    bufferPool
}

func newInbox() *inbox {
	return &inbox{batches: make(chan []Received, inboxDepth)}
}

// setUp implements role.
func (b *inbox) setUp(p *peer) { p.in.pool = &b.pool }

// deliver implements role: it waits until the batch can be handed over. It returns nil too when the peer ended meanwhile:
// the batch is dropped, and the reader finds the end at its next read.
func (b *inbox) deliver(p *peer, batch []Received) error {
	select {
	case b.batches <- batch:
	case <-p.quit:
	}
	return nil
}

// Recv returns the next batch: at least one message, all of one peer and in its order. errClosed after Close.
func (b *inbox) Recv(ctx context.Context) ([]Received, error) {
	select {
	case batch, ok := <-b.batches:
		if !ok {
			return nil, errClosed
		}
		return batch, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// C gives the same batches as Recv, for a select. It is closed by Close; batches that lie ready stay in it.
func (b *inbox) C() <-chan []Received { return b.batches }

// Recycle gives the memory of a batch back for messages to come, as it was received and when nobody uses any part of it
// any more. Optional: raises throughput of large messages by half over tcp, and two to four times over ipc.
func (b *inbox) Recycle(batch []Received) { b.pool.put(batch) }

// end is called once, when all readers have ended.
func (b *inbox) end() { close(b.batches) }
