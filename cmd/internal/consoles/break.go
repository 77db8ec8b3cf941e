package consoles

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/cmd/internal/call"
	"posta.dev/posta/cmd/internal/console"
	"posta.dev/posta/cmd/internal/display"
	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/cmd/internal/faults"
	"posta.dev/posta/cmd/internal/reach"
	"posta.dev/posta/medic"
	"posta.dev/posta/security"
	"posta.dev/posta/topology"
)

// breaker injects the faults that people choose on the pages of a console, with the injector of posta chaos.
type breaker struct {
	injector faults.Injector
	own      medic.NodeID // the medic that serves the console; "" if a person does
	lasts    time.Duration
	life     context.Context
	pending  sync.WaitGroup // faults that last

	mu      sync.Mutex
	lasting map[medic.NodeID]bool // guarded by mu
}

// newBreaker returns the breaker that injects faults, and a function that ends all lasting faults. The breaker is nil if the
// cluster's processes are not on this machine.
func (x *command) newBreaker(c *cli.Context, h *host) (*console.Breaker, func(), error) {
	if c.Bool(call.FlagSystemd) { // only systemd knows the processes, so the injector cannot find them
		return nil, func() {}, nil
	}
	injector, all, t, err := faults.InjectorOf(x.Call, c, func(*topology.Topology) (*security.Keys, error) { return h.keys, nil })
	if err != nil {
		if c.Bool(call.FlagDocker) || c.IsSet(call.FlagHost) {
			return nil, nil, err
		}
		x.Notef("note: the console cannot inject faults: %s", exit.OneLine(err))
		return nil, func() {}, nil
	}
	all, err = nearTo(t, all, h.own, c.StringSlice(call.FlagHost))
	if err != nil {
		return nil, nil, errors.Join(err, injector.Close())
	}
	life, end := context.WithCancel(context.Background())
	b := &breaker{injector: injector, own: h.own, lasts: 2 * t.Medics.SuspectAfter, life: life, lasting: map[medic.NodeID]bool{}}
	out := &console.Breaker{Lasts: b.lasts, Break: b.do}
	for _, k := range injector.Kinds() {
		out.Kinds = append(out.Kinds, string(k))
	}
	for _, id := range all {
		out.Targets = append(out.Targets, string(id))
	}
	slices.Sort(out.Targets)
	return out, func() {
		b.mu.Lock()
		end() // no fault begins after this
		b.mu.Unlock()
		b.pending.Wait()
		_ = injector.Close()
	}, nil
}

// nearTo returns the nodes and medics that a fault can hit from a medic: those on the medic's own host and on the given hosts. Without a
// medic it returns all.
func nearTo(t *topology.Topology, all []medic.NodeID, own medic.NodeID, hosts []string) (near []medic.NodeID, err error) {
	if own == "" {
		return all, nil
	}
	m, err := t.Medic(own)
	if err != nil {
		return nil, err
	}
	for _, id := range all {
		if n, err := reach.NodeOrMedic(t, id); err == nil && (n.Host == m.Host || slices.Contains(hosts, n.Host)) {
			near = append(near, id)
		}
	}
	return near, nil
}

// do is console.Breaker.Break.
func (b *breaker) do(ctx context.Context, kind, target string) (string, error) {
	k, id := faults.Kind(kind), medic.NodeID(target)
	pid, err := b.injector.Pid(id)
	switch {
	case err != nil:
		return "", err
	case pid == 0:
		return "", fmt.Errorf("%s has no process here; if it is a container, start the console with --docker", target)
	}
	if k.Lasts() && !b.begin(id) {
		return "", fmt.Errorf("%s is paused or cut off already, or the console ends", target)
	}
	if id == b.own { // the fault also ends the console, so the page is answered first
		return fmt.Sprintf("process %d, which serves this page, in %s", pid, display.Span(ownFault)), b.later(k, id)
	}
	err = b.injector.Do(ctx, k, id)
	said := fmt.Sprintf("process %d", pid)
	if k.Lasts() {
		said += " for " + display.Span(b.lasts)
		go b.undo(k, id, pid, err == nil || faults.GivenUp(err))
	}
	return said, err
}

// ownFault is how long the fault waits that hits the medic which serves the page.
const ownFault = 500 * time.Millisecond

var errConsoleEnds = errors.New("the console ends")

// later injects a fault into the medic that serves the console, after a pause. It does not undo a lasting fault, because a console that is
// off the network could not: other medics restart this medic.
func (b *breaker) later(k faults.Kind, id medic.NodeID) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.life.Err() != nil {
		return errConsoleEnds
	}
	b.pending.Go(func() {
		timer := time.NewTimer(ownFault)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-b.life.Done():
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), faults.UndoTime)
		defer cancel()
		_ = b.injector.Do(ctx, k, id) // the page shows whether the other medics notice
	})
	return nil
}

// begin notes that a lasting fault of a target begins. It returns false if another fault of the target lasts, or if the console ends. From
// then on the console's end waits for this fault, even before the fault happens. With two faults at a time, the end of the first would end
// the second.
func (b *breaker) begin(id medic.NodeID) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.lasting[id] || b.life.Err() != nil {
		return false
	}
	b.lasting[id] = true
	b.pending.Add(1)
	return true
}

// undo ends a fault when its time is over, or when the console ends.
func (b *breaker) undo(k faults.Kind, id medic.NodeID, pid int, happened bool) {
	defer b.pending.Done()
	if happened {
		timer := time.NewTimer(b.lasts)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-b.life.Done():
		}
		ctx, cancel := context.WithTimeout(context.Background(), faults.UndoTime)
		defer cancel()
		_ = b.injector.Undo(ctx, k, id, pid) // the target may be gone; then a medic has restarted it
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.lasting, id)
}
