package rabbitmq

import (
	"context"
	"errors"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"posta.dev/posta/link"
	"posta.dev/posta/link/internal/brokered"
	"posta.dev/posta/topology"
	"posta.dev/posta/zmqx"
)

// Transport implements link.Transport.
type Transport struct {
	*brokered.Transport[uint64] // deliveries are identified by their tags
}

// New opens the node's control socket and starts connecting to the broker. It is not an error if the broker cannot be reached: that is
// logged, and New's goroutines try again.
func New(cfg link.TransportConfig, accepts *zmqx.AcceptLimit) (*Transport, error) {
	base, err := brokered.New[uint64](cfg, accepts)
	if err != nil {
		return nil, err
	}
	t := &Transport{base}
	t.Start(brokered.Broker{Name: "RabbitMQ at " + topology.RedactURL(cfg.BrokerAddress()), Out: t.serveOut, In: t.serveIn})
	return t, nil
}

// serveOut runs the sending ends of all links over one connection and publishes acknowledgements.
func (t *Transport) serveOut(ctx context.Context, outage *brokered.Outage) error {
	return t.onConnection(ctx, outage, "out", func(ctx context.Context, conn *connection) {
		brokered.Each(t.Out, func(o *brokered.Outgoing) {
			t.onChannel(ctx, conn, t.sendsTo(o), func(ctx context.Context, ch *channel) error {
				err := t.send(ctx, ch, o)
				if otherwise(err) {
					exchange := ""
					if o.To == "" {
						exchange = t.sendsTo(o)
					}
					err = errors.Join(err, replace(conn, exchange, t.queuesOf(o)))
				}
				return err
			})
		}, func() {
			if len(t.In) > 0 {
				t.onChannel(ctx, conn, acksOf(t.Config.Topology.Name), t.publishAcks)
			}
		})
	})
}

// serveIn runs the receiving ends of all links over one connection and reads the acknowledgements for this node.
func (t *Transport) serveIn(ctx context.Context, outage *brokered.Outage) error {
	return t.onConnection(ctx, outage, "in", func(ctx context.Context, conn *connection) {
		brokered.Each(t.In, func(in *brokered.Incoming[uint64]) {
			t.onChannel(ctx, conn, t.queueOf(in), func(ctx context.Context, ch *channel) error { return t.receive(ctx, ch, in) })
		}, func() {
			if len(t.Out) > 0 {
				t.onChannel(ctx, conn, acksOf(t.Config.Topology.Name), t.readAcks)
			}
		})
	})
}

// onConnection serves one connection, and returns when all that was started on it has ended.
func (t *Transport) onConnection(ctx context.Context, outage *brokered.Outage, what string,
	sessions func(context.Context, *connection)) error {
	conn, hangUp, err := dial(ctx, t.Config, what)
	if err != nil {
		return explain(err, "")
	}
	defer hangUp()
	if err := claim(conn, t.Config, what); err != nil {
		return explain(err, "")
	}
	closed := conn.NotifyClose(make(chan *amqp.Error, 1))
	outage.Connected()
	return brokered.Serve(ctx, func(ctx context.Context) { sessions(ctx, &connection{conn, outage}) }, func() error {
		select {
		case e := <-closed:
			return explain(orClosed(e), "")
		case <-ctx.Done():
			return nil
		}
	}, func(reason error) {
		if reason == nil {
			_ = conn.CloseDeadline(time.Now().Add(brokered.Linger)) // a broker that does not answer is not waited for
		}
	})
}
