package topology

import (
	"fmt"
	"slices"
)

func (c *checker) edges() {
	if len(c.t.Stages) == 0 {
		return // reported already
	}
	known := true
	for i, e := range c.t.Edges {
		at := fmt.Sprintf("edge.%d", i)
		ends := c.ends(at, e)
		known = known && ends
		h, follows := stagePair{}, false
		if ends {
			h, follows = c.direction(at, e)
		}
		if c.words(at, e, h, follows) && c.socketFits(at, e, h, follows) && follows {
			c.routing(at, e, h)
		}
	}
	c.repeated()
	if known {
		c.missing()
	}
}

// ends checks that both stages of an edge exist.
func (c *checker) ends(at string, e Edge) bool {
	names, complete := c.stageNames()
	right := true
	for _, end := range []struct{ key, stage string }{{"from", e.From}, {"to", e.To}} {
		_, given := c.at[at+"."+end.key]
		switch {
		case !given:
			c.fail(at, fmt.Sprintf("write %s with the name of a stage: %s", end.key, quoteAll(names)), "the edge has no %s", end.key)
		case c.invalid[at+"."+end.key]:
		case !slices.Contains(names, end.stage):
			if complete {
				c.fail(at+"."+end.key, suggest(end.stage, names), "%s = %q is not a stage", end.key, end.stage)
			}
		default:
			continue
		}
		right = false
	}
	return right
}

// stageNames returns every name once. complete is false if the name of a stage could not be read, because an edge may mean that stage.
func (c *checker) stageNames() (names []string, complete bool) {
	complete = true
	for _, s := range c.t.Stages {
		if s.Name == "" {
			complete = false
		} else if !slices.Contains(names, s.Name) {
			names = append(names, s.Name)
		}
	}
	return names, complete
}

// direction checks that the edge leads from a stage to the one that follows it. The pipeline is a line, so an edge that leads back would
// make a cycle, and in a cycle no stream ever ends (R12).
func (c *checker) direction(at string, e Edge) (stagePair, bool) {
	from, _ := c.t.Stage(e.From)
	to, _ := c.t.Stage(e.To)
	if e.From != e.To && c.t.stagePairs() == nil {
		return stagePair{}, false // the order of stages is known only if the chains are right
	}
	var next Role
	if len(from.Chain) > 0 {
		next = from.Last().next()
	}
	advice := fmt.Sprintf("lead it to the stage that holds %q", next)
	if next == "" {
		advice = "remove the edge: results leave the pipeline there"
	}
	switch {
	case e.From == e.To:
		c.fail(at+".to", advice, "the edge leads from %q to itself, a cycle", e.From)
	case to.First().order() < from.Last().order():
		c.fail(at+".to", advice, "the edge from %q back to %q makes a cycle", e.From, e.To)
	case to.First() != next:
		c.fail(at+".to", advice, "the edge from %q to %q skips %q", e.From, e.To, next)
	default:
		return stagePair{from, to}, true
	}
	return stagePair{}, false
}

// words checks the settings of an edge that do not depend on where it leads. It returns false if the routing cannot be checked.
func (c *checker) words(at string, e Edge, h stagePair, follows bool) bool {
	write := func(general string) string {
		if follows {
			return "write " + h.defaultEdge(e.Streams).settings()
		}
		return general
	}
	_, routeGiven := c.at[at+".route"]
	_, keyGiven := c.at[at+".key"]
	switch {
	case !routeGiven:
		c.fail(at, write(`write route = "any", route = "hash" or route = "all"`), "the edge from %q to %q has no route", e.From, e.To)
	case e.Route == Hash && !keyGiven:
		c.fail(at+".route", write(`write key = "group" or key = "session"`), `route = "hash" has no key`)
	case e.Route != Hash && e.Route != "" && keyGiven:
		advice := "remove key"
		if follows && h.defaultEdge(e.Streams).Route == Hash {
			advice = write(advice)
		}
		c.fail(at+".key", advice, "key means nothing with route = %q", e.Route)
	default:
		return e.Route != "" && e.Socket != "" && e.Streams != "" && (e.Route != Hash || e.Key != "")
	}
	return false
}

