package rabbitmq

import (
	"context"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"posta.dev/posta/link"
)

// Acknowledgements of links are published to a direct exchange, with the sender's name as key, and reach an exclusive queue of the sender's
// connection. They are transient, unconfirmed, and dropped if nobody listens: each is repeated (R6).

// maxQueuedAcks bounds the queue of a node that does not read: the oldest are dropped.
const maxQueuedAcks = 1024

func declareAcks(ch *channel, name string) error {
	return ch.ExchangeDeclare(name, amqp.ExchangeDirect, false, false, false, false, nil)
}

// publishAcks is a session: it publishes the acknowledgements of this node.
func (t *Transport) publishAcks(ctx context.Context, ch *channel) error {
	exchange := acksOf(t.Config.Topology.Name)
	if err := declareAcks(ch, exchange); err != nil {
		return err
	}
	ch.ready()
	return t.PublishAcks(ctx, func(a link.Ack) error {
		return ch.Publish(exchange, string(a.To), false, false, amqp.Publishing{Body: a.Append(nil), DeliveryMode: amqp.Transient})
	})
}

// readAcks is a session: it reads the acknowledgements for this node.
func (t *Transport) readAcks(ctx context.Context, ch *channel) error {
	exchange := acksOf(t.Config.Topology.Name)
	bind := func(q string) error {
		if err := declareAcks(ch, exchange); err != nil {
			return err
		}
		return ch.QueueBind(q, string(t.Config.Node.ID), exchange, false, nil)
	}
	q, err := ch.QueueDeclare("", false, true, true, false, amqp.Table{amqp.QueueMaxLenArg: maxQueuedAcks})
	if err == nil {
		err = bind(q.Name)
	}
	if err != nil {
		return err
	}
	deliveries, err := ch.Consume(q.Name, "", true, true, false, false, nil)
	if err != nil {
		return err
	}
	ch.ready()
	names := &link.Interner{}
	look := time.NewTicker(lookAgain)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-look.C:
			if err := ch.again(func() error { return bind(q.Name) }); err != nil {
				return err
			}
		case d, ok := <-deliveries:
			if !ok {
				return cancelled(ctx, ch)
			}
			t.ReceiveAck(names, d.Body)
		}
	}
}
