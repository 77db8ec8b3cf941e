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

// requester is a REQ socket to one endpoint. Do sends one frame and waits for its reply. When ctx ends first it closes the connection,
// so that a late reply can never be taken for the answer to the next request. The same request may be sent again. req belongs to the
// requester until it is answered, and for ever if it is not: a try that was given up may still be writing it.
type requester interface {
	Do(ctx context.Context, req []byte) ([]byte, error)
	Close() error
}

// conn is a requester that repeats a request until it is answered (the ZeroMQ guide's lazy pirate).
type conn struct {
	endpoint     string
	req          requester
	turn         chan struct{} // a lock: holds a token while a request is under way
	clusterReply *lastReply    // from any node of the cluster
	ownReply     *lastReply    // from this endpoint
	timeout      time.Duration // of one try
	giveUpAfter  time.Duration // below 0: no limit
	retries      *atomic.Uint64
	tries        atomic.Int32 // of the request under way, 0 when there is none
}

// request sends q until it is answered, ctx ends, or the whole cluster has been silent for longer than giveUpAfter. A reply that is
// an error is returned as that error, beside the reply; so is one of another type than want.
func (l *conn) request(ctx context.Context, q protocol.Request, want protocol.ReplyType) (protocol.Reply, error) {
	reply, _, err := l.requestCounted(ctx, q.Append(nil))
	return reply, l.expect(reply, err, want)
}

// requestOnce sends q once and waits as long as given; errSilent if there is no answer. It is for requests that another node can
// answer as well.
func (l *conn) requestOnce(ctx context.Context, q protocol.Request, want protocol.ReplyType, wait time.Duration) (r protocol.Reply, err error) {
	if err := l.lock(ctx); err != nil {
		return r, err
	}
	defer l.unlock()
	r, err = l.try(ctx, q.Append(nil), wait)
	return r, l.expect(r, err, want)
}

// expect makes an error of a reply of a type that does not belong to the request.
func (l *conn) expect(reply protocol.Reply, err error, want protocol.ReplyType) error {
	if err != nil || reply.Type == want {
		return err
	}
	return fmt.Errorf("%s answers %q where something else was asked; do client and cluster have the same version? %w",
		l.endpoint, reply.Type, protocol.ErrInvalid)
}

// requestCounted also returns how many tries it took: after a single one nobody holds frame any more.
func (l *conn) requestCounted(ctx context.Context, frame []byte) (r protocol.Reply, tries int, err error) {
	if err := l.lock(ctx); err != nil {
		return r, 0, err
	}
	defer l.unlock()
	defer l.tries.Store(0)
	for wait := l.timeout; ; wait = min(2*wait, longestTry*l.timeout) {
		tries = int(l.tries.Add(1))
		reply, err := l.try(ctx, frame, wait)
		if err == nil || !errors.Is(err, errSilent) {
			return reply, tries, err
		}
		if err := l.giveUp(); err != nil {
			return r, tries, err
		}
		l.retries.Add(1)
	}
}

// longestTry is how many timeouts a try may last in the end. Tries grow because a chunk that the network takes longer to
// carry than one timeout would never arrive, and because a cluster that holds a chunk back gets it whole each time. A
// node that dies is noticed at once, by its connection.
const longestTry = 8

// shortestTry is how soon a try that failed at once is repeated.
const shortestTry = 50 * time.Millisecond

// errSilent is what try returns when nothing usable came back: the next try may succeed.
var errSilent = errors.New("no answer")

func (l *conn) try(ctx context.Context, frame []byte, wait time.Duration) (protocol.Reply, error) {
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
		if time.Since(started) < shortestTry { // nobody listens there: do not try again at once
			_ = sleep(tryCtx, jitter(shortestTry))
		}
		return protocol.Reply{}, fmt.Errorf("%w from %s: %w", errSilent, l.endpoint, err)
	}
	l.clusterReply.heard()
	l.ownReply.heard()
	return decode(l.endpoint, answer)
}

func decode(endpoint string, answer []byte) (protocol.Reply, error) {
	reply, err := protocol.DecodeReply(answer)
	if err != nil {
		return protocol.Reply{}, fmt.Errorf("%s answers, but not as a node of Posta does; check the address: %w", endpoint, err)
	}
	return reply, reply.Failure()
}

func (l *conn) giveUp() error {
	if l.giveUpAfter >= 0 && l.clusterReply.silence() > l.giveUpAfter {
		return fmt.Errorf("%w at %s for %v; start one with `posta up`, or check the address", ErrNoCluster, l.endpoint, l.giveUpAfter)
	}
	return nil
}

func (l *conn) lock(ctx context.Context) error { return send(ctx, l.turn, struct{}{}) }

func (l *conn) unlock() { <-l.turn }

// repeating reports whether the request under way had to be repeated.
func (l *conn) repeating() bool { return l.tries.Load() > 1 }

// jitter spreads a delay over three quarters to five quarters of itself, so that clients turned away together do not come
// back together.
func jitter(d time.Duration) time.Duration {
	return d*3/4 + rand.N(d/2+1)
}

// sleep waits for d, and returns why ctx ended if it does so first.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
