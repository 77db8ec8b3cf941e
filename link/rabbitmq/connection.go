package rabbitmq

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"posta.dev/posta/link"
	"posta.dev/posta/link/brokered"
)

// heartbeats find a broker, or a node, whose machine is gone. Longer ones let the queue of a dead node wait for as long before its
// next incarnation may read; shorter ones take a paused broker for a dead one.
const heartbeats = 5 * time.Second

// connection is one that stands, and the outage that its failures are told to. Each of the node's two has its own: the recovery of one
// says nothing of the other.
type connection struct {
	*amqp.Connection
	outage *brokered.Outage
}

// dial connects and greets. hangUp closes the socket, whatever state the connection is in.
func dial(ctx context.Context, cfg link.TransportConfig, what string) (conn *amqp.Connection, hangUp func(), err error) {
	timeout := cfg.Topology.Limits.Handshake
	var socket net.Conn
	properties := amqp.NewConnectionProperties()
	properties.SetClientConnectionName("posta " + cfg.Topology.Name + " " + string(cfg.Node.ID) + " " + what)
	conn, err = amqp.DialConfig(cfg.Topology.RabbitMQ.URL, amqp.Config{
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
		_ = socket.SetDeadline(time.Now().Add(2 * brokered.Linger))
	})
	return conn, func() { forget(); _ = socket.Close() }, nil
}

// claim makes a queue that belongs to this connection alone and goes with it. The broker refuses it while another process is this node.
func claim(conn *amqp.Connection, cfg link.TransportConfig, what string) error {
	ch, err := conn.Channel()
	if err != nil {
		return err
	}
	name := nodeOf(cfg.Topology.Name, cfg.Node.ID, what)
	_, err = ch.QueueDeclare(name, false, true, true, false, amqp.Table{amqp.QueueMaxLenArg: 1})
	var e *amqp.Error
	if errors.As(err, &e) && e.Code == amqp.ResourceLocked {
		return fmt.Errorf("%w (queue %s belongs to it)", brokered.ErrSameName, name)
	}
	if err != nil {
		return err
	}
	return ch.Close()
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
	brokered.Repeat(ctx, conn.IsClosed, func(ctx context.Context) error { return onOneChannel(ctx, conn, session) }, func(err error) {
		t.LinkFailed(queue, explain(err, queue))
	})
}

// onOneChannel runs a session. Its context ends with the channel: the cause is then why the channel was closed.
func onOneChannel(ctx context.Context, conn *connection, session func(context.Context, *channel) error) error {
	// Whoever waits for an answer on a channel may wait for ever, and so may its Close: the whole connection has to go.
	deadline := time.AfterFunc(setupTime, func() {
		conn.outage.Failed(time.Now(), explain(errNoAnswer, ""))
		_ = conn.CloseDeadline(time.Now())
	})
	defer deadline.Stop()
	ch, err := conn.Channel()
	if err != nil {
		return err
	}
	alive, end := context.WithCancelCause(ctx)
	closed := ch.NotifyClose(make(chan *amqp.Error, 1))
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		select {
		case e := <-closed:
			end(orClosed(e))
		case <-alive.Done():
		}
	}()
	err = session(alive, &channel{ch, deadline})
	end(nil)
	<-watched
	if ctx.Err() == nil {
		deadline.Reset(setupTime)
		_ = ch.Close() // the session's error is the one to tell; with the connection the channel goes by itself
	}
	return err
}

// orClosed makes an error of what NotifyClose tells, which is nothing after a good end.
func orClosed(e *amqp.Error) error {
	if e == nil {
		return amqp.ErrClosed
	}
	return e
}

// channel is a channel that is expected to be set up soon.
type channel struct {
	*amqp.Channel
	setupDeadline *time.Timer
}

// lookAgain is the time between two looks whether queues, exchanges and bindings are still as they were declared. What was taken away is made
// again; the links find out what is missing and send it again (R7).
const lookAgain = 3 * time.Second

// again asks something of the broker within a session, in the same time as the session's beginning.
func (ch *channel) again(ask func() error) error {
	ch.setupDeadline.Reset(setupTime)
	defer ch.ready()
	return ask()
}

// ready says that the broker has answered all that it was asked.
func (ch *channel) ready() { ch.setupDeadline.Stop() }
