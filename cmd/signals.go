package cmd

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"posta.dev/posta/cmd/internal/call"
	"posta.dev/posta/cmd/internal/exit"
)

// signals turns SIGINT and SIGTERM into two contexts: the first signal asks the command to end in order, the second to end at once. A third
// signal ends the process, because nothing handles it any more. A node and a medic ignore a third signal.
type signals struct {
	graceful, forced context.Context
	interrupts       *call.Interrupts
	stop             func()
}

// listenToSignals handles signals until stop is called. drains says that the command is a node or a medic: it limits the time of its end
// itself, so no signal has to cut it short.
func listenToSignals(drains bool) *signals {
	graceful, first := context.WithCancelCause(context.Background())
	forced, second := context.WithCancelCause(context.Background())
	got := make(chan os.Signal, 2)
	signal.Notify(got, os.Interrupt, syscall.SIGTERM)
	claims := &call.Interrupts{}
	over, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for todo := []context.CancelCauseFunc{first, second}; len(todo) > 0 || drains; {
			select {
			case s := <-got:
				if len(todo) == 0 {
					continue
				}
				if s == os.Interrupt && claims.Take() {
					continue
				}
				todo[0](exit.ErrInterrupted)
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