// socketFits reports whether the socket can carry out the route: PUB gives every frame to every subscriber, and can do nothing else.
func (c *checker) socketFits(at string, e Edge, h stagePair, follows bool) bool {
	if e.Socket != Pub || e.Route == All {
		return true
	}
	advice := `write socket = "push", or route = "all"`
	if follows {
		advice = "write " + h.defaultEdge(e.Streams).settings()
	}
	c.fail(at+".socket", advice, `socket = "pub" reaches every receiver and cannot do route = %q`, e.Route)
	return false
}

// routing checks that every record gets to where it has to be, see stagePair.
func (c *checker) routing(at string, e Edge, h stagePair) {
	write := "write " + h.defaultEdge(e.Streams).settings()
	switch {
	case h.split() && e.Streams == AllStreams:
		facts, reference := h.edges()[0], h.edges()[1]
		c.fail(at, fmt.Sprintf("write two edges: %s; and %s", facts.settings(), reference.settings()),
			"the edge from %q to %q carries all streams, and facts must not hold up reference rows on their way to the joiner", e.From, e.To)
	case !h.split() && e.Streams != AllStreams:
		c.fail(at+".streams", "remove streams", "facts and reference part only on the way to the joiner, not from %q to %q", e.From, e.To)
	case !h.allows(e):
		key, word := "route", string(e.Route)
		if e.Route == Hash && h.defaultEdge(e.Streams).Route == Hash {
			key, word = "key", string(e.Key)
		}
		c.fail(at+"."+key, write, "%s = %q from %q to %q is wrong: %s", key, word, e.From, e.To, h.reason(e))
	}
}

// reason returns what would go wrong with another route.
func (h stagePair) reason(e Edge) string {
	switch {
	case !h.to.holds(Joiner) && h.to.holds(Parser) && e.Streams == Reference:
		return "a reference chunk must reach exactly one parser, and must not wait behind facts"
	case !h.to.holds(Joiner) && h.to.holds(Parser):
		return "a chunk must reach exactly one parser, and any of them will do"
	case h.split() && e.Streams == Reference:
		return "every joiner needs every reference row"
	case h.split():
		return "a fact must reach exactly one joiner, and any of them will do"
	case h.to.holds(Reducer):
		return "all rows of a session must meet in one reducer"
	case h.to.holds(Aggregator):
		return "all rows of a group must meet in one aggregator"
	}
	return "every output must have every result, because clients may ask any"
}

// repeated finds edges that carry the same streams between the same stages: the records on them would count twice.
func (c *checker) repeated() {
	for i, e := range c.t.Edges {
		for j, before := range c.t.Edges[:i] {
			if e.From == "" || e.From != before.From || e.To != before.To || e.Streams != before.Streams || e.Streams == "" {
				continue
			}
			c.fail(fmt.Sprintf("edge.%d", i), "remove one of the two", "streams %q go from %q to %q a second time, the first edge is on line %d",
				e.Streams, e.From, e.To, c.at.of(fmt.Sprintf("edge.%d", j)).Line)
			break
		}
	}
}

// missing finds stages that no edge reaches, and splits of which only one half exists.
func (c *checker) missing() {
	for _, h := range c.t.stagePairs() {
		have := c.t.edges(func(e Edge) bool { return e.From == h.from.Name && e.To == h.to.Name })
		if len(have) == 0 {
			c.missingEdge(h, h.edges())
			continue
		}
		whole := func(e Edge) bool { return e.Streams == AllStreams || e.Streams == "" }
		if !h.split() || slices.ContainsFunc(have, whole) {
			continue // an edge for all streams has been refused already
		}
		for _, need := range h.edges() {
			if !slices.ContainsFunc(have, func(e Edge) bool { return e.Streams == need.Streams }) {
				c.missingEdge(h, []Edge{need})
			}
		}
	}
}

// missingEdge reports the error at the receiving stage, because an edge that does not exist has no place.
func (c *checker) missingEdge(h stagePair, need []Edge) {
	at := fmt.Sprintf("stage.%d", slices.IndexFunc(c.t.Stages, func(s Stage) bool { return s.Name == h.to.Name }))
	for _, e := range need {
		c.fail(at, fmt.Sprintf("write [[edge]] with from = %q, to = %q, %s", e.From, e.To, e.settings()),
			"no edge brings %s from %q to stage %q", e.what(), e.From, e.To)
	}
}

func (e Edge) what() string {
	if e.Streams == AllStreams {
		return "records"
	}
	return string(e.Streams)
}
