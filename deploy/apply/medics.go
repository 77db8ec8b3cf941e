package apply

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
)

// medicsWait is the default of Config.MedicsWait. Each medic that ends starts at most one other, so a few rounds of at most medicGrace are
// enough.
const medicsWait = 2 * time.Minute

// stopMedics stops medics until none runs. A medic that is told to end first finishes a restart that it has begun, which may be the restart
// of a medic that was stopped before it. No medic ends by itself, and when a round begins, all medics of the round before have ended. So
// when a round finds none, none runs.
func (r *runner) stopMedics(ctx context.Context) error {
	limit := r.MedicsWait
	if limit == 0 {
		limit = medicsWait
	}
	for began := time.Now(); ; {
		stopped, err := r.stopRunningMedics(ctx)
		if err != nil || len(stopped) == 0 {
			return err
		}
		if time.Since(began) > limit {
			return fmt.Errorf("medics are started again and again for %s, last %s: end what starts them (another deploy, compose, a medic "+
				"outside these hosts), then run the same command again",
				time.Since(began).Round(time.Second), strings.Join(stopped, ", "))
		}
	}
}

// stopRunningMedics stops all running medics at the same time, and returns their containers.
func (r *runner) stopRunningMedics(ctx context.Context) (names []string, err error) {
	var wg sync.WaitGroup
	var mu sync.Mutex // guards errs
	var errs []error
	defer wg.Wait()
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
			wg.Go(func() {
				if err := e.Stop(ctx, name, r.medicGrace()); err != nil {
					mu.Lock()
					defer mu.Unlock()
					errs = append(errs, fmt.Errorf("stop %s on host %s: %w", name, host, err))
				}
			})
		}
	}
	wg.Wait()
	return names, errors.Join(errs...)
}

// medicGrace returns how long the slowest medic may take to end.
func (r *runner) medicGrace() (most time.Duration) {
	for i := range r.Desired.Units {
		if u := &r.Desired.Units[i]; u.Medic() {
			most = max(most, u.Spec.Grace)
		}
	}
	return most
}
