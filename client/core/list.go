package core

import (
	"errors"
	"slices"
	"time"

	"posta.dev/posta/protocol"
)

// listingAll is a List under way.
type listingAll struct {
	nodes []*node
	left  int
	found [][]protocol.SessionInfo // by node
	errs  []error
}

// List asks every input and output once which sessions it has. Listed returns their answers.
func (s *Session) List(now time.Time) {
	s.now = now
	nodes := s.nodes()
	s.list = listingAll{nodes: nodes, left: len(nodes), found: make([][]protocol.SessionInfo, len(nodes)), errs: make([]error, len(nodes))}
	for _, n := range nodes {
		s.ask(n.conn, exchange{purpose: listing, request: protocol.Request{Type: protocol.Sessions}, want: protocol.Listed, once: true})
	}
}

// Listed reports whether List has ended, and what it found. A session is listed once for each node that knows it, in the order of the
// nodes. If some nodes did not answer, the answers of the others are returned beside the error.
func (s *Session) Listed() (done bool, all []protocol.SessionInfo, err error) {
	return s.list.left == 0, slices.Concat(s.list.found...), errors.Join(s.list.errs...)
}

func (s *Session) listed(n *node, reply protocol.Reply, err error) {
	i := slices.Index(s.list.nodes, n)
	s.list.errs[i] = err
	for _, info := range reply.Sessions {
		if info.Node == "" {
			info.Node = reply.Node
		}
		s.list.found[i] = append(s.list.found[i], info)
	}
	s.list.left--
	s.out.News = true
}
