package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	"posta.dev/posta/protocol"
)

// Ask says one request once to one node, for who speaks to a node and not to a cluster. A refusal is the error, beside the reply.
func Ask(ctx context.Context, endpoint string, q protocol.Request, within time.Duration) (reply protocol.Reply, err error) {
	req, err := dialZMQ(endpoint)
	if err != nil {
		return reply, fmt.Errorf("%w: endpoint %q: %w", ErrConfig, endpoint, err)
	}
	defer func() { err = errors.Join(err, req.Close()) }()
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	answer, err := req.Do(ctx, q.Append(nil))
	if err != nil {
		return reply, fmt.Errorf("%w at %s: %w", ErrNoCluster, endpoint, err)
	}
	if reply, err = protocol.DecodeReply(answer); err != nil {
		return reply, fmt.Errorf("%s answers, but not as a node of Posta does; check the address: %w", endpoint, err)
	}
	return reply, reply.Failure()
}
