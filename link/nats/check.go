package nats

import (
	"context"
	"fmt"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"posta.dev/posta/topology"
)

// Check reports whether the server of a topology is reachable, admits the cluster, has JetStream and takes frames of this size, before
// anything starts. Nodes themselves wait for a server that is away (see [New]).
func Check(ctx context.Context, t *topology.Topology) error {
	if err := withConnection(t, func(nc *nats.Conn) error { return check(ctx, nc, t) }); err != nil {
		return fmt.Errorf("NATS at %s: %w", topology.RedactURL(t.NATS.URL), err)
	}
	return nil
}

// withConnection calls do with a connection for this call. The error says what to do.
func withConnection(t *topology.Topology, do func(*nats.Conn) error) error {
	nc, err := nats.Connect(t.NATS.URL, nats.NoReconnect(), nats.Timeout(t.Limits.Handshake))
	if err == nil {
		defer nc.Close()
		err = do(nc)
	}
	if err != nil {
		return explain(err)
	}
	return nil
}

func check(ctx context.Context, nc *nats.Conn, t *topology.Topology) error {
	if err := checkMaxPayload(nc, t); err != nil {
		return err
	}
	js, err := jetstream.New(nc)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, t.Limits.Handshake)
	defer cancel()
	if _, err := js.AccountInfo(ctx); err != nil {
		return fmt.Errorf("%w: %w", errJetStream, err)
	}
	return nil
}

// checkMaxPayload compares the largest frame with what the server takes.
func checkMaxPayload(nc *nats.Conn, t *topology.Topology) error {
	if need := maxMessage(t); nc.MaxPayload() < int64(need) {
		return fmt.Errorf("%w: the server takes messages of %d bytes, and limits.frame needs %d: write max_payload = %d into the server's "+
			"file, or lower limits.frame",
			errPayload, nc.MaxPayload(), need, need)
	}
	return nil
}

// maxMessage returns what a server must accept: the largest frame, its header, and what a message adds. It is less than JetStream's files
// can hold: [topology.MaxNATSFrame].
func maxMessage(t *topology.Topology) int {
	return max(int(t.Limits.Frame), int(t.NATS.Batch)) + 64<<10
}
