package core

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"posta.dev/posta/protocol"
)

// A session that resumes an upload knows of the former client only what the inputs answer when it takes over: which streams have ended, the
// last number of each lane, and which bytes of each file were taken. It asks all inputs before it sends anything.

// formerLives is how long an input has to say that the former client lives before this is believed. An input takes a client for gone after
// 5 s of silence, and an input that is restarted meanwhile starts this count again.
const formerLives = 15 * time.Second

// look asks the first input whether there is such a session. Open with Takeover cannot find this out, because it would begin one.
func (s *Session) look() {
	q := protocol.Request{Type: protocol.Ping, Session: s.cfg.Session} // without the token: it changes nothing
	s.ask(s.inputs[0].conn, exchange{purpose: looking, request: q, want: protocol.OK})
}

func (s *Session) lookedAt(err error) {
	switch {
	case errors.Is(err, protocol.ErrUnknownSession):
		s.conclude(fmt.Errorf("resume session %s: %w; posta sessions lists those that can be resumed, and without --resume a new one is begun",
			s.cfg.Session, err))
	case err != nil:
		s.conclude(fmt.Errorf("resume session %s: %w", s.cfg.Session, err))
	default:
		s.looked = true
		s.openNext()
	}
}

// notePatience notes since when an input says that the former client lives.
func (s *Session) notePatience(err error) {
	switch {
	case !errors.Is(err, protocol.ErrInUse):
		s.aliveSince = time.Time{}
	case s.aliveSince.IsZero():
		s.aliveSince = s.now
	}
}

// waitsFor reports whether to wait until the former client falls silent. A client that only takes over waits without limit, because its
// caller decides how long. A client that resumes gives up after formerLives, and its user learns why.
func (s *Session) waitsFor() bool {
	return !s.cfg.Resume || s.aliveSince.IsZero() || s.now.Sub(s.aliveSince) < formerLives
}

// Answers returns what each input said when it opened the session, in the order of the inputs.
func (s *Session) Answers() []protocol.Reply { return s.states }

// takeUp notes which lanes and stream ends of the former client an input knows. From then on pings claim them.
func (in *node) takeUp(opened *protocol.Reply) {
	in.former = slices.Clone(opened.Lanes)
	for _, stream := range opened.Streams { // they end in this order
		if slices.Contains(opened.Ended, stream.Name) {
			in.ended = stream.Name
		}
	}
}

// takeUp lets a lane continue after the last chunk that the former client sent on the lane with the same number.
func (l *lane) takeUp() {
	at := slices.IndexFunc(l.input.former, func(f protocol.LaneSeq) bool { return f.Lane == l.id })
	if at >= 0 {
		l.seq = l.input.former[at].Seq
		l.acked = l.seq
		l.input.former = slices.Delete(l.input.former, at, at+1)
	}
}

// numbers returns the last number of each lane at an input: of this client's lanes that were used, and of the former client's.
func (s *Session) numbers(in *node, of func(*lane) uint64) (all []protocol.LaneSeq) {
	for _, l := range s.lanes {
		if seq := of(l); l.input == in && seq > 0 {
			all = append(all, protocol.LaneSeq{Lane: l.id, Seq: seq})
		}
	}
	if len(in.former) > 0 {
		all = append(all, in.former...)
		slices.SortFunc(all, func(a, b protocol.LaneSeq) int { return cmp.Compare(a.Lane, b.Lane) })
	}
	return all
}

// hasEnded reports whether a stream has ended at every input.
func (s *Session) hasEnded(stream int) bool {
	for _, in := range s.inputs {
		if slices.IndexFunc(s.first.Streams, func(x protocol.Stream) bool { return x.Name == in.ended }) < stream {
			return false
		}
	}
	return true
}
