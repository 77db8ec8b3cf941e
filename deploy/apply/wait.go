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

// ErrBusy is wrapped when sessions did not come to their end in time.
var ErrBusy = errors.New("sessions still run")

// ErrNoRoom is wrapped when a disk is too full for what is to be kept there.
var ErrNoRoom = errors.New("not enough room on the disk")

// leaseTime is how long no session begins when nobody says so again; it covers the time from the last word until the inputs stop.
const (
	leaseTime  = 45 * time.Second
	leaseAgain = 5 * time.Second
	lookAgain  = 500 * time.Millisecond
)

// hold keeps new sessions out until keep or release, or until this process is gone and the lease is over.
func (r *runner) hold(ctx context.Context, e *engine.Engine, s plan.Step) error {
	if _, err := r.running(ctx, e, s.What, leaseTime, false); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	r.heldMu.Lock()
	defer r.heldMu.Unlock()
	if r.held != nil {
		cancel()
		return nil
	}
	r.renew = cancel
	r.held = func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		_, _ = r.running(ctx, e, s.What, 0, false) // the lease ends it, too
	}
	r.holding.Add(1)
	go func() {
		defer r.holding.Done()
		tick := time.NewTicker(leaseAgain)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				_, _ = r.running(ctx, e, s.What, leaseTime, false) // the next one may be heard
			case <-ctx.Done():
				return
			}
		}
	}()
	return nil
}

// keep leaves new sessions held back: the input is about to stop.
func (r *runner) keep() {
	r.heldMu.Lock()
	defer r.heldMu.Unlock()
	if r.held != nil {
		r.renew()
		r.held = func() {}
	}
}

// release lets them in, if the inputs were not stopped.
func (r *runner) release() {
	r.heldMu.Lock()
	defer r.heldMu.Unlock()
	if r.held != nil {
		r.renew()
		r.held()
	}
}

// still stops medics until none runs. One that ends finishes the restart it is at, and that may be of one that was stopped before it. Since
// none ends by itself and all that were told to end have ended when a round begins, a round that finds none is the last.
func (r *runner) still(ctx context.Context) error {
	for began := time.Now(); ; {
		again, err := r.stopMedics(ctx)
		if err != nil || len(again) == 0 {
			return err
		}
		if time.Since(began) > r.Beat {
			return fmt.Errorf("medics are started again and again for %s, last %s: is there another one that looks after this cluster?",
				time.Since(began).Round(time.Second), strings.Join(again, ", "))
		}
	}
}

// stopMedics stops the medics that run, side by side, and returns their containers.
func (r *runner) stopMedics(ctx context.Context) (names []string, err error) {
	var wg sync.WaitGroup
	var mu sync.Mutex
	var errs []error
	for i := range r.Observed.Engines {
		host := r.Observed.Engines[i].Name()
		e := r.Engines[host]
		if e == nil {
			return nil, fmt.Errorf("look for medics: host %s has no engine", host)
		}
		all, err := e.RunningMedics(ctx, r.Desired.Cluster)
		if err != nil {
			return nil, err
		}
		names = append(names, all...)
		for _, name := range all {
			wg.Add(1)
			go func() {
				defer wg.Done()
				if err := e.Stop(ctx, name, r.grace()); err != nil {
					mu.Lock()
					defer mu.Unlock()
					errs = append(errs, fmt.Errorf("stop %s on host %s: %w", name, host, err))
				}
			}()
		}
	}
	wg.Wait()
	return names, errors.Join(errs...)
}

// grace is what the slowest medic may take to end.
func (r *runner) grace() (most time.Duration) {
	for i := range r.Desired.Units {
		if u := &r.Desired.Units[i]; u.Medic() {
			most = max(most, u.Spec.Grace)
		}
	}
	return most
}

// running says a hold, and hears who runs.
func (r *runner) running(ctx context.Context, e *engine.Engine, container string, lease time.Duration, cancel bool) (now deploy.Running, err error) {
	command := []string{deploy.Program, "probe", "hold", "--lease", lease.String()}
	if cancel {
		command = append(command, "--cancel")
	}
	ctx, stop := context.WithTimeout(ctx, 30*time.Second)
	defer stop()
	out, err := e.Exec(ctx, container, command...)
	if err == nil {
		err = json.Unmarshal([]byte(out), &now)
	}
	return now, err
}

// quiet waits until no session runs: twice in a row, because a client that was admitted before may just be on its way to the second input.
func (r *runner) quiet(ctx context.Context, e *engine.Engine, s plan.Step, tell func(Event)) error {
	began, calm := time.Now(), 0
	for {
		now, err := r.running(ctx, e, s.What, leaseTime, r.Cancel)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil && time.Since(began) > r.Wait:
			return fmt.Errorf("nobody could tell for %s whether sessions run: %w", time.Since(began).Round(time.Second), err)
		case err == nil && len(now.Sessions) == 0 && len(now.Rest) == 0 && len(now.Silent) == 0:
			if calm++; calm == 2 {
				return nil
			}
		case time.Since(began) > r.Wait:
			return fmt.Errorf("%w: waited %s for %s; give more time with --wait, or say --cancel-sessions", ErrBusy, time.Since(began).Round(time.Second), whoRuns(now))
		default:
			calm = 0
			tell(Event{Text: "for " + whoRuns(now)})
		}
		select {
		case <-time.After(lookAgain):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
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

// room asks for the free space where the engine keeps volumes: a container without any is on the same disk.
func (r *runner) room(ctx context.Context, e *engine.Engine, s plan.Step) error {
	out, err := e.Try(ctx, r.Desired.Cluster, r.Desired.Image, "probe", "room", "/")
	if err != nil {
		return err
	}
	var room deploy.Room
	if err := json.Unmarshal([]byte(out), &room); err != nil {
		return fmt.Errorf("%q: %w", out, err)
	}
	if room.Free < s.Need {
		return fmt.Errorf("%w: %d MiB are free, and new nodes need %d MiB (limits.snapshot, segment and window of each)", ErrNoRoom, room.Free>>20, s.Need>>20)
	}
	return nil
}

// beat waits until a unit is heard. A node that reads a long log back takes its time, and says so.
func (r *runner) beat(ctx context.Context, e *engine.Engine, s plan.Step, tell func(Event)) error {
	return r.until(ctx, e, s, tell, "probe", "beat", s.Unit, "--within", "2s")
}

// lead waits until a medic leads: from then on the dead are started again.
func (r *runner) lead(ctx context.Context, e *engine.Engine, s plan.Step, tell func(Event)) error {
	return r.until(ctx, e, s, tell, "probe", "lead", "--within", "5s")
}

func (r *runner) until(ctx context.Context, e *engine.Engine, s plan.Step, tell func(Event), question ...string) error {
	began := time.Now()
	for {
		call, cancel := context.WithTimeout(ctx, 30*time.Second)
		out, err := e.Exec(call, s.What, append([]string{deploy.Program}, question...)...)
		cancel()
		var state string
		if err == nil {
			err = json.Unmarshal([]byte(out), &state)
		}
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err == nil && state == deploy.Up:
			return nil
		case err == nil && state == deploy.Recovering:
			began = time.Now()
			tell(Event{Text: "it reads its log"})
		case time.Since(began) > r.Beat && err != nil:
			return fmt.Errorf("after %s: %w; posta deploy logs %s tells more", r.Beat, err, s.Unit)
		case time.Since(began) > r.Beat:
			return fmt.Errorf("nothing is heard for %s; posta deploy logs %s tells more", r.Beat, s.Unit)
		}
		select {
		case <-time.After(lookAgain):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
