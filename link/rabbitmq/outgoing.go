package rabbitmq

import (
	"context"
	"errors"
	"sync"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"posta.dev/posta/link"
	"posta.dev/posta/link/brokered"
	"posta.dev/posta/topology"
)

// outgoing is the sending end of a link, or of all links of a pub edge.
type outgoing struct {
	t        *Transport
	edge     string
	exchange string   // fanout; "" for the default exchange, where a queue's name is its key
	queues   []string // of the receivers
	link     *brokered.Outgoing
}

// maxUnconfirmed is how many messages may be on their way to the broker's disk. Few would make each wait for the last; the bytes
// are bounded by the window.
const maxUnconfirmed = 1024

func newOutgoing(t *Transport, edge, exchange string, to ...topology.Node) *outgoing {
	l := t.cfg.Topology.Limits
	o := &outgoing{t: t, edge: edge, exchange: exchange}
	var nodes []link.NodeID
	for _, n := range to {
		nodes = append(nodes, n.ID)
		o.queues = append(o.queues, queueOf(t.cfg.Topology.Name, edge, t.cfg.Node.ID, n.ID))
	}
	o.link = brokered.NewOutgoing(int(l.Window)+int(l.Frame), nodes...)
	return o
}

// session publishes over one channel until something goes wrong. What was not confirmed by then counts as lost: the next
// session reports Connected, and the link finds out what is missing (R7).
func (o *outgoing) session(ctx context.Context, ch *channel) error {
	if err := o.t.declare(ch, o.exchange, o.queues...); err != nil {
		return err
	}
	if err := ch.Confirm(false); err != nil {
		return err
	}
	// The library waits for room in these channels and reads nothing else meanwhile: each has room for all there can be.
	confirms := ch.NotifyPublish(make(chan amqp.Confirmation, maxUnconfirmed))
	returns := ch.NotifyReturn(make(chan amqp.Return, maxUnconfirmed))
	closed := ch.NotifyClose(make(chan *amqp.Error, 1))
	ch.ready()
	for _, node := range o.link.Begin() {
		o.t.tell(link.Event{Connected: true, Edge: o.edge, Node: node})
	}
	defer o.link.End()
	overdue := time.NewTimer(confirmTime)
	defer overdue.Stop()
	for unconfirmed := 0; ; {
		wake := o.link.Wake()
		if unconfirmed == maxUnconfirmed {
			wake = nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case e := <-closed:
			return orClosed(e)
		case <-returns:
			return errLost // its queue was deleted; the next session makes it again
		case c, ok := <-confirms:
			if !ok {
				return orClosed(<-closed)
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
			n, err := o.publish(ch, maxUnconfirmed-unconfirmed)
			unconfirmed += n
			if err != nil {
				return err
			}
		}
	}
}

// orClosed makes an error of what NotifyClose tells, which is nothing after a good end.
func orClosed(e *amqp.Error) error {
	if e == nil {
		return amqp.ErrClosed
	}
	return e
}

// publish gives the broker what waits, but at most some messages and not for long: confirms have to be read. It returns how many it gave.
func (o *outgoing) publish(ch *channel, most int) (n int, err error) {
	for ; n < min(most, maxTurn); n++ {
		frames := o.link.Next(int(o.t.cfg.Topology.RabbitMQ.Batch))
		if frames == nil {
			return n, nil
		}
		msg := amqp.Publishing{Body: brokered.Pack(frames), DeliveryMode: amqp.Persistent}
		if frames[0].Kind == link.Hello {
			msg.DeliveryMode = amqp.Transient
		}
		key := ""
		if o.exchange == "" {
			key = o.queues[0]
		}
		if err := ch.Publish(o.exchange, key, true, false, msg); err != nil {
			return n, err
		}
	}
	o.link.Signal()
	return n, nil
}

const maxTurn = 64

// serveOut runs the sending ends of all links, and publishes acknowledgements.
func (t *Transport) serveOut(ctx context.Context, conn *connection) {
	var wg sync.WaitGroup
	for _, o := range t.out {
		wg.Add(1)
		go func() {
			defer wg.Done()
			name := o.exchange
			if name == "" {
				name = o.queues[0]
			}
			t.onChannel(ctx, conn, name, func(ctx context.Context, ch *channel) error {
				err := o.session(ctx, ch)
				if outgrown(err) {
					err = errors.Join(err, t.replace(conn, o.queues))
				}
				return err
			})
		}()
	}
	if len(t.in) > 0 {
		t.onChannel(ctx, conn, acksOf(t.cfg.Topology.Name), t.publishAcks)
	}
	wg.Wait()
}
