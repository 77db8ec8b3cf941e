package rabbitmq

import (
	"errors"
	"strings"

	amqp "github.com/rabbitmq/amqp091-go"

	"posta.dev/posta/topology"
)

// declare declares the queues and exchanges for frames. Both ends of a link do so with the same arguments, so either may come first.
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

// arguments returns the arguments of a queue. Its length is bounded, and the oldest messages are dropped: a receiver that restarts is sent
// everything again from its hwm, so without a bound a node in a crash loop would fill the broker's disk. At most a window and one frame are
// unacknowledged, so a queue of twice that length holds repeated frames only. Purging the queue when a receiver restarts was rejected: it
// delays frames, and the bound would still be needed.
func arguments(t *topology.Topology) amqp.Table {
	l := t.Limits
	return amqp.Table{
		amqp.QueueTypeArg: t.RabbitMQ.Queue, amqp.QueueMaxLenBytesArg: 2 * (int64(l.Window) + int64(l.Frame)),
	}
}

const inequivalent = "inequivalent arg"

// otherwise reports whether a queue or an exchange could not be declared because it exists with other properties: other limits, another
// kind, or created by somebody else.
func otherwise(err error) bool {
	var e *amqp.Error
	return errors.As(err, &e) && e.Code == amqp.PreconditionFailed && strings.Contains(e.Reason, inequivalent)
}

// replace deletes a queue or exchange with other properties. The next session declares it correctly. Its frames are still in the outbox of
// this node, the only sender.
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
