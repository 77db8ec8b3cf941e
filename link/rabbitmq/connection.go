package rabbitmq

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"posta.dev/posta/link"
	"posta.dev/posta/link/internal/brokered"
)

// heartbeats detect that the machine of a broker or a node is gone. If they are longer, the next incarnation of a dead node waits longer
// until it may read its queue; if they are shorter, a paused broker counts as dead.
const heartbeats = 5 * time.Second

// connection is a connection to the broker, with the outage that records its failures. Each of the node's two connections has its own
// outage, because one may work while the other does not.
type connection struct {
	*amqp.Connection
	outage *brokered.Outage
}

// dial connects and does the handshake. hangUp closes the socket in any state of the connection.
func dial(ctx context.Context, cfg link.TransportConfig, what string) (conn *amqp.Connection, hangUp func(), err error) {
	timeout := cfg.Topology.Limits.Handshake
	var socket net.Conn
	properties := amqp.NewConnectionProperties()
	properties.SetClientConnectionName("posta " + cfg.Topology.Name + " " + string(cfg.Node.ID) + " " + what)
	conn, err = amqp.DialConfig(cfg.BrokerAddress(), amqp.Config{
		Heartbeat: heartbeats, Properties: properties,
		Dial: func(network, address string) (net.Conn, error) {
			c, err := (&net.Dialer{Timeout: timeout}).DialContext(ctx, network, address)
			if err != nil {
				return nil, err
			}
			socket = c
			return c, c.SetDeadline(time.Now().Add(timeout)) // for the handshake; the library removes it
		},
	})
	if err != nil {
		if socket != nil {
			_ = socket.Close() // the error of the handshake is returned
		}
		return nil, nil, err
	}
	forget := context.AfterFunc(ctx, func() {
		// A goroutine that hangs in a write is released, but an orderly end gets its time first.
		_ = socket.SetDeadline(time.Now().Add(2 * brokered.Linger))
	})
	return conn, func() { forget(); _ = socket.Close() }, nil
}

// claim declares a queue that is exclusive to this connection and is deleted with it. The broker refuses it while another process runs as
// this node.
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

// errLost says that the broker did not accept, or did not keep, a message.
var errLost = errors.New("the broker has lost a message")

// errNoAnswer: the broker's end of a channel can hang, as with a quorum queue that is used before it has a leader.
var errNoAnswer = errors.New("the broker does not answer")

const (
	setupTime   = 10 * time.Second // for all requests of a session before it begins
	confirmTime = time.Minute      // for the broker to confirm anything at all, when something is unconfirmed
)

// onChannel runs a session on one channel after the other while the connection lasts.
func (t *Transport) onChannel(ctx context.Context, conn *connection, queue string, session func(context.Context, *channel) error) {
	brokered.Repeat(ctx, conn.IsClosed, func(ctx context.Context) error { return onOneChannel(ctx, conn, session) }, func(err error) {
		t.LinkFailed(queue, explain(err, queue))
	})
}

// onOneChannel runs a session. Its context ends with the channel: the cause is then why the channel was closed.
func onOneChannel(ctx context.Context, conn *connection, session func(context.Context, *channel) error) error {
	// A call that waits for an answer on a channel may wait for ever, and so may the channel's Close. So the whole connection is closed.
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
		_ = ch.Close() // the session's error is returned; the channel ends with its connection
	}
	return err
}

// orClosed returns the error of NotifyClose; after an orderly end, which has no error, it returns a general one.
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

// lookAgain is the time between two checks that queues, exchanges and bindings are still as declared. Deleted ones are declared again; the
// links find out which frames are missing and send them again (R7).
const lookAgain = 3 * time.Second

// again makes requests to the broker within a session, with the time limit of the session's setup.
func (ch *channel) again(ask func() error) error {
	ch.setupDeadline.Reset(setupTime)
	defer ch.ready()
	return ask()
}

// ready reports that the broker has answered all requests of the setup.
func (ch *channel) ready() { ch.setupDeadline.Stop() }
