package rabbitmq

import (
	"context"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"posta.dev/posta/link"
	"posta.dev/posta/link/internal/brokered"
)

// maxUnconfirmed is how many messages may be unconfirmed. With few, each one waits for the one before; the window bounds their bytes.
const maxUnconfirmed = 1024

// send is a session: it publishes the frames of a link until an error. Unconfirmed frames then count as lost: the next session reports
// Connected, and the link finds out what is missing (R7).
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
	// The library blocks while these channels are full, and reads nothing else meanwhile. So each can hold all that may come.
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
			return errLost // its queue was deleted; the next session declares it again
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

// publish sends waiting messages to the broker, but only some and not for long, because confirms have to be read. It returns how many it
// sent.
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
		if exchange == "" { // the default exchange routes by the queue's name
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
