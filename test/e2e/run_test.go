package e2e

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"posta.dev/posta/client"
	"posta.dev/posta/protocol"
	"posta.dev/posta/test/e2e/truth"
)

// run is an analysis that runs in the background of a test.
type run struct {
	t    *testing.T
	c    *client.Client
	done chan struct{}
	err  error // when done is closed
	got  []byte
}

// begin opens a session, uploads, and asks for results in the background. Unlike client.Run it lets the test look at the client's progress.
// If the test does not wait for the end, its context ends the run.
func (c *cluster) begin(ctx context.Context, cfg client.Config) *run {
	c.t.Helper()
	if cfg.Entries == nil {
		cfg.Entries = c.topo.EntryPoints()
	}
	if cfg.Analysis == "" {
		cfg.Analysis = "bikes"
	}
	cl, err := client.Dial(ctx, cfg)
	if err != nil {
		c.t.Fatalf("dial: %v", err)
	}
	r := &run{t: c.t, c: cl, done: make(chan struct{})}
	if err := cl.Open(ctx); err != nil {
		_ = cl.Close() // the error of the open is the one to report
		c.t.Fatalf("open: %v", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		defer close(r.done)
		r.err = r.drive(ctx)
	}()
	c.t.Cleanup(func() { cancel(); <-r.done })
	return r
}

// drive carries out a session: it does what client.Run does, and gives access to Progress.
func (r *run) drive(ctx context.Context) error {
	defer func() { _ = r.c.Close() }() // the run's outcome does not depend on it
	if err := r.c.Upload(ctx); err != nil {
		return err
	}
	a, err := r.c.Results(ctx)
	if err != nil {
		return err
	}
	r.got = truth.Queries(r.t, a)
	return r.c.Finish(context.WithoutCancel(ctx))
}

// answer waits for the end of the run, and fails the test if there was an error.
func (r *run) answer() []byte {
	r.t.Helper()
	<-r.done
	if r.err != nil {
		r.t.Errorf("the client saw an error: %v", r.err)
	}
	return r.got
}

// failure waits for the end of the run, and fails the test if there was no error.
func (r *run) failure() error {
	r.t.Helper()
	<-r.done
	if r.err == nil {
		r.t.Errorf("the run succeeded, with %.200s", r.got)
	}
	return r.err
}

// failsWith waits for the end of the run: the session must have failed with one of these reasons.
func (r *run) failsWith(reasons ...string) {
	r.t.Helper()
	err := r.failure()
	if err == nil {
		return // reported already
	}
	tells := func(reason string) bool { return strings.Contains(err.Error(), reason) }
	if !errors.Is(err, protocol.ErrFailed) || !slices.ContainsFunc(reasons, tells) {
		r.t.Errorf("the client got %v, not a failed session that tells one of %q", err, reasons)
	}
}

// ended reports whether the run is over.
func (r *run) ended() bool { return closed(r.done) }

// acked returns how many bytes of a stream the cluster has acknowledged.
func (r *run) acked(stream string) int64 {
	for _, s := range r.c.Progress().Streams {
		if s.Name == stream {
			return s.Acked
		}
	}
	return 0
}

func (r *run) streamEnded(stream string) bool {
	for _, s := range r.c.Progress().Streams {
		if s.Name == stream {
			return s.Ended
		}
	}
	return false
}
