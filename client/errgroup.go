package client

import (
	"context"
	"sync"
)

// errGroup runs functions concurrently. The first error ends the context of the others; wait returns it after all functions have returned.
type errGroup struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	wg     sync.WaitGroup
}

func newErrGroup(ctx context.Context) *errGroup {
	ctx, cancel := context.WithCancelCause(ctx)
	return &errGroup{ctx: ctx, cancel: cancel}
}

func (g *errGroup) run(f func(ctx context.Context) error) {
	g.wg.Add(1)
	go func() {
		defer g.wg.Done()
		if err := f(g.ctx); err != nil {
			g.cancel(err)
		}
	}()
}

func (g *errGroup) wait() error {
	g.wg.Wait()
	err := context.Cause(g.ctx)
	g.cancel(nil)
	return err
}
