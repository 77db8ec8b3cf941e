package chaos

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"posta.dev/posta/internal/units"

	"posta.dev/posta/cmd/internal/display"
	"posta.dev/posta/cmd/internal/faults"
	"posta.dev/posta/cmd/internal/incidents"
	"posta.dev/posta/cmd/internal/monitor"
	"posta.dev/posta/medic"
	"posta.dev/posta/medic/core"
)

// FaultInjector is one run of `posta chaos`.
type FaultInjector struct {
	seed     uint64
	injector faults.Injector
	rand     *rand.Rand
	targets  []medic.NodeID
	kinds    []faults.Kind
	suspect  time.Duration // the silence after which medics suspect a node; pauses are about as long
	Faults   []Fault       // all that were tried
	told     timeline
	undos    []func() // each ends a lasting fault, and waits until it has ended
}

// injectUntilDone injects faults until ctx ends. Between two faults it looks at the journal.
func (r *FaultInjector) injectUntilDone(ctx context.Context, every time.Duration, look func()) {
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

// counts returns how many faults were injected, and how many of their calls were given up.
func (r *FaultInjector) counts() (done, unanswered int) {
	for i := range r.Faults {
		if r.Faults[i].done() {
			done++
		}
		if r.Faults[i].unanswered {
			unanswered++
		}
	}
	return done, unanswered
}

// inject makes one fault happen. It draws target, kind and pause even if the target turns out to be dead, so that a seed always gives the
// same faults.
func (r *FaultInjector) inject(ctx context.Context) {
	target, kind := r.targets[r.rand.IntN(len(r.targets))], r.kinds[r.rand.IntN(len(r.kinds))]
	pause := r.suspect/4 + time.Duration(r.rand.Int64N(int64(2*r.suspect)))
	f := Fault{at: time.Now(), kind: kind, node: target}
	if f.pid, f.err = r.injector.Pid(target); f.err == nil && f.pid != 0 {
		if kind.Lasts() {
			f.lasts = pause
		}
		f.at = time.Now()
		f.err = r.injector.Do(ctx, kind, target)
		f.unanswered = faults.GivenUp(f.err) // the fault may have happened: it may cause incidents, and a lasting one has to be ended
	}
	r.Faults = append(r.Faults, f)
	r.told.add(f.at, f.String())
	if !f.done() || !kind.Lasts() {
		return
	}
	pid := f.pid
	undo := func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), faults.UndoTime)
		defer cancel()
		_ = r.injector.Undo(ctx, kind, target, pid) // the target may be gone; allBack reports targets that do not come back
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

// allBack waits until missing returns nothing, and returns the last view.
func (r *FaultInjector) allBack(ctx context.Context, w *monitor.Listener[monitor.Medics]) (monitor.Medics, error) {
	if err := r.injector.Ready(ctx); err != nil {
		return w.View(), err
	}
	away := func(m monitor.Medics) []string {
		names := append(missing(m, 2*r.suspect), r.down()...)
		slices.Sort(names)
		return slices.Compact(names)
	}
	view, err := w.Until(ctx, func(m monitor.Medics) (bool, error) { return len(away(m)) == 0, nil })
	if err != nil {
		return view, fmt.Errorf("chaos: not all came back in time: %s: %w", strings.Join(away(view), ", "), err)
	}
	return view, nil
}

// down names targets without a process, and targets whose process a fault has ended or stopped for good. The medics may not have noticed
// this yet: then no incident is open.
func (r *FaultInjector) down() (names []string) {
	for i := range r.Faults {
		f := &r.Faults[i]
		if !f.done() {
			continue
		}
		pid, err := r.injector.Pid(f.node)
		if err == nil && (pid == 0 || pid == f.pid && !f.kind.Lasts() && !f.unanswered) {
			names = append(names, string(f.node))
		}
	}
	return names
}

// missing names what a complete cluster lacks: nodes with an open incident, medics that were silent for longer than silent, and the leader
// if there is none.
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

// journalReader copies new entries of the journal into the time line.
type journalReader struct {
	since time.Time
	known map[core.EntryID]bool
}

func (j *journalReader) read(entries []core.Entry, told *timeline) {
	for i := range entries {
		e := &entries[i]
		if j.known[e.EntryID] || e.At.Before(j.since) {
			continue
		}
		j.known[e.EntryID] = true
		told.add(e.At, "  "+incidents.EntryText(e))
	}
}

// summary returns the last line.
func summary(incidents []core.Incident, since time.Time, done, unanswered int) string {
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
	return fmt.Sprintf("%s%s; the journal reports %s that ended well, with %s; the slowest took %s",
		units.Plural(done, "fault"), perhaps, units.Plural(back, "incident"), units.Plural(restarts, "restart"), display.Span(slowest))
}
