package rabbitmq

import (
	"context"
	"errors"
	"sync"

	amqp "github.com/rabbitmq/amqp091-go"

	"posta.dev/posta/link"
	"posta.dev/posta/link/brokered"
)

// incoming is the receiving end of a link.
type incoming struct {
	t        *Transport
	exchange string // that the queue is bound to; "" for the default one
	queue    string
	unacked  *brokered.Unacked[uint64]
}

// prefetch is how many messages the broker gives without having been told to forget one. The node takes in as much as its sender's window
// allows, so it is at least twice that in full batches; smaller messages are not many either.
func (t *Transport) prefetch() int {
	if t.cfg.Topology.RabbitMQ.Batch == 0 {
		return maxPrefetch
	}
	return max(minPrefetch, min(maxPrefetch, 2*int(t.cfg.Topology.Limits.Window/t.cfg.Topology.RabbitMQ.Batch)))
}

const (
	minPrefetch = 64
	maxPrefetch = 4096
)

var errCancelled = errors.New("the broker has ended the subscription: its queue was deleted")

// session reads the queue until something goes wrong. What the broker was not told to forget by then it gives to the next session.
func (in *incoming) session(ctx context.Context, ch *channel) error {
	if err := in.t.declare(ch, in.exchange, in.queue); err != nil {
		return err
	}
	if err := ch.Qos(in.t.prefetch(), 0, false); err != nil {
		return err
	}
	closed := ch.NotifyClose(make(chan *amqp.Error, 1))
	in.unacked.Reset()
	// Exclusive: two that read one queue would each find holes.
	deliveries, err := ch.Consume(in.queue, "", false, true, false, false, nil)
	if err != nil {
		return err
	}
	ch.ready()
	names := &link.Interner{}
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case e := <-closed:
			return orClosed(e)
		case d, ok := <-deliveries:
			if !ok {
				select {
				case e := <-closed:
					return orClosed(e)
				default:
					return errCancelled
				}
			}
			in.take(names, &d)
		case <-in.unacked.Wake():
			if done := in.unacked.TakeSettled(); len(done) > 0 {
				if err := ch.Ack(done[len(done)-1], true); err != nil {
					return err
				}
			}
		}
	}
}

func (in *incoming) take(names *link.Interner, d *amqp.Delivery) {
	frames, err := brokered.Unpack(names, d.Body)
	if err != nil {
		in.t.refuse(err)
	}
	in.unacked.Delivered(d.DeliveryTag, frames)
	if len(frames) > 0 {
		in.t.tell(link.Event{Frames: frames})
	}
}

// serveIn runs the receiving ends of all links, and reads the acknowledgements for this node.
func (t *Transport) serveIn(ctx context.Context, conn *connection) {
	var wg sync.WaitGroup
	for _, in := range t.in {
		wg.Add(1)
		go func() {
			defer wg.Done()
			t.onChannel(ctx, conn, in.queue, in.session)
		}()
	}
	if len(t.out) > 0 {
		t.onChannel(ctx, conn, acksOf(t.cfg.Topology.Name), t.readAcks)
	}
	wg.Wait()
}
