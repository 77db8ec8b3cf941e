package client

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"posta.dev/posta/protocol"
)

// requester is a REQ socket to one endpoint. Do sends one frame and waits for its reply; when ctx ends first it hangs up, so
// that a late reply can never be taken for the answer to the next request. It may be said again. req belongs to the requester until it is
// answered, and for ever if it is not: a try that was given up may still be writing it.
type requester interface {
	Do(ctx context.Context, req []byte) ([]byte, error)
	Close() error
}

// line is a requester that does not take silence for an answer (the ZeroMQ guide's lazy pirate).
type line struct {
	endpoint string
	req      requester
	turn     chan struct{} // holds one token: who has it speaks
	all      *ear          // anything of the cluster
	here     *ear          // this endpoint
	timeout  time.Duration // of one try
	patience time.Duration // below 0: no limit
	retries  *atomic.Uint64
	tries    atomic.Int32 // of the request under way, 0 when there is none
}

// ask says frame until it is answered, ctx ends, or the whole cluster has been silent for longer than the caller's
// patience. A reply that is an error is returned as that error, beside the reply.
func (l *line) ask(ctx context.Context, frame []byte) (protocol.Reply, error) {
	reply, _, err := l.askCounted(ctx, frame)
	return reply, err
}

// askCounted is ask, and tells how many tries it took: after one nobody holds frame any more.
func (l *line) askCounted(ctx context.Context, frame []byte) (r protocol.Reply, tries int, err error) {
	if err := l.take(ctx); err != nil {
		return r, 0, err
	}
	defer l.giveBack()
	defer l.tries.Store(0)
	for wait := l.timeout; ; wait = min(2*wait, longestTry*l.timeout) {
		tries = int(l.tries.Add(1))
		reply, err := l.try(ctx, frame, wait)
		if err == nil || !errors.Is(err, errSilent) {
			return reply, tries, err
		}
		if err := l.persist(); err != nil {
			return r, tries, err
		}
		l.retries.Add(1)
	}
}

// longestTry is how many timeouts a try may last in the end. Tries grow because a chunk that the network takes longer to
// carry than one timeout would never arrive, and because a cluster that holds a chunk back gets it whole each time. A
// node that dies is noticed at once, by its connection.
const longestTry = 8

// askOnce says frame once and waits as long as given; errSilent if there is no answer. For requests that another node can
// answer as well.
func (l *line) askOnce(ctx context.Context, frame []byte, wait time.Duration) (protocol.Reply, error) {
	if err := l.take(ctx); err != nil {
		return protocol.Reply{}, err
	}
	defer l.giveBack()
	return l.try(ctx, frame, wait)
}

// errSilent is what try returns when nothing usable came back: the next try may have more luck.
var errSilent = errors.New("no answer")

func (l *line) try(ctx context.Context, frame []byte, wait time.Duration) (protocol.Reply, error) {
	tryCtx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	started := time.Now()
	answer, err := l.req.Do(tryCtx, frame)
	if err != nil {
		if ctx.Err() != nil {
			return protocol.Reply{}, context.Cause(ctx)
		}
		if errors.Is(err, protocol.ErrInvalid) {
			return protocol.Reply{}, err
		}
		l.breathe(tryCtx, started)
		return protocol.Reply{}, fmt.Errorf("%w from %s: %w", errSilent, l.endpoint, err)
	}
	l.all.heard()
	l.here.heard()
	reply, err := protocol.DecodeReply(answer)
	if err != nil {
		return protocol.Reply{}, fmt.Errorf("%s answers, but not as a node of Posta does; check the address: %w", l.endpoint, err)
	}
	return reply, reply.Failure()
}

// breathe keeps a try that failed at once (nobody listens there) from being repeated at once.
func (l *line) breathe(ctx context.Context, started time.Time) {
	const shortest = 50 * time.Millisecond
	if took := time.Since(started); took < shortest {
		sleep(ctx, jitter(shortest))
	}
}

func (l *line) persist() error {
	if l.patience >= 0 && l.all.silence() > l.patience {
		return fmt.Errorf("%w at %s for %v; start one with `posta up`, or check the address", ErrNoCluster, l.endpoint, l.patience)
	}
	return nil
}

func (l *line) take(ctx context.Context) error {
	select {
	case l.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (l *line) giveBack() { <-l.turn }

// waiting reports whether the request under way had to be repeated.
func (l *line) waiting() bool { return l.tries.Load() > 1 }

// jitter spreads a delay over three quarters to five quarters of itself, so that clients turned away together do not come
// back together.
func jitter(d time.Duration) time.Duration {
	return d*3/4 + rand.N(d/2+1)
}

// sleep waits for d or the end of ctx.
func sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
