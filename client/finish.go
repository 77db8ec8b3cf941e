package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
)

// endTimeout bounds how long ending a session may take: somebody may have pressed Ctrl-C.
const endTimeout = 2 * time.Second

// Cancel aborts the session at every input and output, if this client opened it (or Config.Force is set). It takes at most 2 s, also when ctx has ended; the error names the nodes
// that did not answer in time. Those find out by the client's silence (limits.client_timeout). It is protocol.ErrFinished if an output has the session's
// answers.
func (c *Client) Cancel(ctx context.Context) error { return c.tellAll(ctx, protocol.Cancel) }

// Finish closes the session at every input and output: its results are dropped. It takes at most 2 s; the error names the
// nodes that did not answer in time. There results_ttl does the same.
func (c *Client) Finish(ctx context.Context) error { return c.tellAll(ctx, protocol.Close) }

// tellAll sends a request to every input and output at once.
func (c *Client) tellAll(ctx context.Context, kind protocol.RequestType) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
	defer cancel()
	q := c.request(kind)
	if c.cfg.Force {
		q.Token, q.Force = session.Token{}, true
	}
	nodes := c.nodes()
	errs := make(chan error, len(nodes))
	for _, l := range nodes {
		go func() {
			reply, err := l.request(ctx, q, protocol.OK)
			if refused := (*protocol.Error)(nil); errors.As(err, &refused) && LeavesOurs(err) {
				err = nil // any answer will do: a node that does not know the session has nothing to drop
			}
			if err == nil && kind == protocol.Cancel && reply.State == session.Done {
				err = &protocol.Error{Code: protocol.ErrFinished, Message: "it has its answers: there is nothing to cancel"}
			}
			if err != nil {
				err = fmt.Errorf("%s at %s: %w", kind, l.endpoint, err)
			}
			errs <- err
		}()
	}
	var all error
	for range nodes {
		all = errors.Join(all, <-errs)
	}
	return all
}

// nodes returns the connections to every input and output.
func (c *Client) nodes() []*conn {
	inputs, outputs, _ := c.connections()
	return append(inputs, outputs...)
}
