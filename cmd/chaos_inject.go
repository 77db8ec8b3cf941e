package cmd

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"posta.dev/posta/cmd/internal/display"
	"posta.dev/posta/cmd/internal/faults"
	"posta.dev/posta/cmd/internal/monitor"
	"posta.dev/posta/medic"
	"posta.dev/posta/medic/core"
)

// faultInjector is one run of `posta chaos`.
type faultInjector struct {
	x          *command
	injector   faults.Injector
	rand       *rand.Rand
	targets    []medic.NodeID
	kinds      []faults.Kind
	suspect    time.Duration // after which medics suspect a silent node; pauses are about as long
	done       int           // faults that were injected
	unanswered int           // of those: the call was given up, so the fault may not have happened
	undos      []func()      // end the faults that last, and wait for that
}

// injectUntilDone injects faults until ctx ends. Between two faults it looks at the journal.
func (r *faultInjector) injectUntilDone(ctx context.Context, every time.Duration, look func()) {
	next := time.Now()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		if now := time.Now(); !now.Before(next) {
			r.inject(ctx)
			next = now.Add(every/2 + time.Duration(r.rand.Int64N(int64(every))))
		}
		select {
		case <-tick.C:
			look()
		case <-ctx.Done():
			return
		}
	}
}

// inject makes one fault happen. It draws target, kind and pause even if the target turns out to be dead: so a seed always means the same faults.
func (r *faultInjector) inject(ctx context.Context) {
	target, kind := r.targets[r.rand.IntN(len(r.targets))], r.kinds[r.rand.IntN(len(r.kinds))]
	pause := r.suspect/4 + time.Duration(r.rand.Int64N(int64(2*r.suspect)))
	pid, err := r.injector.Pid(target)
	switch {
	case err != nil:
		r.say("%s %s: %v", kind, target, err)
		return
	case pid == 0:
		r.say("%s %s: it is dead as it is", kind, target)
		return
	}
	what := fmt.Sprintf("%s %s, process %d", kind, target, pid)
	if kind.Lasts() {
		what += " for " + display.Span(pause)
	}
	err = r.injector.Do(ctx, kind, target)
	switch {
	case err == nil:
		r.say("%s", what)
	case givenUp(err): // then incidents may come of it that would otherwise have no fault, and what lasts has to be ended
		r.unanswered++
		r.say("%s, perhaps: %v", what, err)
	default:
		r.say("%s: %v", what, err)
		return
	}
	r.done++
	if !kind.Lasts() {
		return
	}
	undo := func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTime)
		defer cancel()
		_ = r.injector.Undo(ctx, kind, target, pid) // the target may just be gone; allBack reports those that do not come back
	}
	over := make(chan struct{})
	timer := time.AfterFunc(pause, func() { defer close(over); undo() })
	r.undos = append(r.undos, func() {
		if timer.Stop() {
			undo()
			return
		}
		<-over
	})
}

// givenUp says that a call was given up: nobody knows whether it was carried out.
func givenUp(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}

// undoTime bounds the end of what lasts.
const undoTime = 10 * time.Second

func (r *faultInjector) say(format string, args ...any) {
	r.x.printf("%s  %s\n", time.Now().Format("15:04:05.000"), fmt.Sprintf(format, args...))
}

// allBack waits until everybody is heard and no incident is open.
func (r *faultInjector) allBack(ctx context.Context, w *monitor.Listener[monitor.Medics]) error {
	if err := r.injector.Ready(ctx); err != nil {
		return err
	}
	view, err := w.Until(ctx, func(m monitor.Medics) (bool, error) { return len(missing(m, 2*r.suspect)) == 0, nil })
	if err != nil {
		return fmt.Errorf("chaos: not all came back in time: %s: %w", strings.Join(missing(view, 2*r.suspect), ", "), err)
	}
	return nil
}

// missing is what keeps a cluster from being whole: nodes with an open incident, medics that were silent for so long, a leader. Whatever it is has a
// name.
func missing(m monitor.Medics, silent time.Duration) (names []string) {
	for _, i := range core.Incidents(m.Entries) {
		if i.Open {
			names = append(names, string(i.Node))
		}
	}
	for _, m := range m.All {
		if !m.Heard || m.Age > silent {
			names = append(names, string(m.Node.ID))
		}
	}
	if !m.Led {
		names = append(names, "a medic that leads")
	}
	return names
}

// journalPrinter prints what is new in the journal.
type journalPrinter struct {
	x     *command
	since time.Time
	told  map[core.EntryID]bool
}

func (t *journalPrinter) tell(entries []core.Entry) {
	for i := range entries {
		e := &entries[i]
		if t.told[e.EntryID] || e.At.Before(t.since) {
			continue
		}
		t.told[e.EntryID] = true
		t.x.printf("%s    %s\n", e.At.Format("15:04:05.000"), entryText(e))
	}
}

// printSummary prints the last lines.
func (x *command) printSummary(incidents []core.Incident, since time.Time, done, unanswered int) {
	back, restarts := 0, 0
	var slowest time.Duration
	for _, i := range incidents {
		if i.At.Before(since) {
			continue
		}
		restarts += i.Restarts
		if !i.Open {
			back++
			slowest = max(slowest, i.Total())
		}
	}
	perhaps := ""
	if unanswered > 0 {
		perhaps = fmt.Sprintf(", %d without an answer", unanswered)
	}
	x.printf("%s%s; the journal tells of %s that ended well, with %s; the slowest took %s\n",
		display.Plural(done, "fault"), perhaps, display.Plural(back, "incident"), display.Plural(restarts, "restart"), display.Span(slowest))
}
