package brokered

import (
	"context"
	"sync"
	"time"
)

const (
	backoffMin = 20 * time.Millisecond
	backoffMax = time.Second
)

// backoff is the pause between attempts: it doubles.
type backoff struct{ wait time.Duration }

// pause waits, but not beyond ctx.
func (b *backoff) pause(ctx context.Context) {
	b.wait = min(max(backoffMin, 2*b.wait), backoffMax)
	timer := time.NewTimer(b.wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// keepConnected calls serve repeatedly until ctx ends. serve makes a connection, calls outage.Connected, and returns when the connection
// has broken. Only a connection that has been stable for a while ends the outage and resets the backoff. Otherwise a broker that accepts
// connections and closes them, like one that is stopping, would be dialled without a pause and logged each time.
func keepConnected(ctx context.Context, outage *Outage, serve func(context.Context, *Outage) error) {
	var b backoff
	for ctx.Err() == nil {
		err := serve(ctx, outage)
		if outage.disconnected() {
			b = backoff{}
		}
		if err != nil && ctx.Err() == nil {
			outage.Failed(time.Now(), err)
			b.pause(ctx)
		}
	}
}

// Serve runs sessions over a connection until broken returns the reason, or nil when ctx has ended. Then it calls hangUp with that reason,
// waits for sessions, and returns the reason.
func Serve(ctx context.Context, sessions func(context.Context), broken func() error, hangUp func(error)) error {
	alive, end := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() { sessions(alive) })
	err := broken()
	end()
	hangUp(err)
	wg.Wait()
	return err
}

// Repeat runs one session after the other while the connection lasts. It calls failed with the reason for the end of each.
func Repeat(ctx context.Context, closed func() bool, session func(context.Context) error, failed func(error)) {
	var b backoff
	for ctx.Err() == nil && !closed() {
		began := time.Now()
		err := session(ctx)
		if ctx.Err() != nil || closed() {
			return // the connection broke, which keepConnected logs
		}
		failed(err)
		if time.Since(began) > 10*backoffMax {
			b = backoff{}
		}
		b.pause(ctx)
	}
}

// Each calls do for all items at the same time, and then last. It returns when all calls have.
func Each[T any](items []T, do func(T), last func()) {
	var wg sync.WaitGroup
	for _, x := range items {
		wg.Go(func() { do(x) })
	}
	last()
	wg.Wait()
}
