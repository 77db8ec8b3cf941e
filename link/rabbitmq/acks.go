package rabbitmq

import (
	"context"

	amqp "github.com/rabbitmq/amqp091-go"

	"posta.dev/posta/link"
)

// Acknowledgements of links go by a direct exchange, the sender's name being the key, to an exclusive queue of the sender's connection. They
// are transient, not confirmed, and dropped where nobody listens: each is repeated (R6).

// maxAnswers bounds the queue of a node that does not read: the oldest are dropped.
const maxAnswers = 1024

func declareAcks(ch *channel, name string) error {
	return ch.ExchangeDeclare(name, amqp.ExchangeDirect, false, false, false, false, nil)
}

// publishAcks publishes acknowledgements over one channel.
func (t *Transport) publishAcks(ctx context.Context, ch *channel) error {
	exchange := acksOf(t.cfg.Topology.Name)
	if err := declareAcks(ch, exchange); err != nil {
		return err
	}
	closed := ch.NotifyClose(make(chan *amqp.Error, 1))
	ch.ready()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case e := <-closed:
			return orClosed(e)
		case <-t.acks.Wake():
			for _, a := range t.acks.Take() {
				msg := amqp.Publishing{Body: a.Append(nil), DeliveryMode: amqp.Transient}
				if err := ch.Publish(exchange, string(a.To), false, false, msg); err != nil {
					return err
				}
			}
		}
	}
}

// readAcks reads the acknowledgements for this node over one channel.
func (t *Transport) readAcks(ctx context.Context, ch *channel) error {
	exchange := acksOf(t.cfg.Topology.Name)
	if err := declareAcks(ch, exchange); err != nil {
		return err
	}
	q, err := ch.QueueDeclare("", false, true, true, false, amqp.Table{amqp.QueueMaxLenArg: maxAnswers})
	if err == nil {
		err = ch.QueueBind(q.Name, string(t.cfg.Node.ID), exchange, false, nil)
	}
	if err != nil {
		return err
	}
	closed := ch.NotifyClose(make(chan *amqp.Error, 1))
	deliveries, err := ch.Consume(q.Name, "", true, true, false, false, nil)
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
				return errCancelled
			}
			a, err := link.DecodeAck(names, d.Body)
			if err != nil {
				t.refuse(err)
				continue
			}
			t.heard(a)
			t.tell(link.Event{Acks: []link.Ack{a}})
		}
	}
}
