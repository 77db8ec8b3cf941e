package core

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
)

const (
	// EndTimeout bounds how long cancelling a session may take: a user who pressed Ctrl-C is waiting.
	EndTimeout = 2 * time.Second

	// CloseTimeout bounds how long closing a session may take. It is longer because nobody waits: with a short one, a node whose machine stops
	// for some seconds would cause an error for a run that has its answers.
	CloseTimeout = 15 * time.Second
)

// tellingAll is a cancel or close under way.
type tellingAll struct {
	kind  protocol.RequestType // empty when nothing is
	left  []*node              // that have not answered
	until time.Time
	most  time.Duration // from its beginning to until
	err   error
}

// Tell says cancel or close to every input and output at once, before anything else; force does it without the token. Told reports the
// outcome.
func (s *Session) Tell(kind protocol.RequestType, force bool, now time.Time) {
	s.now = now
	if s.task == noTask {
		s.abandon()
	}
	q := s.request(kind)
	if force {
		q.Token, q.Force = session.Token{}, true
	}
	most := EndTimeout
	if kind == protocol.Close {
		most = CloseTimeout
	}
	s.tell = tellingAll{kind: kind, left: s.nodes(), until: now.Add(most), most: most}
	for _, n := range s.tell.left {
		s.askNow(n.conn, exchange{purpose: telling, request: q, want: protocol.OK})
	}
}

// Leave ends the session in the cluster after its task ended with err: without an error the session is closed, unless its results are to be
// kept; after an error it is cancelled. Another client's session is left alone (R17), and so is a cluster that does not answer. A node that
// is not reached ends the session by a timeout.
func (s *Session) Leave(err error, keep bool, now time.Time) {
	switch {
	case s.phase == NotOpen, errors.Is(err, ErrNoCluster), err != nil && !LeavesOurs(err):
	case err != nil:
		s.Tell(protocol.Cancel, false, now)
	case !keep:
		s.Tell(protocol.Close, false, now)
	}
}

// Told reports whether Tell has ended, and its result: the error names the nodes that refused or did not answer in time.
func (s *Session) Told() (done bool, err error) { return s.tell.kind == "", s.tell.err }

func (s *Session) told(n *node, reply protocol.Reply, err error) {
	if isRefusal(err) && LeavesOurs(err) {
		err = nil // any answer will do: a node that does not know the session has nothing to drop
	}
	if err == nil && s.tell.kind == protocol.Cancel && reply.State == session.Done {
		err = &protocol.Error{Code: protocol.ErrFinished, Message: "it has its answers: there is nothing to cancel"}
	}
	s.toldOne(n, err)
	if !LeavesOurs(err) { // the other nodes need not be told
		for _, left := range slices.Clone(s.tell.left) {
			s.drop(left.conn)
			s.toldOne(left, nil)
		}
	}
}

func (s *Session) toldOne(n *node, err error) {
	at := slices.Index(s.tell.left, n)
	if at < 0 {
		return
	}
	s.tell.left = slices.Delete(s.tell.left, at, at+1)
	if err != nil {
		s.tell.err = errors.Join(s.tell.err, fmt.Errorf("%s at %s: %w", s.tell.kind, n.endpoint, err))
	}
	if len(s.tell.left) == 0 {
		s.tell = tellingAll{err: s.tell.err}
		s.out.News = true
	}
}

// toldNobody gives up the nodes that have not answered in time, and those that have left the cluster meanwhile: their requests were
// dropped.
func (s *Session) toldNobody() {
	silent := fmt.Errorf("%w within %v", errSilent, s.tell.most)
	for _, n := range slices.Clone(s.tell.left) {
		c := n.conn
		if c.x.purpose != telling {
			s.toldOne(n, silent)
			continue
		}
		s.out.Drops = append(s.out.Drops, c.id)
		s.complete(c, protocol.Reply{}, silent)
	}
}

// nodes returns every input and output.
func (s *Session) nodes() []*node { return slices.Concat(s.inputs, s.outputs) }
