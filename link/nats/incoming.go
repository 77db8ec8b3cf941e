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

// incoming is the receiving end of a link.
type incoming struct {
	t       *Transport
	subject string
	unacked *brokered.Unacked[string] // by the subject that a message is acknowledged on
}

const (
	minPrefetch = 64
	maxPrefetch = 4096
	// neverAgain: what is not acknowledged comes again when a consumer is made, and not by a clock. A frame may wait for its
	// reference data for long (R11).
	neverAgain = 30 * 24 * time.Hour
)

// prefetch is how many messages the server gives without one being acknowledged.
func (t *Transport) prefetch() int {
	if t.cfg.Topology.NATS.Batch == 0 {
		return maxPrefetch
	}
	return max(minPrefetch, min(maxPrefetch, 2*int(t.cfg.Topology.Limits.Window/t.cfg.Topology.NATS.Batch)))
}

// session reads the stream until something goes wrong. What was not acknowledged by then comes again in the next session.
func (in *incoming) session(ctx context.Context, nc *nats.Conn) error {
	js, err := jetstream.New(nc)
	if err != nil {
		return err
	}
	if err := in.t.stream(ctx, js, in.subject); err != nil {
		return err
	}
	consumer, err := in.consumer(ctx, js)
	if err != nil {
		return err
	}
	in.unacked.Reset()
	messages, err := consumer.Messages(jetstream.PullMaxMessages(in.t.prefetch()), jetstream.PullExpiry(10*time.Second))
	if err != nil {
		return err
	}
	alive, end := context.WithCancel(ctx)
	stop := context.AfterFunc(alive, messages.Stop)
	var wg sync.WaitGroup
	wg.Add(1)
	go func() {
		defer wg.Done()
		in.acknowledge(alive, nc)
	}()
	defer func() { end(); stop(); messages.Stop(); wg.Wait() }()
	names := &link.Interner{}
	for {
		m, err := messages.Next()
		if err != nil {
			return fmt.Errorf("read stream %s: %w", streamOf(in.subject), err)
		}
		frames, err := brokered.Unpack(names, m.Data())
		if err != nil {
			in.t.refuse(err)
		}
		in.unacked.Delivered(m.Reply(), frames)
		if len(frames) > 0 {
			in.t.tell(link.Event{Frames: frames})
		}
	}
}

// consumer makes the node's consumer anew, behind what it has acknowledged without a hole. The way that was turned down is to go on
// with the one there is: what the last life of this node was given would come again only after a time, and out of order.
func (in *incoming) consumer(ctx context.Context, js jetstream.JetStream) (jetstream.Consumer, error) {
	ctx, cancel := context.WithTimeout(ctx, setupTime)
	defer cancel()
	name, stream := string(in.t.cfg.Node.ID), streamOf(in.subject)
	cfg := jetstream.ConsumerConfig{
		Durable: name, AckPolicy: jetstream.AckExplicitPolicy, AckWait: neverAgain, MaxAckPending: in.t.prefetch(), MaxDeliver: -1,
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
func (in *incoming) acknowledge(ctx context.Context, nc *nats.Conn) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-in.unacked.Wake():
			for _, reply := range in.unacked.TakeSettled() {
				if err := nc.Publish(reply, ackMessage); err != nil {
					return // the connection is gone
				}
			}
		}
	}
}

// serveIn runs the receiving ends of all links, and reads the acknowledgements for this node.
func (t *Transport) serveIn(ctx context.Context, nc *nats.Conn) {
	var wg sync.WaitGroup
	for _, in := range t.in {
		wg.Add(1)
		go func() {
			defer wg.Done()
			t.onLink(ctx, nc, in.subject, in.session)
		}()
	}
	t.onLink(ctx, nc, acksOf(t.cfg.Topology.Name, t.cfg.Node.ID), t.readAcks)
	wg.Wait()
}

// readAcks reads the acknowledgements for this node.
func (t *Transport) readAcks(ctx context.Context, nc *nats.Conn) error {
	sub, err := nc.SubscribeSync(acksOf(t.cfg.Topology.Name, t.cfg.Node.ID))
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
		a, err := link.DecodeAck(names, m.Data)
		if err != nil {
			t.refuse(err)
			continue
		}
		t.heard(a)
		t.tell(link.Event{Acks: []link.Ack{a}})
	}
}
