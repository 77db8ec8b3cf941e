package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	"posta.dev/posta/protocol"
	"posta.dev/posta/security"
)

// RequestOnce sends one request once to one node, for callers that address a node and not a cluster. If the node refuses, the reply and an
// error are returned. keys are as in Config.Keys.
func RequestOnce(ctx context.Context, keys *security.Keys, endpoint string, q protocol.Request,
	within time.Duration) (reply protocol.Reply, err error) {
	req, err := dialer(keys)(endpoint)
	if err != nil {
		return reply, dialError(endpoint, err)
	}
	defer func() { err = errors.Join(err, req.Close()) }()
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	answer, err := req.Do(ctx, q.Append(nil))
	if err != nil {
		return reply, fmt.Errorf("%w at %s: %w", ErrNoCluster, endpoint, err)
	}
	if reply, err = decode(endpoint, answer); err != nil {
		return reply, err
	}
	return reply, reply.Failure()
}

func dialError(endpoint string, err error) error {
	return fmt.Errorf("%w: endpoint %q: %w", ErrConfig, endpoint, err)
}
