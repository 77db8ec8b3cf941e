package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	"posta.dev/posta/protocol"
)

// farewellTime bounds how long saying goodbye may take: somebody has pressed Ctrl-C.
const farewellTime = 2 * time.Second

// Cancel aborts the session at every input and output. It takes at most 2 s, also when ctx has ended; the error names who did
// not answer in time. Those find out by the client's silence (limits.client_timeout).
func (c *Client) Cancel(ctx context.Context) error { return c.farewell(ctx, protocol.Cancel) }

// Finish closes the session at every input and output: its results are dropped. It takes at most 2 s; the error names who
// did not answer in time. There results_ttl does the same.
func (c *Client) Finish(ctx context.Context) error { return c.farewell(ctx, protocol.Close) }

func (c *Client) farewell(ctx context.Context, word protocol.RequestType) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), farewellTime)
	defer cancel()
	frame := (&protocol.Request{Type: word, Session: c.cfg.Session}).Append(nil)
	nodes := c.nodes()
	errs := make(chan error, len(nodes))
	for _, l := range nodes {
		go func() {
			_, err := l.ask(ctx, frame)
			var no *protocol.Error
			if errors.As(err, &no) {
				err = nil // any answer will do: a node that does not know the session has nothing to drop
			}
			if err != nil {
				err = fmt.Errorf("%s at %s: %w", word, l.endpoint, err)
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

// nodes returns the lines to every input and output.
func (c *Client) nodes() []*line {
	inputs, outputs, _ := c.lines()
	return append(inputs, outputs...)
}
