package core

import (
	"errors"
	"fmt"
	"time"

	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
)

// explainTimeout is how long outputs are asked why an input does not know the session. The reason has to pass the pipeline first.
const explainTimeout = 2 * time.Second

// explanation is the search for the reason why an input does not know a session that was open there. As a rule its node came back with a
// new disk. The nodes behind it notice that and tell the outputs (R8).
type explanation struct {
	of    error     // what the input said; nil when nothing is looked for
	until time.Time // when the search ends
	again time.Time // when the outputs are asked once more
}

// lookForReason stops the upload. Pings continue at the other inputs: one of them may know the reason.
func (s *Session) lookForReason(err error) {
	if s.explain.of != nil {
		return // another input has started the search
	}
	for _, l := range s.lanes {
		l.stage = drained
		s.drop(l.conn)
	}
	s.explain = explanation{of: err, until: s.now.Add(explainTimeout)}
	s.askForReasons()
}

func (s *Session) askForReasons() {
	s.explain.again = s.now.Add(s.jitter(100 * time.Millisecond))
	for _, out := range s.outputs {
		s.ask(out.conn, exchange{purpose: explaining, request: s.request(protocol.Results), want: protocol.Parts, once: true})
	}
}

func (s *Session) explained(reply protocol.Reply, err error) {
	switch {
	case errors.Is(err, protocol.ErrSuperseded):
		s.fail(err)
	case err == nil && reply.State == session.Failed: // an output that does not know the session either explains nothing
		s.fail(s.failed(&reply))
	}
}

func (s *Session) unexplained() {
	err := s.explain.of
	if errors.Is(err, protocol.ErrUnknownSession) {
		err = forgotten(err)
	}
	s.conclude(err)
}

// refused ends the upload because an input refuses what is sent. An input whose log was set back may have lost a chunk or a stream's end
// that it had acknowledged, and then refuses whatever follows. A ping claims what the input has acknowledged, so the answer to a ping shows
// whether this is the reason (R14).
func (s *Session) refused(in *node, err error) {
	if !errors.Is(err, protocol.ErrGap) && (in.ended == "" || !errors.Is(err, protocol.ErrBadRequest)) {
		s.fail(err)
		return
	}
	s.lookForReason(err)
	s.ping(in)
}

// forgotten explains the error of a node that does not know a session that was open there, when no output gave the reason.
func forgotten(err error) error {
	return fmt.Errorf("%w; it was open there: the node lost its data, or somebody closed the session; run it again", err)
}
