package rabbitmq

import (
	"context"
	"errors"
	"time"

	"posta.dev/posta/link/internal/brokered"
)

var errCancelled = errors.New("the broker has ended the subscription: its queue was deleted")

// cancelled is why there are no more deliveries: the channel has ended, or the subscription.
func cancelled(ctx context.Context, ch *channel) error {
	if ch.IsClosed() {
		<-ctx.Done()
		return context.Cause(ctx)
	}
	return errCancelled
}

// receive is a session: it reads a link's queue until an error. The broker delivers unacknowledged messages again to the next session.
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
	// Exclusive: two consumers of one queue would each find holes.
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
		case <-look.C: // somebody may have removed the binding, which no consumer is notified of
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
