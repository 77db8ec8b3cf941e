package console

import (
	"context"
	"sync"
	"time"

	"posta.dev/posta/protocol"
)

const (
	askEvery  = 2 * time.Second
	askAtMost = 5 * time.Second
	// askWait is how long a page waits for a list of sessions that is being fetched. Without the list the page still shows everything else.
	askWait = 250 * time.Millisecond
)

// asker keeps the newest list of sessions. It fetches another one when somebody looks at an old one. Only one fetch runs at a time.
type asker struct {
	ask func(context.Context) ([]protocol.SessionInfo, error)

	mu   sync.Mutex
	list []protocol.SessionInfo
	err  error
	at   time.Time     // when the list arrived
	busy chan struct{} // closed when the running fetch ends; nil if none runs
}

// get returns the newest list, and an error that says why it is not complete.
func (a *asker) get(ctx context.Context) ([]protocol.SessionInfo, error) {
	if wait := a.begin(ctx); wait != nil {
		patience := time.NewTimer(askWait)
		defer patience.Stop()
		select {
		case <-wait:
		case <-patience.C:
		case <-ctx.Done():
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.list, a.err
}

// begin begins a fetch if the list is old. It returns the channel to wait for, or nil.
func (a *asker) begin(ctx context.Context) <-chan struct{} {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.busy == nil && time.Since(a.at) >= askEvery && ctx.Err() == nil {
		done := make(chan struct{})
		a.busy = done
		go func() {
			defer close(done)
			ctx, cancel := context.WithTimeout(ctx, askAtMost)
			defer cancel()
			list, err := a.ask(ctx)
			a.mu.Lock()
			defer a.mu.Unlock()
			a.list, a.err, a.at, a.busy = list, err, time.Now(), nil
		}()
	}
	return a.busy
}

// wait waits for the running fetch. The fetch's context must have ended before.
func (a *asker) wait() {
	a.mu.Lock()
	busy := a.busy
	a.mu.Unlock()
	if busy != nil {
		<-busy
	}
}
