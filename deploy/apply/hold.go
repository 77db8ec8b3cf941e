package apply

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"posta.dev/posta/deploy"
	"posta.dev/posta/deploy/engine"
	"posta.dev/posta/deploy/plan"
)

var (
	// errBusy is wrapped when sessions did not finish in time.
	errBusy = errors.New("sessions still run")
	// ErrEnded is wrapped when an input has ended since the plan was made, and nobody starts it again. A new plan starts it.
	ErrEnded = errors.New("it has ended since the plan was made")
)

// endedFor is how long an input may be without a process. Medics start it sooner. But a deploy that was killed may have stopped the medics,
// and told the engine to stop the input, which takes as long as the input drains: meanwhile a plan finds it running.
const endedFor = 10 * time.Second

// absence measures for how long an input has had no process.
type absence struct{ since time.Time }

// check takes the result of a question, and returns ErrEnded if the input has had no process for too long.
func (a *absence) check(err error) error {
	switch {
	case !errors.Is(err, engine.ErrNotRunning):
		a.since = time.Time{}
	case a.since.IsZero():
		a.since = time.Now()
	case time.Since(a.since) >= endedFor:
		return fmt.Errorf("%w: %w", ErrEnded, err)
	}
	return nil
}

const (
	// a hold ends after this time unless it is renewed; it must cover the time from the last renewal until the inputs stop
	leaseTime  = 45 * time.Second
	leaseRenew = 5 * time.Second // between two renewals
)

// sessionHold holds back new sessions while a plan is carried out. The zero value holds back none.
type sessionHold struct {
	renewing sync.WaitGroup // counts the goroutine of start
	mu       sync.Mutex     // guards the fields below
	end      func()         // lets sessions in again; nil before start, and after keep or release
	stop     func()         // ends the goroutine that renews the lease; set with end
}

// start begins a hold by calling ask with the lease; a lease of 0 lets sessions in. The hold is renewed until keep or release. If this
// process dies, the lease runs out.
func (h *sessionHold) start(ctx context.Context, ask func(ctx context.Context, lease time.Duration) error) error {
	if err := ask(ctx, leaseTime); err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.end != nil {
		return nil
	}
	ctx, h.stop = context.WithCancel(ctx)
	h.end = func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		_ = ask(ctx, 0) // if it fails, the hold ends with the lease
	}
	h.renewing.Go(func() {
		tick := time.NewTicker(leaseRenew)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				_ = ask(ctx, leaseTime) // if it fails, the next one may succeed
			case <-ctx.Done():
				return
			}
		}
	})
	return nil
}

// keep stops the renewal but keeps the hold: the input is about to stop.
func (h *sessionHold) keep() { h.finish(false) }

// release lets sessions in again, unless keep was called.
func (h *sessionHold) release() { h.finish(true) }

func (h *sessionHold) finish(letIn bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.end == nil {
		return
	}
	h.stop()
	if letIn {
		h.end()
	}
	h.end = nil
}

// askInput sets or renews the lease of a hold, and returns the sessions that run.
func askInput(ctx context.Context, e *engine.Engine, container string, lease time.Duration, cancel bool) (now deploy.Running, err error) {
	command := []string{deploy.Program, "probe", "hold", "--lease", lease.String()}
	if cancel {
		command = append(command, "--cancel")
	}
	err = probe(ctx, e, container, &now, command...)
	return now, err
}

// probeTime is how long a probe may take.
const probeTime = 30 * time.Second

// probe runs a posta probe in a container, and decodes the line that it prints.
func probe(ctx context.Context, e *engine.Engine, container string, answer any, command ...string) error {
	out, err := e.Exec(ctx, probeTime, container, command...)
	if err != nil {
		return err
	}
	if err := json.Unmarshal([]byte(out), answer); err != nil {
		return fmt.Errorf("host %s: %s answers %q: %w", e.Host, container, out, err)
	}
	return nil
}

func (r *runner) hold(ctx context.Context, e *engine.Engine, s plan.Step) error {
	var gone absence
	return poll(ctx, func() (done bool, err error) {
		err = r.held.start(ctx, func(ctx context.Context, lease time.Duration) error {
			_, err := askInput(ctx, e, s.What, lease, false)
			return err
		})
		if errors.Is(err, engine.ErrNotRunning) {
			return false, gone.check(err)
		}
		return true, err
	})
}

// drain waits until it has found no running session twice in a row, because a client that was admitted before the hold may be about to open
// its session at the second input.
func (r *runner) drain(ctx context.Context, e *engine.Engine, s plan.Step, report func(Event)) error {
	began, quiet := time.Now(), 0
	var gone absence
	return poll(ctx, func() (done bool, err error) {
		now, err := askInput(ctx, e, s.What, leaseTime, r.Cancel)
		waited := time.Since(began)
		if ended := gone.check(err); ended != nil {
			return false, ended
		}
		switch {
		case ctx.Err() != nil:
			return false, err
		case err != nil && waited > r.Wait:
			return false, fmt.Errorf("no input has answered for %s whether sessions run: %w", waited.Round(time.Second), err)
		case err == nil && len(now.Sessions) == 0 && len(now.Rest) == 0 && len(now.Silent) == 0:
			quiet++
			return quiet == 2, nil
		case waited > r.Wait && whoRuns(now) != "":
			return false, fmt.Errorf("%w: waited %s for %s; give more time with --wait, or give --cancel-sessions", errBusy,
				waited.Round(time.Second), whoRuns(now))
		}
		quiet = 0
		if err != nil {
			report(Event{Text: fmt.Sprintf("for an answer: %v", err)})
		} else if who := whoRuns(now); who != "" {
			report(Event{Text: "for " + who})
		}
		return false, nil
	})
}

func whoRuns(now deploy.Running) string {
	var all []string
	for i, s := range now.Sessions {
		if i == 3 {
			all = append(all, fmt.Sprintf("%d more", len(now.Sessions)-i))
			break
		}
		all = append(all, fmt.Sprintf("session %s (%s, %s old)", s.ID, s.Analysis, s.Age.Round(time.Second)))
	}
	if len(all) == 0 && len(now.Rest) > 0 {
		all = append(all, "what is left of sessions in "+strings.Join(slices.Sorted(maps.Keys(now.Rest)), ", "))
	}
	if len(now.Silent) > 0 {
		all = append(all, "an answer of "+strings.Join(now.Silent, ", "))
	}
	return strings.Join(all, ", ")
}
