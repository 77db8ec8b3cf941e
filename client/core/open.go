package core

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
)

// busyPause is how long to wait when a busy cluster does not say for how long.
const busyPause = time.Second

// shortestPause is the shortest pause, however soon an input asks to be asked again. An input names the rest of the silence that a takeover
// needs. That may be less time than a request takes, so without this limit a client would ask without a pause.
const shortestPause = 10 * time.Millisecond

// Open opens the session at every input, one after the other. The first input decides which client is admitted, so two clients never hold
// half of the inputs each. It waits while the cluster is busy, unless Config.NoWait. Inputs that have opened the session are pinged
// meanwhile.
func (s *Session) Open(now time.Time) {
	s.begin(open, now)
	s.states = nil
	if !s.cfg.Reopens && !s.cfg.Takeover { // no other run has this token, so only this one can have opened the session
		s.phase = max(s.phase, MaybeOpen)
	}
	if s.cfg.Resume && !s.looked {
		s.look()
		return
	}
	s.openNext()
}

func (s *Session) openNext() {
	q := s.request(protocol.Open)
	q.Analysis, q.Params, q.Plan, q.Takeover = s.cfg.Analysis, s.cfg.Params, s.cfg.Plan, s.cfg.Takeover
	if s.cfg.Takeover && s.at > 0 { // the first input decides in which order clients take over
		q.Openers = s.states[0].Openers
	}
	// The waits of tries grow little: an input that has opened the session considers a client that falls silent dead.
	s.ask(s.inputs[s.at].conn, exchange{purpose: opening, request: q, want: protocol.Opened, longest: 2 * s.cfg.Timeout})
}

func (s *Session) openedAt(in *node, reply protocol.Reply, err error) {
	switch {
	case s.mayOpenLater(reply, err):
		s.busy = true
		s.notePatience(err)
		s.pause(pauseFor(reply))
		return
	case err != nil:
		s.fail(fmt.Errorf("open %s: %w", s.cfg.Analysis, err))
		return
	}
	s.aliveSince = time.Time{}
	if fresh(reply) {
		s.phase = max(s.phase, MaybeOpen)
	}
	if reply.State == session.Running {
		in.bears = reply.ClientTimeout
		s.planPing(in)
		if s.cfg.Resume {
			in.takeUp(&reply)
		}
	}
	if s.at == 0 && s.follow(reply) { // the cluster changed while the session waited: begin again, as opening a session twice is harmless
		s.states = nil
		s.openNext()
		return
	}
	s.states = append(s.states, reply)
	if s.at++; s.at < len(s.inputs) {
		s.openNext()
		return
	}
	s.openedEverywhere()
}

// mayOpenLater reports whether an input will open the session when it has room, or when the client that is taken over has been silent for
// long enough.
func (s *Session) mayOpenLater(reply protocol.Reply, err error) bool {
	alive := s.cfg.Takeover && errors.Is(err, protocol.ErrInUse) && reply.Err.RetryAfter > 0
	return !s.cfg.NoWait && (alive && s.waitsFor() || errors.Is(err, protocol.ErrBusy))
}

func (s *Session) openedEverywhere() {
	s.first = s.states[0]
	s.streams = make([]StreamProgress, len(s.first.Streams))
	if err := s.resume(); err != nil {
		s.fail(err)
		return
	}
	s.end(nil)
}

// resume decides how a session that existed before continues. Lanes pull chunks in no fixed order. A run that simply repeated the upload
// would send other rows under the same (lane, seq), and the inputs would take them for duplicates. A half-done upload is therefore
// continued only with Config.Resume, from what the inputs say that they have taken.
func (s *Session) resume() error {
	blank, ended := true, true
	for _, state := range s.states {
		if state.State == session.Done || state.State == session.Failed {
			s.phase = Uploaded
			return nil
		}
		blank = blank && fresh(state)
		for _, stream := range s.first.Streams {
			ended = ended && slices.Contains(state.Ended, stream.Name)
		}
	}
	switch {
	case blank:
		s.phase = Open
		return nil
	case ended:
		s.phase = Uploaded
		return nil
	case s.cfg.Resume:
		s.phase = Open
		return nil
	}
	return fmt.Errorf("%w: %s; continue with it: posta submit --resume %[2]s, or run it again under another id", ErrInterrupted, s.cfg.Session)
}

// fresh reports whether an input has taken nothing for the session yet.
func fresh(opened protocol.Reply) bool {
	return opened.State != session.Done && opened.State != session.Failed && len(opened.Lanes) == 0 && len(opened.Ended) == 0
}

func pauseFor(reply protocol.Reply) time.Duration {
	if reply.Err.RetryAfter > 0 {
		return max(reply.Err.RetryAfter, shortestPause)
	}
	return busyPause
}
