package client

import (
	"context"
	"errors"

	"posta.dev/posta/protocol"
)

// Sessions asks every input and output once which sessions it has. A session is listed once for each node that knows it. What
// was heard is returned also when some did not answer, beside the error.
func (c *Client) Sessions(ctx context.Context) ([]protocol.SessionInfo, error) {
	var all []protocol.SessionInfo
	var errs []error
	for _, l := range c.nodes() {
		reply, err := l.requestOnce(ctx, protocol.Request{Type: protocol.Sessions}, protocol.Listed, c.cfg.Timeout)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		for _, s := range reply.Sessions {
			if s.Node == "" {
				s.Node = reply.Node
			}
			all = append(all, s)
		}
	}
	return all, errors.Join(errs...)
}
