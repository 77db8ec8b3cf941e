package core

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"posta.dev/posta/protocol"
)

// Discover asks the entries in turn, repeatedly, until one answers with the cluster's inputs and outputs.
func (s *Session) Discover(now time.Time) {
	s.begin(discover, now)
	s.silences, s.refusals = 0, nil
	s.askEntry()
}

func (s *Session) askEntry() {
	s.ask(s.entries[s.at].conn, exchange{purpose: discovering, request: protocol.Request{Type: protocol.Info}, want: protocol.About,
		once: true})
}

func (s *Session) discovered(about protocol.Reply, err error) {
	switch {
	case err == nil:
		s.end(s.adopt(about))
		return
	case errors.Is(err, errSilent):
		s.silences++
	}
	s.refusals = append(s.refusals, err)
	if s.at++; s.at < len(s.entries) {
		s.askEntry()
		return
	}
	s.retries++
	switch {
	case s.silences == 0: // every entry answered, but none as a node: waiting will not help
		s.end(errors.Join(s.refusals...))
	case s.gaveUp():
		at := fmt.Sprintf("at %s for %v", strings.Join(s.cfg.Entries, ", "), s.cfg.GiveUpAfter)
		if i := slices.IndexFunc(s.refusals, func(err error) bool { return errors.Is(err, ErrRefused) }); i >= 0 { // the cluster runs
			s.end(fmt.Errorf("%w %s: %w", ErrNoCluster, at, s.refusals[i]))
			return
		}
		s.end(fmt.Errorf("%w %s; start one with `posta up`, or check the address", ErrNoCluster, at))
	default:
		s.at, s.silences, s.refusals = 0, 0, nil
		s.askEntry()
	}
}

// adopt takes the cluster that an entry describes.
func (s *Session) adopt(about protocol.Reply) error {
	if len(about.Inputs) == 0 || len(about.Outputs) == 0 {
		return fmt.Errorf("cluster %s has %d inputs and %d outputs; an analysis needs one of each", about.Cluster,
			len(about.Inputs), len(about.Outputs))
	}
	s.about = about
	s.connectAll()
	return nil
}

// connectAll connects to the present inputs and outputs. Connections to nodes that have left stay open and idle; each costs a socket.
func (s *Session) connectAll() {
	s.inputs = s.nodesAt(s.about.Inputs, s.about.InputNodes, s.inputs)
	s.outputs = s.nodesAt(s.about.Outputs, s.about.OutputNodes, s.outputs)
}

func (s *Session) nodesAt(endpoints, names []string, known []*node) (all []*node) {
	for i, endpoint := range endpoints {
		if s.cfg.Named && i < len(names) {
			endpoint = NamedEndpoint(endpoint, names[i])
		}
		if i := slices.IndexFunc(known, func(n *node) bool { return n.endpoint == endpoint }); i >= 0 {
			all = append(all, known[i])
			continue
		}
		all = append(all, s.newNode(endpoint))
	}
	for _, n := range known {
		if !slices.Contains(all, n) {
			n.pingAt = time.Time{}
			s.drop(n.conn)
		}
	}
	return all
}

// follow adopts the cluster's new inputs and outputs if they changed while the session waited for admission or for its results.
func (s *Session) follow(now protocol.Reply) (changed bool) {
	if len(now.Inputs) == 0 || len(now.Outputs) == 0 || slices.Equal(now.Inputs, s.about.Inputs) &&
		slices.Equal(now.Outputs, s.about.Outputs) {
		return false
	}
	s.about.Inputs, s.about.Outputs, s.about.InputNodes, s.about.OutputNodes = now.Inputs, now.Outputs, now.InputNodes, now.OutputNodes
	s.connectAll()
	return true
}
