package core

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
)

// unknownAt is what is remembered while an input is asked about a session that an output does not know.
type unknownAt struct {
	output     *node
	err        error
	retryAfter time.Duration
	pause      time.Duration // the last pause that was chosen here, because the output named none
}

// Pauses before the outputs are asked again for a session that they do not know yet. They double from the first to the second. A small
// session has sent all its rows before its announcement has reached an output, and has its answers some milliseconds later.
const (
	firstUnknownPause = 4 * time.Millisecond
	unknownPause      = 100 * time.Millisecond
)

// Results asks for the answer part by part until it is complete. Any output can answer; if one is silent, the next one is asked. Whenever
// Rows returns some, nothing more is asked for until Taken. Results may be called again after an error.
func (s *Session) Results(now time.Time) {
	s.begin(results, now)
	s.parts, s.verdicts, s.rows, s.allHere, s.unknown = newParts(), newVerdicts(), nil, false, unknownAt{}
	s.outputsMayDecide() // whatever an input said before
	s.poll()
}

func (s *Session) poll() {
	// How long the output is asked to wait for something new. A new part is answered at once, so this only determines how soon a silent output
	// is noticed, and how many empty replies a long computation causes.
	wait := min(s.cfg.Timeout, protocol.LongestPoll)
	q := s.request(protocol.Results)
	q.After, q.Wait = s.parts.after, wait
	s.ask(s.output().conn, exchange{purpose: polling, request: q, want: protocol.Parts, once: true, wait: wait + s.cfg.Timeout})
}

func (s *Session) output() *node { return s.outputs[s.at%len(s.outputs)] }

func (s *Session) polled(out *node, reply protocol.Reply, err error) {
	if s.cfg.Takeover && (errors.Is(err, protocol.ErrInUse) || errors.Is(err, protocol.ErrFinished)) {
		// The output has not heard yet that this client took the session over. The inputs know whether it did.
		err = fmt.Errorf("%w: %w", protocol.ErrUnknownSession, err)
	}
	switch {
	case err == nil && reply.State == session.Failed:
		s.verdicts.hearsNo(out, s.failed(&reply))
	case err == nil:
		s.verdicts.hears(out)
		s.takeParts(reply)
		return
	case errors.Is(err, errSilent), errors.Is(err, protocol.ErrWrongNode):
		if s.gaveUp() {
			s.fail(fmt.Errorf("%w at %s for %v; what was sent is safe, ask again for session %s: %w", ErrNoCluster,
				strings.Join(s.about.Outputs, ", "), s.cfg.GiveUpAfter, s.cfg.Session, err))
			return
		}
		s.retries++
		s.verdicts.hearsNothing(out)
		if (s.at+1)%len(s.outputs) == 0 {
			s.locate()
			return
		}
	case errors.Is(err, protocol.ErrSuperseded): // whatever the other outputs say
		s.fail(s.resultsOf(out, err))
		return
	case errors.Is(err, protocol.ErrUnknownSession):
		s.unknown = unknownAt{out, err, reply.Err.RetryAfter, s.unknown.pause}
		s.check()
		return
	case isRefusal(err):
		s.verdicts.hearsNo(out, s.resultsOf(out, err))
	default:
		s.fail(s.resultsOf(out, err))
		return
	}
	s.askNext(0)
}

func (s *Session) resultsOf(out *node, err error) error {
	return fmt.Errorf("results of session %s from %s: %w", s.cfg.Session, out.endpoint, err)
}

// askNext continues with the next output, at once or after a pause, unless all of them have said that there is no answer.
func (s *Session) askNext(pause time.Duration) {
	if why := s.verdicts.conclusion(s.outputs, s.now); why != nil {
		s.fail(why)
		return
	}
	s.at++
	s.parts.restart()
	if pause > 0 {
		s.pause(pause)
		return
	}
	s.poll()
}

func (s *Session) takeParts(reply protocol.Reply) {
	for i := range reply.Parts {
		rows, some, err := s.parts.take(&reply.Parts[i])
		if err != nil {
			s.fail(err)
			return
		}
		if some {
			s.rows = append(s.rows, rows)
		}
	}
	s.allHere = reply.Complete
	if len(s.rows) > 0 || reply.State == session.Done {
		s.outputsMayDecide()
	}
	if len(s.rows) == 0 {
		s.goOn()
		return
	}
	s.out.News = true
}

// Rows returns the rows that have come, in their order; they stay valid.
func (s *Session) Rows() []Rows { return s.rows }

// Taken reports that the caller has taken what Rows returned. Rows that had come before the task failed are taken in the same way; no more
// come after them.
func (s *Session) Taken(now time.Time) {
	s.now = now
	some := len(s.rows) > 0
	s.rows = nil
	if some && s.task == results {
		s.outputsMayDecide()
		s.goOn()
	}
}

// goOn asks for the next parts, or ends the task if the answer is complete.
func (s *Session) goOn() {
	if !s.allHere {
		s.poll()
		return
	}
	s.lost, s.lostAt = nil, time.Time{} // whatever an input said
	s.end(nil)
}

// locate asks the first input where the outputs are, when no known output answers.
func (s *Session) locate() {
	s.ask(s.inputs[0].conn, exchange{purpose: locating, request: protocol.Request{Type: protocol.Info}, want: protocol.About, once: true})
}

func (s *Session) located(reply protocol.Reply, err error) {
	if err == nil { // otherwise the input may be about to start again; GiveUpAfter decides
		s.follow(reply)
	}
	if s.task == results {
		s.askNext(0)
	}
}

// check asks an input why an output does not know the session. An output cannot know a session before its first frame has passed the
// pipeline, whereas the inputs know every open session. If the inputs say that the session is over, some output had its answer, and an
// output that does not know the session may have lost it.
func (s *Session) check() {
	in := s.inputs[0]
	s.askInput(in, exchange{purpose: checking, request: s.pingTo(in), want: protocol.OK})
}

func (s *Session) checked(in *node, reply protocol.Reply, err error) {
	if err := s.stateFrom(in, reply, err); err != nil {
		if errors.Is(err, protocol.ErrUnknownSession) { // the input does not know it either: the nodes were restored together
			err = forgotten(err)
		}
		s.fail(err) // otherwise the input knows more than the output
		return
	}
	if reply.State == session.Done {
		s.verdicts.hearsNo(s.unknown.output, fmt.Errorf("no output has the answers of session %s any more; run it again under another id: %w",
			s.cfg.Session, s.unknown.err))
	} else {
		s.verdicts.hears(s.unknown.output)
	}
	if s.unknown.retryAfter == 0 {
		s.unknown.pause = min(max(2*s.unknown.pause, firstUnknownPause), unknownPause)
		s.unknown.retryAfter = s.unknown.pause
	}
	s.askNext(s.unknown.retryAfter)
}
