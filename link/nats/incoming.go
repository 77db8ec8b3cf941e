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
)

// ackWait is so long that unacknowledged messages are not delivered again by time, but only when their consumer is created again: a frame
// may wait long for its reference data (R11).
const ackWait = 30 * 24 * time.Hour

// prefetch returns how many unacknowledged messages the server delivers.
func (t *Transport) prefetch() int {
	return brokered.Prefetch(int(t.Config.Topology.Limits.Window), int(t.Config.Topology.NATS.Batch))
}

// prefetchBytes returns how many bytes the library buffers for the node (R16): a window, but at least two messages of the largest size, so
// that it can request the next message before the last one is taken.
func (t *Transport) prefetchBytes() int {
	return max(int(t.Config.Topology.Limits.Window), 2*maxMessage(t.Config.Topology))
}

// receive is a session: it reads the stream of a link until an error. Unacknowledged messages are delivered again in the next session.
func (t *Transport) receive(ctx context.Context, nc *nats.Conn, in *brokered.Incoming[string]) error {
	js, err := jetstream.New(nc)
	if err != nil {
		return err
	}
	subject := t.subjectFrom(in)
	if err := t.stream(ctx, js, subject, false); err != nil {
		return err
	}
	consumer, err := t.consumer(ctx, js, streamOf(subject))
	if err != nil {
		return err
	}
	in.Reset()
	messages, err := consumer.Messages(jetstream.PullMaxBytes(t.prefetchBytes()), jetstream.PullExpiry(10*time.Second))
	if err != nil {
		return err
	}
	alive, end := context.WithCancel(ctx)
	stop := context.AfterFunc(alive, messages.Stop)
	var wg sync.WaitGroup
	wg.Add(2)
	go func() {
		defer wg.Done()
		acknowledge(alive, nc, in)
	}()
	changed := make(chan error, 1)
	go func() {
		defer wg.Done()
		if err := t.keepStream(alive, js, subject); err != nil {
			changed <- err
			messages.Stop()
		}
	}()
	defer func() { end(); stop(); messages.Stop(); wg.Wait() }()
	for {
		m, err := messages.Next()
		if err != nil {
			select {
			case why := <-changed:
				return why
			default:
			}
			return fmt.Errorf("read stream %s: %w", streamOf(subject), err)
		}
		in.Receive(m.Reply(), m.Data())
	}
}

// consumer creates the node's consumer again, after the last message up to which it has acknowledged all. Keeping the existing consumer was
// rejected: messages that were delivered to the last incarnation of this node would come again only after a delay, and out of order.
func (t *Transport) consumer(ctx context.Context, js jetstream.JetStream, stream string) (jetstream.Consumer, error) {
	ctx, cancel := context.WithTimeout(ctx, setupTime)
	defer cancel()
	name := string(t.Config.Node.ID)
	cfg := jetstream.ConsumerConfig{
		Durable: name, AckPolicy: jetstream.AckExplicitPolicy, AckWait: ackWait, MaxAckPending: t.prefetch(), MaxDeliver: -1,
	}
	old, err := js.Consumer(ctx, stream, name)
	switch {
	case errors.Is(err, jetstream.ErrConsumerNotFound):
	case err != nil:
		return nil, fmt.Errorf("look for consumer %s of stream %s: %w", name, stream, err)
	default:
		cfg.DeliverPolicy, cfg.OptStartSeq = jetstream.DeliverByStartSequencePolicy, old.CachedInfo().AckFloor.Stream+1
		if err := js.DeleteConsumer(ctx, stream, name); err != nil && !errors.Is(err, jetstream.ErrConsumerNotFound) {
			return nil, fmt.Errorf("delete consumer %s of stream %s: %w", name, stream, err)
		}
	}
	c, err := js.CreateConsumer(ctx, stream, cfg)
	if err != nil {
		return nil, fmt.Errorf("make consumer %s of stream %s: %w", name, stream, err)
	}
	return c, nil
}

var ackMessage = []byte("+ACK")

// acknowledge tells the server what is durable here.
func acknowledge(ctx context.Context, nc *nats.Conn, in *brokered.Incoming[string]) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-in.Wake():
			for _, reply := range in.TakeSettled() {
				if err := nc.Publish(reply, ackMessage); err != nil {
					return // the connection is gone
				}
			}
		}
	}
}

// readAcks is a session: it reads the acknowledgements for this node.
func (t *Transport) readAcks(ctx context.Context, nc *nats.Conn, subject string) error {
	sub, err := nc.SubscribeSync(subject)
	if err != nil {
		return err
	}
	defer func() { _ = sub.Unsubscribe() }() // it ends with the connection anyway
	names := &link.Interner{}
	for {
		m, err := sub.NextMsgWithContext(ctx)
		if errors.Is(err, nats.ErrSlowConsumer) {
			continue // some were dropped; acknowledgements are repeated and cumulative (R6)
		}
		if err != nil {
			return err
		}
		t.ReceiveAck(names, m.Data)
	}
}
