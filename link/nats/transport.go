package nats

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"posta.dev/posta/link"
	"posta.dev/posta/link/internal/brokered"
	"posta.dev/posta/topology"
	"posta.dev/posta/zmqx"
)

// Transport implements link.Transport.
type Transport struct {
	*brokered.Transport[string] // deliveries are identified by the subject on which they are acknowledged

	token string // random, of this process
}

// New opens the node's control socket and starts connecting to the server. It is not an error if the server cannot be reached: that is
// logged, and New's goroutines try again.
func New(cfg link.TransportConfig, accepts *zmqx.AcceptLimit) (*Transport, error) {
	base, err := brokered.New[string](cfg, accepts)
	if err != nil {
		return nil, err
	}
	t := &Transport{base, newToken()}
	t.Start(brokered.Broker{Name: "NATS at " + topology.RedactURL(cfg.BrokerAddress()), Out: t.serveOut, In: t.serveIn})
	return t, nil
}

// serveOut runs the sending ends of all links over one connection and publishes acknowledgements.
//
// The links share one publisher. It is cleaned up when their connection is closed, and not sooner: the cleanup closes a channel, into which
// the library sends while a connection is being closed. Messages that a link's former session left unconfirmed count as pending until they
// are confirmed, or a minute has passed.
func (t *Transport) serveOut(ctx context.Context, outage *brokered.Outage) error {
	var js jetstream.JetStream
	defer func() {
		if js != nil {
			js.CleanupPublisher()
		}
	}()
	return t.onConnection(ctx, outage, "out", func(ctx context.Context, nc *nats.Conn) {
		var err error
		js, err = jetstream.New(nc, jetstream.WithPublishAsyncMaxPending(2*maxUnconfirmed*max(1, len(t.Out))),
			jetstream.WithPublishAsyncTimeout(confirmTime))
		if err != nil { // it only refuses senseless options
			panic(fmt.Sprintf("link/nats: make a publisher: %v", err))
		}
		brokered.Each(t.Out, func(o *brokered.Outgoing) {
			t.repeat(ctx, nc, t.subjectTo(o), func(ctx context.Context) error { return t.send(ctx, js, o) })
		}, func() {
			_ = t.PublishAcks(ctx, func(a link.Ack) error { // its error is the connection's
				return nc.Publish(acksOf(t.Config.Topology.Name, a.To), a.Append(nil))
			})
		})
	})
}

// serveIn runs the receiving ends of all links over one connection and reads the acknowledgements for this node.
func (t *Transport) serveIn(ctx context.Context, outage *brokered.Outage) error {
	return t.onConnection(ctx, outage, "in", func(ctx context.Context, nc *nats.Conn) {
		brokered.Each(t.In, func(in *brokered.Incoming[string]) {
			t.repeat(ctx, nc, t.subjectFrom(in), func(ctx context.Context) error { return t.receive(ctx, nc, in) })
		}, func() {
			var keeping sync.WaitGroup
			keeping.Go(func() {
				_ = t.keepName(ctx, nc) // it has closed the connection
			})
			defer keeping.Wait()
			acks := acksOf(t.Config.Topology.Name, t.Config.Node.ID)
			t.repeat(ctx, nc, acks, func(ctx context.Context) error { return t.readAcks(ctx, nc, acks) })
		})
	})
}

// onConnection serves one connection, and returns when all that was started on it has ended. The library's own reconnection is not used: it
// would hide that messages were lost on the way, and its buffer is not needed, because the link has one.
func (t *Transport) onConnection(ctx context.Context, outage *brokered.Outage, what string,
	sessions func(context.Context, *nats.Conn)) error {
	topo := t.Config.Topology
	closed := make(chan struct{})
	nc, err := nats.Connect(t.Config.BrokerAddress(), nats.NoReconnect(), nats.Timeout(topo.Limits.Handshake),
		nats.Name("posta "+topo.Name+" "+string(t.Config.Node.ID)+" "+what), nats.PingInterval(pings), nats.MaxPingsOutstanding(2),
		nats.ClosedHandler(func(*nats.Conn) { close(closed) }), nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))
	if err != nil {
		return explain(err)
	}
	defer func() { nc.Close(); <-closed }()
	if err := checkMaxPayload(nc, topo); err != nil {
		return explain(err)
	}
	if _, err := t.checkName(nc); err != nil {
		return explain(err)
	}
	if what == "in" {
		if err := t.answerName(nc); err != nil {
			return explain(err)
		}
	}
	outage.Connected()
	return brokered.Serve(ctx, func(ctx context.Context) { sessions(ctx, nc) }, func() error {
		select {
		case <-closed:
			if err := nc.LastError(); err != nil {
				return explain(err)
			}
			return explain(nats.ErrConnectionClosed)
		case <-ctx.Done():
			return nil
		}
	}, func(reason error) {
		if reason == nil {
			_ = nc.FlushTimeout(brokered.Linger) // a server that does not answer is not waited for
		}
		nc.Close()
	})
}

// pings detect that the server's machine is gone.
const pings = 5 * time.Second

// repeat runs one session after the other while the connection lasts.
func (t *Transport) repeat(ctx context.Context, nc *nats.Conn, subject string, session func(context.Context) error) {
	brokered.Repeat(ctx, nc.IsClosed, session, func(err error) {
		t.LinkFailed(subject, advise(err))
	})
}

var (
	errPayload   = errors.New("max_payload of NATS is too small")
	errOtherwise = errors.New("a stream of this name was made with other properties, which cannot be changed")
	errChanged   = errors.New("somebody has changed it")
	errStore     = errors.New("the server cannot write a message to its disk")
	errLost      = errors.New("the server did not take a message")
	errJetStream = errors.New("it has no JetStream for this user: write jetstream {} into the server's file")
)

// explain adds to an error what to do about it.
func explain(err error) error {
	switch {
	case errors.Is(err, nats.ErrAuthorization), errors.Is(err, nats.ErrAuthExpired):
		return fmt.Errorf("%w: correct user and password in the url of [nats]", err)
	case errors.Is(err, brokered.ErrSameName), errors.Is(err, errPayload), errors.Is(err, errLost), errors.Is(err, errJetStream):
		return err
	}
	return fmt.Errorf("%w: start the server (nats-server -js), or correct the url of [nats]", err)
}
