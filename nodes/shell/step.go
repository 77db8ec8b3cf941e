package shell

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"posta.dev/posta/nodes/core"
	"posta.dev/posta/nodes/heartbeat"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/nodes/trace"
)

const (
	tickEvery   = 100 * time.Millisecond // the longest pause between steps, for repeated acknowledgements and timeouts
	drainEvery  = 20 * time.Millisecond  // the same while a node drains
	reportEvery = time.Minute            // the shortest pause between reports of refused messages: a stranger must not be able to fill the log
	dropsEvery  = time.Second            // the shortest pause between reports of dropped frames, each of which counts those since the last one
)

// Reasons for the end of the loop that are not faults.
var (
	// ErrDrained: the node was told to stop, and has sent what it could in time.
	ErrDrained = errors.New("drained")
	// ErrRetired: the log was set back or is superseded, and was put aside (R14). The node continues with the next Open, which begins an empty
	// log.
	ErrRetired = errors.New("the log is retired")
)

// Output is what the caller has to do after a step. Its slices are valid until the next step.
type Output struct {
	core.Output
	Job  *Job            // for the committer; nil if it still has one, or there is nothing to do
	Beat *heartbeat.Beat // the heartbeat; nil if none is due. The publisher owns it and fills in the rest.
	// Settled says, once, that the failures of the sessions of Config.Lost are durable, so that the notes about them may be removed.
	Settled bool
	Drops   []core.LinkDrops // beside a heartbeat: what links have dropped; the receiver owns it
	Read    []*role.Piece    // pieces that are no longer used: their memory may be used again
	Reports []trace.Report   // about sessions whose traces somebody wants
	Notes   []Note           // for the node's log
	Alarm   time.Time        // when the next step is due if nothing happens
	End     error            // the loop ends: ErrDrained, ErrRetired, or an error for people
}

// Step lets the core take what it can, and returns the committer's next job and the messages that may leave. It is called after each event,
// or after several, and at the alarm of the step before.
func (s *Shell) Step(now time.Time) Output {
	s.alarm = now.Add(tickEvery)
	var o Output
	if !s.draining && s.core.Retired() == "" {
		s.core.Tick(now)
		s.takePieces(now)
		if s.core.Advance(); s.core.Working() {
			s.wakeAt(now)
		}
	}
	switch {
	case s.failure != nil:
		o.End = s.failure
	case s.core.Retired() != "":
		s.retire(now, &o)
	default:
		o.Job = s.nextJob(now)
		o.Output = s.core.Output(now)
		if !o.Hello.IsZero() {
			s.wakeAt(o.Hello)
		}
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
	s.reportDropped(now)
	if o.Beat = s.beat(now); o.Beat != nil {
		o.Drops = s.core.Drops()
	}
	for _, id := range s.asked {
		o.Reports = append(o.Reports, s.cfg.Core.Trace.Report(id))
	}
	s.asked = s.asked[:0]
	o.Notes, s.notes = s.notes, nil
	o.Read, s.read = s.read, nil
	o.Alarm = s.alarm
	return o
}

// Drain tells the node to stop: it commits what it was given, sends what is committed, and gives up after limits.drain (N5). The next start
// sends the rest, so nothing is lost.
func (s *Shell) Drain(now time.Time) {
	if s.draining {
		return
	}
	s.draining, s.drainUntil = true, now.Add(s.cfg.Drain)
	s.note(slog.LevelInfo, "draining")
}

// drained reports whether a draining node is done. A step with messages is not the last one, because the transport may not accept them. It
// does not wait for a commit that has no room on the disk: its senders have no acknowledgement, and send the frames again.
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

// reportRefused reports messages that the core refused (M10, R18).
func (s *Shell) reportRefused(now time.Time) {
	what := s.core.Refused()
	if what == "" || !s.reportedAt.IsZero() && now.Sub(s.reportedAt) < reportEvery {
		return
	}
	s.reportedAt = now
	s.note(slog.LevelWarn, "messages were refused", "what", what, "refused so far", s.core.Counters.Refused, "damaged so far",
		s.core.Counters.Damaged)
}

// reportDropped reports frames that were dropped. Each resend has some, so this is for people who look for a reason; the metrics have them
// by link.
func (s *Shell) reportDropped(now time.Time) {
	if !s.droppedAt.IsZero() && now.Sub(s.droppedAt) < dropsEvery {
		return
	}
	if last, frames := s.core.DroppedFrames(); frames > 0 {
		s.droppedAt = now
		s.note(slog.LevelDebug, "frames were dropped", "frames", frames, "last", last)
	}
}

// final wraps a permanent error of the log with the node's name.
func (s *Shell) final(err error) error {
	return fmt.Errorf("node %s: W4: %w: it stops, and its next start recovers from what is on disk", s.cfg.Core.Self, err)
}
