package rabbitmq

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"posta.dev/posta/link/brokered"
	"posta.dev/posta/topology"
)

const (
	backoffMin = 20 * time.Millisecond
	backoffMax = time.Second
	// heartbeats find a broker, or a node, whose machine is gone. Longer ones let the queue of a dead node wait for as long before the
	// next life of it may read; shorter ones take a paused broker for a dead one.
	heartbeats = 5 * time.Second
)

// backoff is the pause between attempts: it doubles.
type backoff struct{ wait time.Duration }

// pause waits; false when ctx has ended.
func (b *backoff) pause(ctx context.Context) bool {
	b.wait = min(max(backoffMin, 2*b.wait), backoffMax)
	timer := time.NewTimer(b.wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// connection is one that stands, and where its troubles are told. Each of the node's two has an outage of its own: one that is well again
// says nothing of the other.
type connection struct {
	*amqp.Connection
	outage *brokered.Outage
}

// keep has a connection made, served until it breaks, and made again, until ctx ends. Only one that has stood for a while is the end of an
// outage: a broker that greets and hangs up again, as one that is stopping, would be dialled without a pause, and told of each time.
func (t *Transport) keep(ctx context.Context, what string, serve func(context.Context, *connection)) {
	defer t.wg.Done()
	outage := brokered.NewOutage(t.cfg.Log, "RabbitMQ at "+topology.RedactURL(t.cfg.Topology.RabbitMQ.URL)+", "+what)
	var b backoff
	for ctx.Err() == nil {
		conn, hangUp, err := t.dial(ctx, what)
		if err == nil {
			began := time.Now()
			stood := time.AfterFunc(brokered.Steady, func() { outage.Over(time.Now()) })
			err = t.onConnection(ctx, &connection{conn, outage}, serve)
			stood.Stop()
			hangUp()
			if time.Since(began) >= brokered.Steady {
				b = backoff{}
			}
		}
		if err != nil && ctx.Err() == nil {
			outage.Failed(time.Now(), explain(err, ""))
			b.pause(ctx)
		}
	}
}

// onConnection serves until the connection breaks or ctx ends, and returns when all that was started has ended.
func (t *Transport) onConnection(ctx context.Context, conn *connection, serve func(context.Context, *connection)) error {
	closed := conn.NotifyClose(make(chan *amqp.Error, 1))
	alive, end := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Add(1)
	go func() {
		defer wg.Done()
		serve(alive, conn)
	}()
	var err error = amqp.ErrClosed
	select {
	case e := <-closed:
		if e != nil {
			err = e
		}
	case <-ctx.Done():
		err = nil
	}
	end()
	if err == nil {
		_ = conn.CloseDeadline(time.Now().Add(linger)) // a broker that does not answer is left without a word
	}
	wg.Wait()
	return err
}

// dial connects and greets. hangUp closes the socket, whatever state the connection is in.
func (t *Transport) dial(ctx context.Context, what string) (conn *amqp.Connection, hangUp func(), err error) {
	timeout := t.cfg.Topology.Limits.Handshake
	var socket net.Conn
	properties := amqp.NewConnectionProperties()
	properties.SetClientConnectionName("posta " + t.cfg.Topology.Name + " " + string(t.cfg.Node.ID) + " " + what)
	conn, err = amqp.DialConfig(t.cfg.Topology.RabbitMQ.URL, amqp.Config{
		Heartbeat: heartbeats, Properties: properties,
		Dial: func(network, address string) (net.Conn, error) {
			c, err := (&net.Dialer{Timeout: timeout}).DialContext(ctx, network, address)
			if err != nil {
				return nil, err
			}
			socket = c
			return c, c.SetDeadline(time.Now().Add(timeout)) // for the greeting; the library takes it off
		},
	})
	if err != nil {
		if socket != nil {
			_ = socket.Close() // the error is the one of the greeting
		}
		return nil, nil, err
	}
	forget := context.AfterFunc(ctx, func() {
		// Whoever is stuck in a write is set free, but a good end gets its time first.
		_ = socket.SetDeadline(time.Now().Add(2 * linger))
	})
	return conn, func() { forget(); _ = socket.Close() }, nil
}

// errLost says that the broker did not take, or did not keep, something it was given.
var errLost = errors.New("the broker has lost a message")

// errNoAnswer: the broker's end of a channel can hang, as with a quorum queue that is used before it has a leader.
var errNoAnswer = errors.New("the broker does not answer")

const (
	setupTime   = 10 * time.Second // for all that a session asks before it begins
	confirmTime = time.Minute      // for the broker to confirm anything at all, when something is unconfirmed
)

// onChannel runs a session on one channel after the other, for as long as the connection stands.
func (t *Transport) onChannel(ctx context.Context, conn *connection, queue string, session func(context.Context, *channel) error) {
	var b backoff
	for ctx.Err() == nil && !conn.IsClosed() {
		began := time.Now()
		err := t.onOneChannel(ctx, conn, session)
		if ctx.Err() != nil || conn.IsClosed() {
			return // what broke is the connection, and that is told by who keeps it
		}
		t.cfg.Log.Warn("a channel to RabbitMQ is opened again; nothing is lost", "queue", queue, "err", explain(err, queue))
		if time.Since(began) > 10*backoffMax {
			b = backoff{}
		}
		b.pause(ctx)
	}
}

func (t *Transport) onOneChannel(ctx context.Context, conn *connection, session func(context.Context, *channel) error) error {
	// Who waits for an answer on a channel waits for ever, and so does closing it: the whole connection has to go.
	patience := time.AfterFunc(setupTime, func() {
		conn.outage.Failed(time.Now(), explain(errNoAnswer, ""))
		_ = conn.CloseDeadline(time.Now())
	})
	defer patience.Stop()
	ch, err := conn.Channel()
	if err != nil {
		return err
	}
	err = session(ctx, &channel{ch, patience})
	if ctx.Err() == nil {
		patience.Reset(setupTime)
		_ = ch.Close() // the session's error is the one to tell; with the connection the channel goes by itself
	}
	return err
}

// channel is a channel that is expected to be set up soon.
type channel struct {
	*amqp.Channel
	setupDeadline *time.Timer
}

// ready says that the broker has answered all that it was asked.
func (ch *channel) ready() { ch.setupDeadline.Stop() }
