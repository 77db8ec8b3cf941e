package topology

import (
	"fmt"
	"slices"
	"strings"
)

// stagePair is the step from one stage to the stage that follows it in the pipeline. The receiver's needs decide what may carry this step,
// not the sender:
//
//	the receiver holds   facts, reference        why
//	joiner               any, all                a fact counts once; every joiner needs every reference row (R11)
//	reducer              hash session            all rows of a session meet in one reducer
//	aggregator only      hash group (session)    all rows of a group meet in one aggregator
//	output first         all                     any output answers for any session
//	parser only          any, any                no state, whoever has room; on edges of their own, see split
//
// The table is read from the top: a chain of aggregator and reducer takes hash session.
type stagePair struct{ from, to Stage }

// edges returns the default way to connect the pair. The default file, generated pages and the advice in errors come from it.
func (h stagePair) edges() []Edge {
	e := Edge{From: h.from.Name, To: h.to.Name, Streams: AllStreams, Socket: Push}
	switch {
	case h.split():
		facts, reference := e, e
		facts.Streams, facts.Route = Facts, Any
		reference.Streams, reference.Route = Reference, Any
		if h.to.holds(Joiner) {
			reference.Socket, reference.Route = Pub, All
		}
		return []Edge{facts, reference}
	case h.to.holds(Reducer):
		e.Route, e.Key = Hash, SessionKey
	case h.to.holds(Aggregator):
		e.Route, e.Key = Hash, GroupKey
	case h.to.holds(Output):
		e.Route = All
	}
	return []Edge{e}
}

// split reports whether facts and reference data travel on edges of their own, all the way to the joiner. Facts of a session wait there for
// its reference rows (R11). On a common edge the reference rows of another session would wait behind these facts, and two sessions could
// block each other for ever.
func (h stagePair) split() bool { return h.to.holds(Joiner) || h.to.holds(Parser) }

// defaultEdge returns the edge of the pair for the streams, or the pair's only edge if none is for exactly these streams.
func (h stagePair) defaultEdge(s Streams) Edge {
	all := h.edges()
	for _, e := range all {
		if e.Streams == s {
			return e
		}
	}
	return all[0]
}

// allows reports whether the edge's route and key bring every record where it must be. The user may then choose push or pub, if the socket
// can carry out the route.
func (h stagePair) allows(e Edge) bool {
	standard := h.defaultEdge(e.Streams)
	if e.Route != standard.Route {
		return false
	}
	// If all of a session's rows are in one aggregator, so are the rows of each group. The price is that a session is not spread over
	// aggregators.
	return e.Key == standard.Key || standard.Key == GroupKey && e.Key == SessionKey
}

// settings returns an edge's routing as lines of the file.
func (e Edge) settings() string {
	var b strings.Builder
	if e.Streams != AllStreams {
		fmt.Fprintf(&b, "streams = %q, ", e.Streams)
	}
	fmt.Fprintf(&b, "socket = %q, route = %q", e.Socket, e.Route)
	if e.Key != "" {
		fmt.Fprintf(&b, ", key = %q", e.Key)
	}
	return b.String()
}

// stagePairs returns the steps of a line of stages; nil unless every role is held once, because only then each stage has one next stage.
func (t *Topology) stagePairs() []stagePair {
	var roles []Role
	if slices.ContainsFunc(t.Stages, func(s Stage) bool { return len(s.Chain) == 0 }) {
		return nil
	}
	line := t.StagesInOrder()
	for _, s := range line {
		roles = append(roles, s.Chain...)
	}
	if !slices.Equal(roles, pipeline) {
		return nil
	}
	stagePairs := make([]stagePair, 0, len(line))
	for i := 1; i < len(line); i++ {
		stagePairs = append(stagePairs, stagePair{line[i-1], line[i]})
	}
	return stagePairs
}
