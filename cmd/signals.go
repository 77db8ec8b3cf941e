package cmd

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// errInterrupted is the cause with which contexts end at a signal.
var errInterrupted = errors.New("interrupted")

// signals turns SIGINT and SIGTERM into two contexts: the first signal asks the command to end in order, the second to end at once. A third
// signal ends the process, because nothing handles it any more. A node and a medic ignore a third signal.
type signals struct {
	graceful, forced context.Context
	interrupts       *interrupts
	stop             func()
}

// interrupts lets a command handle Ctrl-C itself instead of ending.
type interrupts struct {
	mu    sync.Mutex
	taken func() bool // nil: Ctrl-C ends the command
}

// claim passes each Ctrl-C to take until release is called. If take returns false, the command ends.
func (i *interrupts) claim(take func() bool) (release func()) {
	i.set(take)
	return func() { i.set(nil) }
}

func (i *interrupts) set(take func() bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.taken = take
}

func (i *interrupts) take() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.taken != nil && i.taken()
}

// listenToSignals handles signals until stop is called. drains says that the command is a node or a medic: it limits the time of its end
// itself, so no signal has to cut it short.
func listenToSignals(drains bool) *signals {
	graceful, first := context.WithCancelCause(context.Background())
	forced, second := context.WithCancelCause(context.Background())
	got := make(chan os.Signal, 2)
	signal.Notify(got, os.Interrupt, syscall.SIGTERM)
	claims := &interrupts{}
	over, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for todo := []context.CancelCauseFunc{first, second}; len(todo) > 0 || drains; {
			select {
			case s := <-got:
				if len(todo) == 0 {
					continue
				}
				if s == os.Interrupt && claims.take() {
					continue
				}
				todo[0](errInterrupted)
				todo = todo[1:]
			case <-over:
				return
			}
		}
		signal.Stop(got)
	}()
	return &signals{graceful: graceful, forced: forced, interrupts: claims, stop: func() {
		signal.Stop(got)
		close(over)
		<-done
		first(nil)
		second(nil)
	}}
}
