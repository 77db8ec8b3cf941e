package cmd

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
)

// errInterrupted is the cause with which contexts end at a signal.
var errInterrupted = errors.New("interrupted")

// signals turns SIGINT and SIGTERM into two contexts: the first signal asks to end in order, the second to end now. A third one
// ends the process as if nobody listened.
type signals struct {
	graceful, forced context.Context
	stop             func()
}

func listenToSignals() *signals {
	graceful, first := context.WithCancelCause(context.Background())
	forced, second := context.WithCancelCause(context.Background())
	got := make(chan os.Signal, 2)
	signal.Notify(got, os.Interrupt, syscall.SIGTERM)
	over, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for _, cancel := range []context.CancelCauseFunc{first, second} {
			select {
			case <-got:
				cancel(errInterrupted)
			case <-over:
				return
			}
		}
		signal.Stop(got)
	}()
	return &signals{graceful: graceful, forced: forced, stop: func() {
		signal.Stop(got)
		close(over)
		<-done
		first(nil)
		second(nil)
	}}
}
