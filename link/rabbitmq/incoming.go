package rabbitmq

import (
	"context"
	"errors"
	"time"

	"posta.dev/posta/link/brokered"
)

var errCancelled = errors.New("the broker has ended the subscription: its queue was deleted")

// cancelled is why there are no more deliveries: the end of the channel, if it has ended, or that of the subscription.
func cancelled(ctx context.Context, ch *channel) error {
	if ch.IsClosed() {
		<-ctx.Done()
		return context.Cause(ctx)
	}
	return errCancelled
}

// receive is a session: it reads a link's queue until something goes wrong. What the broker was not told to forget by then it delivers to the
// next session.
func (t *Transport) receive(ctx context.Context, ch *channel, in *brokered.Incoming[uint64]) error {
	exchange, queue := "", t.queueOf(in)
	if in.To == "" {
		exchange = exchangeOf(t.Config.Topology.Name, in.Edge, in.From)
	}
	if err := declare(ch, t.Config.Topology, exchange, queue); err != nil {
		return err
	}
	if err := ch.Qos(brokered.Prefetch(int(t.Config.Topology.Limits.Window), int(t.Config.Topology.RabbitMQ.Batch)), 0, false); err != nil {
		return err
	}
	in.Reset()
	// Exclusive: two that read one queue would each find holes.
	deliveries, err := ch.Consume(queue, "", false, true, false, false, nil)
	if err != nil {
		return err
	}
	ch.ready()
	look := time.NewTicker(lookAgain)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-look.C: // somebody may have taken the binding away: nothing tells a consumer of that
			err := ch.again(func() error { return declare(ch, t.Config.Topology, exchange, queue) })
			if err != nil {
				return err
			}
		case d, ok := <-deliveries:
			if !ok {
				return cancelled(ctx, ch)
			}
			in.Receive(d.DeliveryTag, d.Body)
		case <-in.Wake():
			if done := in.TakeSettled(); len(done) > 0 {
				if err := ch.Ack(done[len(done)-1], true); err != nil {
					return err
				}
			}
		}
	}
}
