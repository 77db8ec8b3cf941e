package client

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
)

// busyPause is how long to wait when a busy cluster does not say for how long.
const busyPause = time.Second

// Open opens the session at every input, in their order: the first decides who is admitted, so that two clients never hold
// half of the inputs each. It waits while the cluster is busy, unless Config.NoWait. From then on the session is kept alive
// by KeepAlive until the caller finishes or cancels it.
func (c *Client) Open(ctx context.Context) error {
	q := c.request(protocol.Open)
	q.Analysis, q.Params = c.cfg.Analysis, c.cfg.Params
	var states []protocol.Reply
	if !c.fromCaller {
		c.phase.Store(phaseMaybeOpen)
	}
	for i := 0; i < len(c.inputs); i++ {
		reply, err := c.openAt(ctx, c.inputs[i], q, c.inputs[:i])
		changed := false
		if err == nil && i == 0 {
			changed, err = c.updateEndpoints(reply.Inputs, reply.Outputs) // it may have waited for long
		}
		if changed { // from the beginning: to open a session again is no second one
			i = -1
			continue
		}
		if err != nil {
			return fmt.Errorf("open %s: %w", c.cfg.Analysis, err)
		}
		states = append(states, reply)
		if fresh(reply) {
			c.phase.Store(phaseMaybeOpen)
		}
	}
	c.opened = states[0]
	c.counters.begin(c.opened.Streams)
	return c.resume(states)
}

// openAt waits for admission at one input; while it does, it keeps those alive where the session is open already.
func (c *Client) openAt(ctx context.Context, input *conn, q protocol.Request, opened []*conn) (protocol.Reply, error) {
	for {
		reply, err := input.request(ctx, q, protocol.Opened)
		if err == nil || !errors.Is(err, protocol.ErrBusy) || c.cfg.NoWait {
			return reply, err
		}
		c.counters.state(Busy)
		_ = sleep(ctx, jitter(pauseFor(reply))) // if ctx has ended, the next request says so
		if err := c.pingAll(ctx, opened); err != nil {
			return reply, err
		}
	}
}

// resume decides what a session that exists already needs. Lanes pull their chunks in no fixed order, so a half-done upload
// cannot be continued by another run: the same (lane, seq) would be other rows, and taken for a duplicate.
func (c *Client) resume(states []protocol.Reply) error {
	blank, ended := true, true
	for _, s := range states {
		if s.State == session.Done || s.State == session.Failed {
			c.phase.Store(phaseUploaded)
			return nil
		}
		blank = blank && fresh(s)
		for _, stream := range c.opened.Streams {
			ended = ended && slices.Contains(s.Ended, stream.Name)
		}
	}
	switch {
	case blank:
		c.phase.Store(phaseOpen)
		return nil
	case ended:
		c.phase.Store(phaseUploaded)
		return nil
	}
	return fmt.Errorf("%w: %s; run it again under another id", ErrInterrupted, c.cfg.Session)
}

// fresh reports whether an input has taken nothing for the session yet.
func fresh(opened protocol.Reply) bool {
	return opened.State != session.Done && opened.State != session.Failed && len(opened.Lanes) == 0 && len(opened.Ended) == 0
}

func pauseFor(reply protocol.Reply) time.Duration {
	if reply.Err.RetryAfter > 0 {
		return reply.Err.RetryAfter
	}
	return busyPause
}
