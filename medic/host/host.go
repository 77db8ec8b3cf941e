package host

import (
	"context"
	"errors"
	"fmt"
	"time"

	"posta.dev/posta/internal/owned"
	"posta.dev/posta/medic"
	"posta.dev/posta/medic/core"
)

// Host is one host of the topology, on this machine. Its methods may be called by several goroutines and processes at once.
type Host struct {
	dir, name string
	self      core.NodeID // the medic that acts here; "" if the caller is not a medic
	r         medic.Restarter
	pids      medic.Pids // nil if the restarter has none

	// Tell leaves a note for a target before it is started again if its last process crashed. A node needs it to count how often a session
	// made it crash. nil: no notes. It is best effort: no start depends on it.
	Tell func(ctx context.Context, target core.NodeID, d medic.Death)
}

// Open creates the directory and takes no lock. self is the medic that acts, "" if the caller is not a medic. The lock file names self, so
// that errors of processes that wait for the lock can name it.
func Open(dir, name string, self core.NodeID, r medic.Restarter) (*Host, error) {
	if err := owned.Tree(dir); err != nil {
		return nil, fmt.Errorf("make a directory for what host %s has seen: %w", name, err)
	}
	h := &Host{dir: dir, name: name, self: self, r: r}
	h.pids, _ = r.(medic.Pids)
	return h, nil
}

// lookTime bounds one look at a target. It is longer than the deadline of a call to an engine or to systemctl.
const lookTime = 6 * time.Second

// Execute carries out an order (M4, M5). Errors go into the report, too. newest returns the newest term that the medic itself knows. The
// fence is raised to it first: an order that an election has outdated must be refused as soon as this medic knows of the election.
func (h *Host) Execute(ctx context.Context, o core.Order, newest func() core.Term) core.Report {
	began := time.Now()
	r, err := h.execute(ctx, o, newest)
	if err != nil {
		r = o.Report(core.Failed)
		if errors.Is(err, ErrBusy) {
			r.Verdict = core.Late
		}
		r.Text = err.Error()
	}
	if r.Verdict == core.Done || r.Verdict == core.Found {
		r.PID = h.pid(o.Target)
	}
	r.Took = time.Since(began)
	return r
}

func (h *Host) execute(ctx context.Context, o core.Order, newest func() core.Term) (r core.Report, err error) {
	unlock, err := h.lockAgainst(ctx, o)
	if err != nil {
		return r, err
	}
	defer unlock()
	inHand := time.Now()
	f, err := h.raise(o.Term())
	if err != nil {
		return r, err
	}
	if t := newest(); t.Gen > o.Gen {
		if f, err = h.raise(t); err != nil {
			return r, err
		}
	}
	alive, err := h.r.Alive(ctx, o.Target)
	if err != nil {
		return r, err
	}
	// The deadline is compared with the time at which the lock was taken. The time that the engine takes to say which containers run does not
	// count: otherwise no node could be restarted while the engine is slow. But a medic that was stopped before it got the lock must not act
	// on old knowledge.
	now := inHand
	if time.Since(inHand) > lookTime {
		now = time.Now()
	}
	last := h.readStarted(o.Target)
	r, do := f.Decide(o, last, alive, now, clock())
	if !do {
		if s := last.After(r); s != last {
			err = h.writeStarted(o.Target, s)
		}
		return r, err
	}
	r.Text, err = h.restart(ctx, o.Target, core.Started{At: clock(), Order: o.OrderID, Verdict: core.Done})
	return r, err
}

// lockAgainst waits for the lock until the order's deadline. If the target itself holds the lock and does not release it, the target is
// killed first. The order is checked against the stored fence, which cannot be raised without the lock.
func (h *Host) lockAgainst(ctx context.Context, o core.Order) (unlock func(), err error) {
	inTime, cancel := context.WithDeadline(ctx, o.Until)
	defer cancel()
	unlock, err = h.lock(inTime)
	if _, holder := h.readHolder(); !errors.Is(err, ErrBusy) || holder != string(o.Target) {
		return unlock, err
	}
	f, err := h.readFence()
	if err != nil {
		return nil, err
	}
	if f, _ = f.Raise(o.Term()); f.Down || f.Term != o.Term() {
		return nil, fmt.Errorf("kill %s, which holds the lock: %w", o.Target, ErrBusy)
	}
	if err := h.r.Kill(ctx, o.Target); err != nil {
		return nil, err
	}
	return h.lock(ctx)
}

// restart kills the old process, if there is one, and starts a new one. It returns how the old process ended.
func (h *Host) restart(ctx context.Context, target core.NodeID, s core.Started) (cause string, err error) {
	if err := h.r.Kill(ctx, target); err != nil {
		return "", err
	}
	if death, err := h.r.Wait(ctx, target); err == nil {
		if cause = death.Cause; death.Fault && h.Tell != nil {
			h.Tell(ctx, target, death)
		}
	}
	if err := h.writeStarted(target, s); err != nil {
		return cause, fmt.Errorf("note the start of %s: %w", target, err)
	}
	// ErrRunning: the old process is gone, so something else has started a new one meanwhile, like an engine with a restart policy.
	if err := h.r.Start(ctx, target); err != nil && !errors.Is(err, medic.ErrRunning) {
		s.Order = core.OrderID{}
		return cause, errors.Join(err, h.writeStarted(target, s))
	}
	return cause, nil
}

// Seen returns the host's fence. It needs no lock: while one slot of the file is being written, the other one is valid.
func (h *Host) Seen() (core.Fence, error) { return h.readFence() }

// locked runs do under the host's lock.
func (h *Host) locked(ctx context.Context, do func() error) error {
	unlock, err := h.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	return do()
}

// Raise raises the host's fence to the term t (M4).
func (h *Host) Raise(ctx context.Context, t core.Term) error {
	return h.locked(ctx, func() error {
		_, err := h.raise(t)
		return err
	})
}

// raise is called with the lock held.
func (h *Host) raise(t core.Term) (core.Fence, error) {
	f, err := h.readFence()
	if err != nil {
		return f, err
	}
	higher, changed := f.Raise(t)
	if changed {
		err = h.writeFence(higher)
	}
	return higher, err
}

// Up lets orders in again and starts the targets that do not run. It returns those that it started.
func (h *Host) Up(ctx context.Context, targets []core.NodeID) (started []core.NodeID, err error) {
	err = h.locked(ctx, func() error {
		if err := h.setDown(false); err != nil {
			return err
		}
		for _, t := range targets {
			alive, err := h.r.Alive(ctx, t)
			if err == nil && !alive {
				_, err = h.restart(ctx, t, core.Started{At: clock()})
			}
			if err != nil {
				return err
			}
			if !alive {
				started = append(started, t)
			}
		}
		return nil
	})
	return started, err
}

// Down makes the host refuse orders: once it has returned, none is carried out until Up.
func (h *Host) Down(ctx context.Context) error {
	return h.locked(ctx, func() error { return h.setDown(true) })
}

func (h *Host) setDown(down bool) error {
	f, err := h.readFence()
	if err != nil || f.Down == down {
		return err
	}
	f.Down = down
	return h.writeFence(f)
}

func (h *Host) pid(target core.NodeID) int {
	if h.pids == nil {
		return 0
	}
	pid, err := h.pids.Pid(target)
	if err != nil {
		return 0
	}
	return pid
}
