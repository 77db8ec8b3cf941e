package shell

import (
	"errors"
	"slices"
	"time"

	"posta.dev/posta/nodes/heartbeat"
	"posta.dev/posta/wal"
)

// beat returns a heartbeat when it is due (N8).
func (s *Shell) beat(now time.Time) *heartbeat.Beat {
	defer func() { s.wakeAt(s.beatDue) }()
	if now.Before(s.beatDue) {
		return nil
	}
	s.beatDue = now.Add(heartbeat.Next(now, s.cfg.Heartbeat))
	c := s.core.Counters
	b := &heartbeat.Beat{
		Node: s.cfg.Core.Self, ID: s.cfg.Core.ID, State: heartbeat.Running, Uptime: now.Sub(s.started),
		FramesIn: c.FramesIn, BytesIn: c.BytesIn, FramesOut: c.FramesOut, BytesOut: c.BytesOut, Damaged: c.Damaged, Commits: c.Commits,
		LogBytes: uint64(max(0, s.logBytes)), Sessions: s.core.Sessions(), Running: s.core.Running(), Ended: s.core.Ended(),
		Waiting: s.core.Waiting(), Links: s.core.Links(),
	}
	switch {
	case s.core.Retired() != "":
		b.State = heartbeat.Retiring
	case s.draining:
		b.State = heartbeat.Draining
	case s.full != nil:
		b.State, b.Trouble = heartbeat.DiskFull, s.full.Error()
		if errors.Is(s.full, wal.ErrNoDescriptor) {
			b.State = heartbeat.NoFiles
		}
	case slices.ContainsFunc(b.Links, func(l heartbeat.Link) bool { return l.Full }):
		b.State = heartbeat.Blocked
	}
	return b
}
