package client

import (
	"context"
	"errors"
	"fmt"

	"posta.dev/posta/protocol"
)

// Run runs an analysis from the first question to the last row. When ctx ends the session is cancelled at the cluster, and
// so it is after any error that leaves it running. Errors are those of this package and of protocol (errors.Is(err,
// protocol.ErrFailed)).
func Run(ctx context.Context, cfg Config) (*Answer, error) {
	return runWith(ctx, cfg, dialZMQ)
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
	c.endSession(ctx, err)
	if err == nil {
		c.counters.state(Finished)
	}
	return answer, err
}

// endSession closes or cancels the session. A node that does not hear it finds out by a timeout, so the outcome of the run stays as it is.
func (c *Client) endSession(ctx context.Context, err error) {
	switch {
	case c.phase.Load() == phaseNew, errors.Is(err, ErrNoCluster):
	case err != nil && !LeavesOurs(err):
	case err != nil:
		_ = c.Cancel(ctx)
	case !c.cfg.KeepResults:
		_ = c.Finish(ctx)
	}
}

// LeavesOurs reports whether a session that ended with an error is this client's to cancel. One that another client opened, or one whose
// upload another run has begun, may be needed there (R17).
func LeavesOurs(err error) bool {
	return !errors.Is(err, protocol.ErrInUse) && !errors.Is(err, protocol.ErrFinished) && !errors.Is(err, ErrInterrupted)
}

func (c *Client) run(ctx context.Context) (*Answer, error) {
	if !c.fromCaller {
		// What is missing is said before there is a session, and before waiting for a busy cluster.
		if err := c.checkFiles(); err != nil {
			return nil, err
		}
	}
	if err := c.Open(ctx); err != nil {
		return nil, err
	}
	g := newErrGroup(ctx)
	finished := errors.New("finished")
	var answer *Answer
	g.run(c.KeepAlive)
	g.run(func(ctx context.Context) (err error) {
		if c.phase.Load() != phaseUploaded {
			if err := c.Upload(ctx); err != nil {
				return err
			}
		}
		if answer, err = c.Results(ctx); err != nil {
			return err
		}
		answer.Warnings = c.warnings.all()
		return finished
	})
	if err := g.wait(); !errors.Is(err, finished) {
		return nil, fmt.Errorf("%s: %w", c.cfg.Analysis, err)
	}
	return answer, nil
}

// checkFiles looks for the files of the analysis, as far as the entry described it. That there is no such analysis is for
// the cluster to say.
func (c *Client) checkFiles() error {
	for _, a := range c.info.Analyses {
		if a.Name == c.cfg.Analysis {
			_, err := c.plan(a.Streams)
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
