package nats

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"posta.dev/posta/topology"
)

// Remove deletes the streams of a cluster. A cluster that continues later loses nothing: its frames are in its nodes' logs.
func Remove(ctx context.Context, t *topology.Topology) error {
	if err := withConnection(t, func(nc *nats.Conn) error { return removeAll(ctx, nc, t) }); err != nil {
		return fmt.Errorf("remove cluster %s from NATS at %s: %w", t.Name, topology.RedactURL(t.NATS.URL), err)
	}
	return nil
}

func removeAll(ctx context.Context, nc *nats.Conn, t *topology.Topology) error {
	js, err := jetstream.New(nc)
	if err != nil {
		return err
	}
	for _, e := range t.Edges {
		for _, from := range t.Senders(e) {
			subjects := []string{subjectOf(t.Name, e.Name(), from.ID, "")}
			if e.Socket != topology.Pub {
				subjects = nil
				for _, to := range t.Receivers(e) {
					subjects = append(subjects, subjectOf(t.Name, e.Name(), from.ID, to.ID))
				}
			}
			for _, s := range subjects {
				if err := js.DeleteStream(ctx, streamOf(s)); err != nil && !errors.Is(err, jetstream.ErrStreamNotFound) {
					return err
				}
			}
		}
	}
	return nil
}
