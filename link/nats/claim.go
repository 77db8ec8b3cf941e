package nats

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"posta.dev/posta/link/internal/brokered"
)

const (
	claimTime = 500 * time.Millisecond // for another process of this node to answer
	lookAgain = 3 * time.Second        // between two checks that streams and names are still as they were created
)

// checkName asks whether another process runs as this node. The answer is the token of that process; no process answers its own question.
func (t *Transport) checkName(nc *nats.Conn) (other string, err error) {
	m, err := nc.Request(nodeOf(t.Config.Topology.Name, t.Config.Node.ID), []byte(t.token), claimTime)
	switch {
	case errors.Is(err, nats.ErrNoResponders), errors.Is(err, nats.ErrTimeout):
		return "", nil
	case err != nil:
		return "", err
	}
	return string(m.Data), fmt.Errorf("%w: %s", brokered.ErrSameName, brokered.SameNameAdvice)
}

// answerName answers other processes that want to run as this node, while the connection lasts.
func (t *Transport) answerName(nc *nats.Conn) error {
	_, err := nc.Subscribe(nodeOf(t.Config.Topology.Name, t.Config.Node.ID), func(m *nats.Msg) {
		if string(m.Data) != t.token {
			_ = m.Respond([]byte(t.token)) // the other asks again
		}
	})
	return err
}

// keepName closes the connection if another process runs as this node, too, because both started at the same moment. One of them gives way.
func (t *Transport) keepName(ctx context.Context, nc *nats.Conn) error {
	return every(ctx, func() error {
		if other, err := t.checkName(nc); err != nil && other > t.token {
			nc.Close() // the next attempt to connect reports why
			return err
		}
		return nil
	})
}

// keepStream returns when a stream was deleted or changed.
func (t *Transport) keepStream(ctx context.Context, js jetstream.JetStream, subject string) error {
	want := t.streamConfig(subject)
	return every(ctx, func() error {
		ctx, cancel := context.WithTimeout(ctx, setupTime)
		defer cancel()
		is, err := js.Stream(ctx, want.Name)
		if err != nil {
			return fmt.Errorf("look at stream %s: %w", want.Name, err)
		}
		if !fits(&is.CachedInfo().Config, &want) {
			return fmt.Errorf("stream %s: %w", want.Name, errChanged)
		}
		return nil
	})
}

// every calls look repeatedly until it returns an error, or ctx ends, which is not an error.
func every(ctx context.Context, look func() error) error {
	tick := time.NewTicker(lookAgain)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			if err := look(); err != nil && ctx.Err() == nil {
				return err
			}
		}
	}
}

func newToken() string { return rand.Text() }
