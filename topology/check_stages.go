package topology

import "fmt"

// medicName is a name that no stage may have: medics are named like nodes.
const medicName = "medic"

func (c *checker) stages() {
	if len(c.t.Stages) == 0 {
		if c.invalid["stage"] {
			return
		}
		c.fail("stage", `write [[stage]] with name = "input", and one for each role: `+quoteAll(words(pipeline)), "there is no stage")
		return
	}
	seen := map[string]int{}
	for i, s := range c.t.Stages {
		at := fmt.Sprintf("stage.%d", i)
		c.stageName(at, s, seen)
		c.chain(at, s)
		c.replicas(at, s)
		if _, there := seen[s.Name]; !there {
			seen[s.Name] = i
		}
	}
	c.rolesHeldOnce()
}

func (c *checker) stageName(at string, s Stage, seen map[string]int) {
	role := Role(s.Name)
	first, twice := seen[s.Name]
	_, given := c.at[at+".name"]
	switch {
	case s.Name == "" && !given:
		c.fail(at, `write name = "joiner" below [[stage]]`, "the stage has no name")
	case c.invalid[at+".name"]:
	case !nameForm().MatchString(s.Name):
		c.fail(at+".name", nameRule, "%q is not a name for a stage", s.Name)
	case twice:
		c.fail(at+".name", "give each stage its own name", "stage %q is here a second time, the first is on line %d", s.Name,
			c.at.of(fmt.Sprintf("stage.%d", first)).Line)
	case s.Name == medicName:
		c.fail(at+".name", "give the stage another name", "%q is the name of the medics' processes", s.Name)
	case role.order() >= 0 && len(s.Chain) > 0 && !s.holds(role):
		c.fail(at+".name", fmt.Sprintf("name the stage after what it does, such as %q", s.Chain[0]),
			"stage %q does not hold the role of its name", s.Name)
	}
}

// chain checks that a stage's roles follow each other: batches go from role to role in memory, and no batch can skip a role.
func (c *checker) chain(at string, s Stage) {
	_, given := c.at[at+".chain"]
	if len(s.Chain) == 0 {
		if !given && nameForm().MatchString(s.Name) && s.Name != medicName {
			c.fail(at+".name", fmt.Sprintf(`write chain = ["joiner"], or another of %s`, quoteAll(words(pipeline))),
				"stage %q has no chain, and its name is not a role", s.Name)
		}
		return
	}
	if i := s.brokenAt(); i > 0 {
		c.fail(fmt.Sprintf("%s.chain.%d", at, i), fmt.Sprintf("write a part of this row, without a hole: %s", quoteAll(words(pipeline))),
			"%q cannot follow %q in a chain", s.Chain[i], s.Chain[i-1])
	}
}

// brokenAt returns the index of the first role that does not follow the one before it, 0 if all do.
func (s Stage) brokenAt() int {
	for i := 1; i < len(s.Chain); i++ {
		if s.Chain[i] != s.Chain[i-1].next() {
			return i
		}
	}
	return 0
}

// replicas refuses chains that work with one replica and not with several, because records that have to meet, or copies that have to reach
// every replica, pass inside the chain and not over an edge.
func (c *checker) replicas(at string, s Stage) {
	if s.Replicas < 2 {
		return
	}
	for _, r := range []struct {
		first, last Role
		why         string
	}{
		{Input, Joiner, "reference rows would reach only the joiner they were uploaded to"},
		{Joiner, Aggregator, "rows of one group would meet in several aggregators"},
		{Reducer, Output, "results would reach only one of the outputs"},
	} {
		if s.holds(r.first) && s.holds(r.last) {
			c.fail(at+".replicas", fmt.Sprintf("write replicas = 1, or give %s a stage of its own", r.last),
				"stage %q chains %s and %s and has %d replicas: %s", s.Name, r.first, r.last, s.Replicas, r.why)
			return
		}
	}
}

// rolesHeldOnce checks all stages together. It reports nothing if a stage was refused by itself, because the roles that this stage should
// hold are then not known.
func (c *checker) rolesHeldOnce() {
	seen := map[string]bool{}
	for _, s := range c.t.Stages {
		if len(s.Chain) == 0 || s.brokenAt() > 0 || seen[s.Name] {
			return
		}
		seen[s.Name] = s.Name != ""
	}
	for _, r := range pipeline {
		holders := c.holders(r)
		if len(holders) == 0 {
			c.fail("stage", fmt.Sprintf("write [[stage]] with name = %q, or add the role to a chain", r), "no stage holds the role %q", r)
		}
		for _, h := range holders[min(1, len(holders)):] {
			c.fail(h, "leave the role to one of the two; more nodes of one stage are replicas",
				"role %q is held a second time, the first is on line %d", r, c.at.of(holders[0]).Line)
		}
	}
}

// holders returns the paths of the places that name the role.
func (c *checker) holders(r Role) []string {
	var at []string
	for i, s := range c.t.Stages {
		for j, have := range s.Chain {
			if have == r {
				at = append(at, fmt.Sprintf("stage.%d.chain.%d", i, j))
			}
		}
	}
	return at
}
