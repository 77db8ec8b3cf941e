package zmqx

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"
)

// peerCount returns how many peers the socket has now, connects how many it has had since it was made.
func (s *socket) peerCount() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.peers)
}

func (s *socket) connects() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return int(s.lastID)
}

// size returns how much has been queued and not been written to a connection.
func (q *sendQueue) size() (msgs, bytes int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.msgs, q.bytes
}

// send queues m and waits for room.
func (p *Push) send(ctx context.Context, m Message) error { return p.queue.put(ctx, m) }

// logCount counts how often a socket logs one message.
type logCount struct {
	slog.Handler
	message string
	n       atomic.Int64
}

func countLogs(message string) *logCount {
	return &logCount{Handler: slog.DiscardHandler, message: message}
}

func (l *logCount) Enabled(context.Context, slog.Level) bool { return true }

func (l *logCount) Handle(_ context.Context, r slog.Record) error {
	if r.Message == l.message {
		l.n.Add(1)
	}
	return nil
}

// logs keeps the causes of refused connections.
type logs struct {
	slog.Handler
	causes chan error
}

func newLogs() *logs { return &logs{slog.DiscardHandler, make(chan error, 1<<16)} }

func (l *logs) logger() *slog.Logger { return slog.New(l) }

func (l *logs) Enabled(context.Context, slog.Level) bool { return true }

func (l *logs) Handle(_ context.Context, r slog.Record) error {
	if r.Message == "connection refused" {
		r.Attrs(func(a slog.Attr) bool {
			if err, ok := a.Value.Any().(error); ok {
				l.causes <- err
			}
			return true
		})
	}
	return nil
}

// await returns the reason why the next connection was refused.
func (l *logs) await(t testing.TB) error {
	t.Helper()
	select {
	case err := <-l.causes:
		return err
	case <-time.After(deadlineForTests):
		t.Fatal("no connection was refused")
		return nil
	}
}
