package medic

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
)

// fake is a Restarter whose processes are channels. It checks an invariant itself: a node never has a second process.
type fake struct {
	mu       sync.Mutex
	alive    map[NodeID]*fakeProcess
	deaths   map[NodeID]Death
	starts   []NodeID
	fail     map[NodeID]int // how many starts fail
	stubborn map[NodeID]bool
	order    []string
}

type fakeProcess struct {
	gone  chan struct{}
	cause string
}

func newFake() *fake {
	return &fake{alive: map[NodeID]*fakeProcess{}, deaths: map[NodeID]Death{}, fail: map[NodeID]int{}, stubborn: map[NodeID]bool{}}
}

var errFork = errors.New("no room for a process")

func (f *fake) Start(_ context.Context, n NodeID) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.order = append(f.order, "start "+string(n))
	if f.alive[n] != nil {
		return fmt.Errorf("start %s: %w", n, ErrRunning)
	}
	if f.fail[n] > 0 {
		f.fail[n]--
		return errFork
	}
	f.alive[n] = &fakeProcess{gone: make(chan struct{})}
	f.starts = append(f.starts, n)
	return nil
}

// die ends a process without the supervisor.
func (f *fake) die(n NodeID, cause string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if p := f.alive[n]; p != nil {
		p.cause, f.deaths[n] = cause, Death{Cause: cause}
		delete(f.alive, n)
		close(p.gone)
	}
}

func (f *fake) Terminate(_ context.Context, n NodeID) error {
	f.mu.Lock()
	stubborn := f.stubborn[n]
	f.order = append(f.order, "terminate "+string(n))
	f.mu.Unlock()
	if !stubborn {
		f.die(n, "exit status 0")
	}
	return nil
}

func (f *fake) Kill(_ context.Context, n NodeID) error {
	f.mu.Lock()
	f.order = append(f.order, "kill "+string(n))
	f.mu.Unlock()
	f.die(n, "signal: killed")
	return nil
}

func (f *fake) Alive(_ context.Context, n NodeID) (bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.alive[n] != nil, nil
}

func (f *fake) Wait(ctx context.Context, n NodeID) (Death, error) {
	f.mu.Lock()
	p, last := f.alive[n], f.deaths[n]
	f.mu.Unlock()
	if p == nil {
		return last, nil
	}
	select {
	case <-p.gone:
		return Death{Cause: p.cause}, nil
	case <-ctx.Done():
		return Death{}, ctx.Err()
	}
}

func (f *fake) did() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.order)
}
