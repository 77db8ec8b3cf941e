package shell

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"posta.dev/posta/nodes/core"
	"posta.dev/posta/nodes/heartbeat"
)

const (
	tickEvery   = 100 * time.Millisecond // at least so often time alone brings hellos, repeated acknowledgements and timeouts
	drainEvery  = 20 * time.Millisecond  // the same while a node drains
	reportEvery = time.Minute            // at most so often a node reports what it did not believe: a stranger must not fill the log
)

// What ends the loop without being a fault.
var (
	// ErrDrained: the node was told to stop, and has sent what it could.
	ErrDrained = errors.New("drained")
	// ErrRetired: the log was set back to a former state or is superseded, and is put aside (R14). The node goes on with the next Open,
	// which begins an empty log.
	ErrRetired = errors.New("R14: the log is retired")
)

// Output is what one step asks for. The slices of Output are valid until the next step.
type Output struct {
	core.Output
	Job  *Job            // for the committer, which has none; nil if there is nothing to do
	Beat *heartbeat.Beat // what the node has to say of itself; nil if it said so a moment ago. It belongs to the publisher, who fills in the rest.
	// Settled says that the sessions of Config.Lost have failed, durably: what tells of them may go. It is said once.
	Settled bool
	Notes   []Note    // for the node's log
	Alarm   time.Time // when the next step is due if nothing happens
	End     error     // the loop ends: ErrDrained, ErrRetired, or an error for people
}

// Step lets the core take what it can, gives the committer its next job, and returns what may leave. It is called after every event, or after
// several, and when the alarm of the step before rings.
func (s *Shell) Step(now time.Time) Output {
	s.alarm = now.Add(tickEvery)
	var o Output
	if !s.draining && s.core.Retired() == "" {
		s.core.Tick(now)
		s.core.Advance()
	}
	switch {
	case s.failure != nil:
		o.End = s.failure
	case s.core.Retired() != "":
		s.retire(now, &o)
	default:
		o.Job = s.nextJob(now)
		o.Output = s.core.Output(now)
		o.Replies = append(o.Replies, s.refusals...)
		if err := s.core.Err(); err != nil {
			o.End = err
		} else if s.draining {
			o.End = s.drained(now, &o)
		}
	}
	s.refusals = s.refusals[:0]
	s.busy = s.busy || o.Job != nil
	if s.lost && !s.busy && s.failed == nil && s.core.Retired() == "" && !s.core.Pending() {
		s.lost, o.Settled = false, true
	}
	s.reportRefused(now)
	o.Beat = s.beat(now)
	o.Notes, s.notes = s.notes, nil
	o.Alarm = s.alarm
	return o
}

// Drain tells the node to stop: it commits what it was given, sends what is committed, and gives up after limits.drain (N5). What is left is
// sent by the next start: nothing is lost either way.
func (s *Shell) Drain(now time.Time) {
	if s.draining {
		return
	}
	s.draining, s.drainUntil = true, now.Add(s.cfg.Drain)
	s.note(slog.LevelInfo, "draining")
}

// drained reports whether the node that drains is through. What this step sends may not be accepted, so it is not the last one. A commit
// that has no room on the disk is not waited for: those who sent it have not been acknowledged, and send it again.
func (s *Shell) drained(now time.Time, o *Output) error {
	busy := s.busy || o.Job != nil
	if !busy && len(o.Sends) == 0 && !s.core.Sendable() {
		return ErrDrained
	}
	if !now.Before(s.drainUntil) {
		s.note(slog.LevelInfo, "drained for as long as limits.drain allows; the next start sends the rest")
		return ErrDrained
	}
	s.wakeAt(now.Add(drainEvery))
	return nil
}

// reportRefused reports what the core has heard and not believed (M10, R18).
func (s *Shell) reportRefused(now time.Time) {
	what := s.core.Refused()
	if what == "" || !s.reportedAt.IsZero() && now.Sub(s.reportedAt) < reportEvery {
		return
	}
	s.reportedAt = now
	s.note(slog.LevelWarn, "something was heard and is not believed", "what", what, "refused so far", s.core.Counters.Refused, "damaged so far", s.core.Counters.Damaged)
}

// final wraps an error of the log that no waiting cures with the node's name.
func (s *Shell) final(err error) error {
	return fmt.Errorf("node %s: W4: %w: it stops, and its next start recovers from what is on disk", s.cfg.Core.Self, err)
}
