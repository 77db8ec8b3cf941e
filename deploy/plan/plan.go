package plan

import (
	"fmt"
	"slices"
	"strings"

	"posta.dev/posta/topology"
)

// Kind is the kind of a plan.
type Kind string

// The kinds.
const (
	Nothing Kind = "nothing to do"
	First   Kind = "first deploy"
	Repair  Kind = "what is missing"
	NewKeys Kind = "new keys, sessions run on"
	Roll    Kind = "roll, sessions run on"
	Down    Kind = "take down"
	Reshape Kind = "reshape, sessions wait"
)

// Plan is the steps to the desired state.
type Plan struct {
	Kind     Kind
	Steps    []Step   // in order; Step.Stage never decreases
	Warnings []string // for people; none of them stops the plan
}

// Make computes the steps from the observed to the desired state, or says why there are none (ErrRefused).
func Make(d Desired, o Observed) (Plan, error) {
	warnings, err := checkEngines(&d, &o)
	if err != nil {
		return Plan{}, err
	}
	c := compare(&d, &o)
	if err := c.checkVolumes(); err != nil {
		return Plan{}, err
	}
	former, lost, err := c.formerInputs()
	if err != nil {
		return Plan{}, err
	}
	if lost {
		warnings = append(warnings, "sessions that had not come to their end are lost")
		c.forgetSessions()
	}
	lost, err = c.resultsLost()
	if err != nil {
		return Plan{}, err
	}
	if lost {
		warnings = append(warnings, "results that clients have not fetched yet are lost")
	}
	var steps []Step
	for _, pass := range passes(c, former) {
		for _, s := range pass(steps) {
			steps = appendStage(steps, s)
		}
	}
	return Plan{Kind: c.kind(len(steps)), Steps: steps, Warnings: warnings}, nil
}

// pass computes the next stages of a plan. It also gets the steps of the passes before it.
type pass func(earlier []Step) []stage

// passes returns the passes of a plan, in order.
func passes(c *comparison, former []container) []pass {
	change := []pass{c.roll, c.removeLeaving}
	if c.reshape {
		change = []pass{
			func([]Step) []stage { return c.restartFormer(former) },
			func([]Step) []stage { return drain(former) },
			func(earlier []Step) []stage { return c.stopOld(former, earlier) },
			c.removeOld,
		}
	}
	all := append([]pass{c.prepare, c.removeDuplicates, c.renewKeys}, change...)
	return append(all, c.deleteUnowned, c.startMissing, c.confirm, c.saveRevision, c.deleteRevisions)
}

// appendStage adds a stage to a plan, unless it is empty.
func appendStage(steps []Step, s stage) []Step {
	number := 0
	if len(steps) > 0 {
		number = steps[len(steps)-1].Stage + 1
	}
	for i := range s {
		s[i].Stage = number
	}
	return append(steps, s...)
}

func (c *comparison) kind(steps int) Kind {
	had, rolls := len(c.leaving) > 0, false
	for _, u := range c.units {
		had = had || u.keep != nil || len(u.old) > 0
		rolls = rolls || len(u.old) > 0
	}
	switch {
	case steps == 0:
		return Nothing
	case c.reshape:
		return Reshape
	case !had:
		return First
	case rolls:
		return Roll
	case !c.busy && slices.ContainsFunc(c.units, func(u *unitState) bool { return u.needsKeys(c.Cluster) }):
		return NewKeys
	}
	return Repair
}

// Text renders the plan for people.
func (p *Plan) Text(d *Desired) string {
	var b strings.Builder
	of := map[string]int{}
	for i := range d.Units {
		of[d.Units[i].Role]++
	}
	fmt.Fprintf(&b, "cluster %s on %d host(s): %d node(s), %d medic(s), image %s: %s\n",
		d.Cluster, len(d.Hosts), of[topology.RoleNode], of[topology.RoleMedic], d.Image, p.Kind)
	for _, w := range p.Warnings {
		fmt.Fprintf(&b, "  note: %s\n", w)
	}
	width := 0
	for _, s := range p.Steps {
		width = max(width, len(s.Host))
	}
	stage := -1
	for i, s := range p.Steps {
		mark := " "
		if s.Stage != stage {
			mark, stage = "-", s.Stage
		}
		fmt.Fprintf(&b, "%3d %s %-*s  %s\n", i+1, mark, width, s.Host, s)
	}
	return b.String()
}
