package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	"posta.dev/posta/client/core"
	"posta.dev/posta/protocol"
)

// Run runs an analysis from the first question to the last row. The session is cancelled at the cluster when ctx ends, and after any error
// that leaves it running. Errors are those of this package and of protocol (errors.Is(err, protocol.ErrFailed)).
func Run(ctx context.Context, cfg Config) (*Answer, error) {
	return runWith(ctx, cfg, dialerOf(&cfg))
}

func runWith(ctx context.Context, cfg Config, dial func(string) (requester, error)) (answer *Answer, err error) {
	c, err := dialWith(ctx, cfg, dial)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	stop := c.startReport()
	defer stop()
	answer, err = c.run(ctx)
	if errors.Is(err, ErrNotDelivered) {
		return nil, err // the answer stays at the cluster and can be asked for again
	}
	// A node that is not reached ends the session by a timeout, so an error here does not change the outcome of the run.
	_ = c.tell(ctx, func(now time.Time) { c.session.Leave(err, c.cfg.KeepResults, now) })
	if err == nil {
		c.state(Finished)
	}
	return answer, err
}

func (c *Client) run(ctx context.Context) (*Answer, error) {
	if !c.given || c.cfg.Resume {
		// Missing files are reported before there is a session, and before the run waits for a busy cluster.
		if err := c.checkFiles(ctx); err != nil {
			return nil, err
		}
	}
	if err := c.Open(ctx); err != nil {
		return nil, err
	}
	var streams []StreamProgress
	if c.phase() != core.Uploaded {
		if err := c.Upload(ctx); err != nil {
			return nil, c.failed(err)
		}
		streams = c.Progress().Streams
	}
	answer, err := c.Results(ctx)
	if err != nil {
		return nil, c.failed(asInput(err))
	}
	answer.Warnings = c.warnings.all()
	answer.Partial, answer.Streams = c.partial.Load(), streams
	if c.cfg.Deliver != nil {
		if err := c.cfg.Deliver(ctx, answer); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrNotDelivered, err)
		}
	}
	return answer, nil
}

// failed adds the analysis to an error.
func (c *Client) failed(err error) error {
	return protocol.With(fmt.Errorf("%s: %w", c.cfg.Analysis, err), protocol.Fields{protocol.FieldAnalysis: c.cfg.Analysis})
}

// checkFiles looks for the files of the analysis, if the entry described it. If there is no such analysis, the cluster will say so.
func (c *Client) checkFiles(ctx context.Context) error {
	for _, a := range c.Info().Analyses {
		if a.Name == c.cfg.Analysis && c.cfg.Plan == nil { // otherwise the streams are known only when the session is open
			_, err := c.plan(ctx, a.Streams)
			return err
		}
	}
	return nil
}

// startReport starts calling OnProgress and returns how to end it.
func (c *Client) startReport() (stop func()) {
	if c.cfg.OnProgress == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.report(ctx)
	}()
	return func() {
		cancel()
		<-done
	}
}
