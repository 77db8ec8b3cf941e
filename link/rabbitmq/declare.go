package rabbitmq

import (
	"errors"
	"strings"

	amqp "github.com/rabbitmq/amqp091-go"

	"posta.dev/posta/topology"
)

// declare makes what frames go through. Both ends of a link do, with the same words, so either may come first.
func declare(ch *channel, t *topology.Topology, exchange string, queues ...string) error {
	if exchange != "" {
		if err := ch.ExchangeDeclare(exchange, amqp.ExchangeFanout, true, false, false, false, nil); err != nil {
			return err
		}
	}
	for _, q := range queues {
		if _, err := ch.QueueDeclare(q, true, false, false, false, arguments(t)); err != nil {
			return err
		}
		if exchange == "" {
			continue
		}
		if err := ch.QueueBind(q, "", exchange, false, nil); err != nil {
			return err
		}
	}
	return nil
}

// arguments of a queue. Its length is bounded, and what is too much is dropped from the front: whoever begins anew is sent everything
// again from its hwm, and without a bound a node in a crash loop would fill the broker's disk. Frames that are not acknowledged are a
// window at most, and one frame more, so in front of twice as much there are only some that came twice. To purge the queue when
// a receiver begins anew was turned down: it is one more thing to wait for before frames flow, and the bound is needed all the same.
func arguments(t *topology.Topology) amqp.Table {
	l := t.Limits
	return amqp.Table{
		amqp.QueueTypeArg: t.RabbitMQ.Queue, amqp.QueueMaxLenBytesArg: 2 * (int64(l.Window) + int64(l.Frame)),
	}
}

const inequivalent = "inequivalent arg"

// otherwise reports whether a queue or an exchange could not be declared because it was made with other properties: for other limits, of another
// kind, or by somebody else's hand.
func otherwise(err error) bool {
	var e *amqp.Error
	return errors.As(err, &e) && e.Code == amqp.PreconditionFailed && strings.Contains(e.Reason, inequivalent)
}

// replace deletes what was made with other properties. The next session makes it as it should be; what was in it is in the outbox of this
// node, which is its only sender.
func replace(conn *connection, exchange string, queues []string) error {
	ch, err := conn.Channel()
	if err != nil {
		return err
	}
	for _, q := range queues {
		if _, err := ch.QueueDelete(q, false, false, false); err != nil {
			return err
		}
	}
	if exchange != "" {
		if err := ch.ExchangeDelete(exchange, false, false); err != nil {
			return err
		}
	}
	return ch.Close()
}
