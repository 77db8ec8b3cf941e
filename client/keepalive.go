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

// longestPing bounds the time between two pings: they also tell a held-back input from a dead one, and a failed session
// from a slow one.
const longestPing = time.Second

// outputsDecide is how long a run waits for the outputs when an input says after the upload that the session is lost: an abort reaches them
// as well, if none of them had the answer before.
const outputsDecide = 5 * time.Second

// KeepAlive pings every input until ctx ends. It returns when the cluster no longer carries the session, with the reason.
func (c *Client) KeepAlive(ctx context.Context) error {
	g := newErrGroup(ctx)
	inputs, _, _ := c.connections()
	for _, input := range inputs {
		g.run(func(ctx context.Context) error { return c.keepAlive(ctx, input) })
	}
	return c.explainUnknown(ctx, g.wait())
}

func (c *Client) keepAlive(ctx context.Context, input *conn) error {
	every := longestPing
	if t := c.opened.ClientTimeout; t > 0 {
		every = min(every, t/4)
	}
	for {
		if err := sleep(ctx, jitter(max(every, time.Millisecond))); err != nil {
			return err
		}
		if _, err := c.ping(ctx, input); err != nil && !c.mayBeForgotten(err) {
			if c.phase.Load() == phaseUploaded { // an output may have the answer all the same
				_ = sleep(ctx, outputsDecide)
			}
			return err
		}
	}
}

// mayBeForgotten reports whether err is no failure: after the upload the outputs decide, and an input may have forgotten the session.
func (c *Client) mayBeForgotten(err error) bool {
	return c.phase.Load() == phaseUploaded && (errors.Is(err, protocol.ErrUnknownSession) || errors.Is(err, protocol.ErrClosed) ||
		errors.Is(err, protocol.ErrExpired))
}

func (c *Client) pingAll(ctx context.Context, inputs []*conn) error {
	for _, input := range inputs {
		if _, err := c.ping(ctx, input); err != nil {
			return err
		}
	}
	return nil
}

// ping keeps the session alive at one input and asks how it is.
func (c *Client) ping(ctx context.Context, input *conn) (session.State, error) {
	reply, err := input.request(ctx, c.pingTo(input), protocol.OK)
	if err != nil {
		return "", fmt.Errorf("session %s at %s: %w", c.cfg.Session, input.endpoint, err)
	}
	if reply.State == session.Failed {
		return reply.State, c.failed(reply.Reason)
	}
	return reply.State, nil
}

// pingTo says what the input has acknowledged: if it lost that, the session fails at once (R14).
func (c *Client) pingTo(input *conn) protocol.Request {
	q := c.request(protocol.Ping)
	inputs, _, lanes := c.connections()
	at := slices.Index(inputs, input)
	for _, l := range lanes {
		if seq := l.acked.Load(); l.input == at && seq > 0 {
			q.Lanes = append(q.Lanes, protocol.LaneSeq{Lane: l.id, Seq: seq})
		}
	}
	if s := c.ended.Load(); s != nil {
		q.Stream = *s
	}
	return q
}

// failed is the error for a session that failed in the cluster.
func (c *Client) failed(reason string) error {
	return fmt.Errorf("session %s of %s: %w", c.cfg.Session, c.cfg.Analysis,
		&protocol.Error{Code: protocol.ErrFailed, Message: reason})
}
