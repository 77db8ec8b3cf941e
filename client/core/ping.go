package core

import (
	"errors"
	"fmt"
	"time"

	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
)

// longestPing bounds the time between two pings. Pings also show whether an input is dead or only holds a chunk back, and whether a session
// has failed or is only slow.
const longestPing = time.Second

// outputsDecide is how long a run waits for the outputs after an input has said, once the upload was over, that the session is lost. The
// abort reaches the outputs too, if none of them had the answer before. The time counts from the last sign that an output delivers the
// answer.
const outputsDecide = 5 * time.Second

// outputsMayDecide lets a session that an input has lost continue for outputsDecide. While the caller has rows to take there is no limit,
// because the caller delays the outputs then.
func (s *Session) outputsMayDecide() {
	s.lostAt = time.Time{}
	if s.lost != nil && len(s.rows) == 0 {
		s.lostAt = s.now.Add(outputsDecide)
	}
}

// planPing sets when an input that has opened the session is pinged next.
func (s *Session) planPing(in *node) {
	every := longestPing
	if in.bears > 0 {
		every = min(every, in.bears/4)
	}
	in.pingAt = s.now.Add(s.jitter(max(every, time.Millisecond)))
}

// ping tells an input what it has acknowledged. If the input has lost that, the session fails at once (R14). No ping is sent while another
// exchange with the input is under way, because that exchange also shows that the client lives.
func (s *Session) ping(in *node) {
	s.askInput(in, exchange{purpose: pinging, request: s.pingTo(in), want: protocol.OK})
}

// askInput begins an exchange with an input that has opened the session. Its waits grow less than those of other exchanges: even if several
// tries are lost, one has to arrive before the input considers the client dead.
func (s *Session) askInput(in *node, x exchange) {
	x.longest = max(s.cfg.Timeout, in.bears/4)
	s.ask(in.conn, x)
}

func (s *Session) pingTo(in *node) protocol.Request {
	q := s.request(protocol.Ping)
	q.Stream = in.ended
	q.Lanes = s.numbers(in, func(l *lane) uint64 { return l.acked })
	q.FilesRead, q.FilesSize = s.filesRead, s.filesSize
	return q
}

func (s *Session) pinged(in *node, reply protocol.Reply, err error) {
	err = s.stateFrom(in, reply, err)
	if err == nil || s.mayBeForgotten(err) {
		s.planPing(in)
		return
	}
	in.pingAt = time.Time{}
	// a superseded client neither takes answers nor closes the session (R17)
	if s.phase != Uploaded || errors.Is(err, protocol.ErrSuperseded) {
		s.fail(err)
		return
	}
	if s.lost == nil { // an output may have the answer nevertheless
		s.lost = err
		s.outputsMayDecide()
	}
}

// stateFrom returns why the session cannot continue, if the reply to a ping says that it cannot.
func (s *Session) stateFrom(in *node, reply protocol.Reply, err error) error {
	switch {
	case err != nil:
		return fmt.Errorf("session %s at %s: %w", s.cfg.Session, in.endpoint, err)
	case reply.State == session.Failed:
		return s.failed(&reply)
	}
	return nil
}

// mayBeForgotten reports whether err is to be expected: after the upload the outputs decide, and an input may have forgotten the session.
func (s *Session) mayBeForgotten(err error) bool {
	return s.phase == Uploaded && (errors.Is(err, protocol.ErrUnknownSession) || errors.Is(err, protocol.ErrClosed) ||
		errors.Is(err, protocol.ErrExpired))
}
