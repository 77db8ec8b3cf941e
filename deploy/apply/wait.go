package apply

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"posta.dev/posta/deploy"
	"posta.dev/posta/deploy/engine"
	"posta.dev/posta/deploy/plan"
)

// errNoRoom is wrapped when a disk has too little free space for new volumes.
var errNoRoom = errors.New("not enough room on the disk")

// pollPause is the time between two questions.
const pollPause = 500 * time.Millisecond

// poll repeats a question until the answer is done or an error, or until ctx ends.
func poll(ctx context.Context, ask func() (done bool, err error)) error {
	for {
		done, err := ask()
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case done || err != nil:
			return err
		}
		select {
		case <-time.After(pollPause):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// checkSpace asks for the free space where the engine keeps volumes. It asks a container without volumes, whose root is on the same disk.
func (r *runner) checkSpace(ctx context.Context, e *engine.Engine, s plan.Step) error {
	out, err := e.RunOnce(ctx, r.Desired.Cluster, r.Desired.Image, "probe", "room", "/")
	if err != nil {
		return err
	}
	var disk deploy.DiskSpace
	if err := json.Unmarshal([]byte(out), &disk); err != nil {
		return fmt.Errorf("%q: %w", out, err)
	}
	if disk.Free < s.Need {
		return fmt.Errorf("%w: %d MiB are free, and new nodes need %d MiB (limits.snapshot, segment and window of each)", errNoRoom,
			disk.Free>>20, s.Need>>20)
	}
	return nil
}

// awaitUp waits until the container's unit answers a probe with deploy.Up. A node that recovers a long log may take longer, and says so.
func (r *runner) awaitUp(ctx context.Context, e *engine.Engine, s plan.Step, report func(Event), question ...string) error {
	began := time.Now()
	return poll(ctx, func() (done bool, err error) {
		var state string
		err = probe(ctx, e, s.What, &state, append([]string{deploy.Program, "probe"}, question...)...)
		switch {
		case err == nil && state == deploy.Up:
			return true, nil
		case err == nil && state == deploy.Recovering:
			began = time.Now()
			report(Event{Text: "it reads its log"})
		case time.Since(began) > r.Beat && err != nil:
			return false, fmt.Errorf("after %s: %w; posta deploy logs %s tells more", r.Beat, err, s.Unit)
		case time.Since(began) > r.Beat:
			return false, fmt.Errorf("nothing is heard for %s; posta deploy logs %s tells more", r.Beat, s.Unit)
		}
		return false, nil
	})
}

// steadyTime is how long a container has to run before it counts as one that stays up.
const steadyTime = 10 * time.Second

// awaitSteady waits until a container has run for steadyTime. If it is restarted meanwhile it is in a crash loop, which is an error.
func (r *runner) awaitSteady(ctx context.Context, e *engine.Engine, s plan.Step) error {
	first, began := "", time.Now()
	return poll(ctx, func() (done bool, err error) {
		started, up, err := e.Uptime(ctx, s.What)
		switch {
		case err != nil:
			return false, err
		case first != "" && started != first:
			return false, fmt.Errorf("%s does not stay up: it was started again %s ago; posta deploy logs %s tells more", s.Unit,
				up.Round(time.Second), s.Unit)
		case up >= steadyTime || time.Since(began) >= steadyTime: // the engine's clock may have been set back
			return true, nil
		}
		first = started
		return false, nil
	})
}
