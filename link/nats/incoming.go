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
	"posta.dev/posta/link/brokered"
)

// ackWait: a delivery that is not acknowledged comes again when its consumer is made anew, and not by a clock. A frame may wait for its
// reference data for long (R11).
const ackWait = 30 * 24 * time.Hour

// prefetch is how many messages the server delivers without one being acknowledged.
func (t *Transport) prefetch() int {
	return brokered.Prefetch(int(t.Config.Topology.Limits.Window), int(t.Config.Topology.NATS.Batch))
}

// prefetchBytes is how much the library keeps of what the node has not taken in yet (R16): a window, and two of the largest messages in any case, or
// it could not ask for the next one before the last one is taken.
func (t *Transport) prefetchBytes() int {
	return max(int(t.Config.Topology.Limits.Window), 2*maxMessage(t.Config.Topology))
}

// receive is a session: it reads the stream of a link until something goes wrong. What was not acknowledged by then comes again in the next one.
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

// consumer makes the node's consumer anew, behind what it has acknowledged without a hole. The way that was turned down is to go on
// with the one there is: what the last incarnation of this node was given would come again only after a time, and out of order.
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
	defer func() { _ = sub.Unsubscribe() }() // with the connection it goes by itself
	names := &link.Interner{}
	for {
		m, err := sub.NextMsgWithContext(ctx)
		if errors.Is(err, nats.ErrSlowConsumer) {
			continue // some were dropped; the next say the same and more (R6)
		}
		if err != nil {
			return err
		}
		t.ReceiveAck(names, m.Data)
	}
}
