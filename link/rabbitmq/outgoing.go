package rabbitmq

import (
	"context"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"posta.dev/posta/link"
	"posta.dev/posta/link/brokered"
)

// maxUnconfirmed is how many messages may be on their way to the broker's disk. Few would make each wait for the last; the bytes
// are bounded by the window.
const maxUnconfirmed = 1024

// send is a session: it publishes what waits for a link until something goes wrong. What was not confirmed by then counts as lost: the next
// session reports Connected, and the link finds out what is missing (R7).
func (t *Transport) send(ctx context.Context, ch *channel, o *brokered.Outgoing) error {
	exchange := ""
	if o.To == "" {
		exchange = t.sendsTo(o)
	}
	if err := declare(ch, t.Config.Topology, exchange, t.queuesOf(o)...); err != nil {
		return err
	}
	if err := ch.Confirm(false); err != nil {
		return err
	}
	// The library waits for room in these channels and reads nothing else meanwhile: each has room for all there can be.
	confirms := ch.NotifyPublish(make(chan amqp.Confirmation, maxUnconfirmed))
	returns := ch.NotifyReturn(make(chan amqp.Return, maxUnconfirmed))
	ch.ready()
	t.Begin(o)
	defer o.End()
	overdue := time.NewTimer(confirmTime)
	defer overdue.Stop()
	for unconfirmed := 0; ; {
		wake := o.Wake()
		if unconfirmed == maxUnconfirmed {
			wake = nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-returns:
			return errLost // its queue was deleted; the next session makes it again
		case c, ok := <-confirms:
			if !ok {
				<-ctx.Done()
				return context.Cause(ctx)
			}
			overdue.Reset(confirmTime)
			if unconfirmed--; !c.Ack {
				return errLost
			}
		case <-overdue.C:
			if unconfirmed > 0 {
				return errNoAnswer
			}
		case <-wake:
			if unconfirmed == 0 {
				overdue.Reset(confirmTime)
			}
			n, err := t.publish(ch, o, exchange, maxUnconfirmed-unconfirmed)
			unconfirmed += n
			if err != nil {
				return err
			}
		}
	}
}

// publish gives the broker what waits, but at most some messages and not for long: confirms have to be read. It returns how many it gave.
func (t *Transport) publish(ch *channel, o *brokered.Outgoing, exchange string, most int) (n int, err error) {
	for ; n < min(most, maxTurn); n++ {
		frames := o.Next(int(t.Config.Topology.RabbitMQ.Batch))
		if frames == nil {
			return n, nil
		}
		msg := amqp.Publishing{Body: brokered.Pack(frames), DeliveryMode: amqp.Persistent}
		if frames[0].Kind == link.Hello {
			msg.DeliveryMode = amqp.Transient
		}
		key := ""
		if exchange == "" { // the default exchange takes a queue's name for its key
			key = t.sendsTo(o)
		}
		if err := ch.Publish(exchange, key, true, false, msg); err != nil {
			return n, err
		}
	}
	o.Signal()
	return n, nil
}

const maxTurn = 64
