package rabbitmq

import (
	"context"
	"errors"
	"fmt"

	amqp "github.com/rabbitmq/amqp091-go"

	"posta.dev/posta/link"
	"posta.dev/posta/topology"
)

// Remove deletes the queues and exchanges of a cluster. A cluster that continues later loses nothing: its frames are in its nodes' logs.
func Remove(ctx context.Context, topo *topology.Topology) error {
	conn, hangUp, err := dial(ctx, link.TransportConfig{Topology: topo}, "remove")
	if err != nil {
		return fmt.Errorf("remove cluster %s from RabbitMQ at %s: %w", topo.Name, topology.RedactURL(topo.RabbitMQ.URL), explain(err, ""))
	}
	defer hangUp()
	ch, err := conn.Channel()
	if err == nil {
		err = errors.Join(removeAll(ch, topo), conn.Close())
	}
	if err != nil {
		return fmt.Errorf("remove cluster %s from RabbitMQ: %w", topo.Name, explain(err, ""))
	}
	return nil
}

// removeAll deletes them all. For the broker it is not an error if one does not exist.
func removeAll(ch *amqp.Channel, topo *topology.Topology) error {
	for _, e := range topo.Edges {
		for _, from := range topo.Senders(e) {
			for _, to := range topo.Receivers(e) {
				if _, err := ch.QueueDelete(queueOf(topo.Name, e.Name(), from.ID, to.ID), false, false, false); err != nil {
					return err
				}
			}
			if e.Socket != topology.Pub {
				continue
			}
			if err := ch.ExchangeDelete(exchangeOf(topo.Name, e.Name(), from.ID), false, false); err != nil {
				return err
			}
		}
	}
	return ch.ExchangeDelete(acksOf(topo.Name), false, false)
}
