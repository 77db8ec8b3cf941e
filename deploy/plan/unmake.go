package plan

import (
	"slices"
	"strings"

	"posta.dev/posta/topology"
)

// Unmake plans the way down: sessions come to their end, then everybody stops as in a reshape. Data stays, unless volumes is set; what was
// good stays with it, because the next deploy has to know which hosts have data.
func Unmake(d Desired, o Observed, volumes bool) Plan {
	p := &planner{d: d, o: o, stage: -1}
	for i := range o.Engines {
		e := &o.Engines[i]
		for _, c := range e.Containers {
			p.gone = append(p.gone, placed{c, e.Name()})
		}
	}
	if doors := p.olds(isInput); !volumes && slices.ContainsFunc(doors, func(c placed) bool { return c.Running }) {
		p.doors = slices.DeleteFunc(doors, func(c placed) bool { return !c.Running })
		p.calm()
	}
	p.stopOlds()
	p.next()
	for _, c := range p.gone {
		p.add(Step{Do: Remove, Host: c.at, Unit: c.Unit, What: c.Name})
	}
	p.next()
	for i := range o.Engines {
		e := &o.Engines[i]
		for _, c := range e.Helpers {
			p.add(Step{Do: Clear, Host: e.Name(), What: c})
		}
		for _, n := range e.Networks {
			p.add(Step{Do: Unnet, Host: e.Name(), What: n})
		}
		if !volumes {
			continue
		}
		for _, q := range e.Quiet {
			p.add(Step{Do: Unmark, Host: e.Name(), What: q.Name})
		}
		for _, v := range e.Volumes {
			p.add(Step{Do: Drop, Host: e.Name(), Unit: v.Node, What: v.Name})
		}
	}
	if volumes {
		p.next() // last: as long as they are there, the next run knows all hosts
		for i := range o.Engines {
			for _, l := range o.Engines[i].Ledgers {
				p.add(Step{Do: Forget, Host: o.Engines[i].Name(), What: l.Name})
			}
		}
	}
	kind := Down
	if len(p.steps) == 0 {
		kind = Nothing
	}
	return Plan{Kind: kind, Steps: p.steps}
}

// wake starts what stands still of a former shape, if its inputs are to be asked.
func (p *planner) wake() {
	if len(p.doors) == 0 {
		return
	}
	for _, of := range []func(*Container) bool{isOther, isInput} {
		var some []placed
		for _, c := range p.olds(func(c *Container) bool { return p.former(c) && of(c) }) {
			runs := slices.ContainsFunc(p.olds(of), func(x placed) bool { return x.Unit == c.Unit && x.Running })
			if !runs && !slices.ContainsFunc(some, func(x placed) bool { return x.Unit == c.Unit }) { // the newest comes first
				some = append(some, c)
			}
		}
		for _, do := range []Verb{Start, Beat} {
			p.next()
			for _, c := range some {
				p.add(Step{Do: do, Host: c.at, Unit: c.Unit, What: c.Name})
			}
		}
		p.woken = append(p.woken, some...)
	}
}

// calm holds new sessions back and waits for those that run.
func (p *planner) calm() {
	if len(p.doors) == 0 {
		return
	}
	slices.SortStableFunc(p.doors, func(a, b placed) int { return strings.Compare(a.Unit, b.Unit) })
	door := p.doors[0]
	for _, c := range p.doors {
		if c.Unit == door.Unit && c.Running {
			door = c
		}
	}
	p.next()
	p.add(Step{Do: Hold, Host: door.at, Unit: door.Unit, What: door.Name})
	p.next()
	p.calmed = Step{Do: Calm, Host: door.at, Unit: door.Unit, What: door.Name}
	p.add(p.calmed)
}

// stopOlds stops medics, who would start again what stops, then inputs, so that no session begins, then the others.
func (p *planner) stopOlds() {
	for _, of := range []func(*Container) bool{isMedic, isInput, isOther} {
		p.next()
		stopped := ""
		for _, c := range p.olds(of) {
			if c.Running || slices.ContainsFunc(p.woken, func(w placed) bool { return w.Name == c.Name }) {
				p.stop(c)
				stopped = c.at
			}
		}
		if of(&Container{Role: topology.RoleMedic}) && stopped != "" {
			p.still(stopped)
		}
		if len(p.doors) > 0 && of(&Container{Role: topology.RoleNode, Chain: string(topology.Input)}) {
			p.next()
			d := p.doors[0]
			p.add(Step{Do: Mark, Host: d.at, What: QuietName(p.d.Cluster, d.Shape), Shape: d.Shape, Image: d.Image})
		}
	}
}

// still is for what medics may have done while they were stopped one by one: one that is still there starts again what has stopped, a medic
// for instance, and that one an input, which knows nothing of a hold that it was told before. So sessions may have begun.
func (p *planner) still(host string) {
	p.next()
	p.add(Step{Do: Still, Host: host})
	if p.calmed.Do == Calm {
		p.next()
		p.add(p.calmed)
	}
}

// unmark takes the notes away before inputs start, and sessions begin.
func (p *planner) unmark() {
	p.next()
	for i := range p.o.Engines {
		for _, q := range p.o.Engines[i].Quiet {
			p.add(Step{Do: Unmark, Host: p.o.Engines[i].Name(), What: q.Name})
		}
	}
	for _, s := range p.steps {
		if s.Do == Mark {
			p.add(Step{Do: Unmark, Host: s.Host, What: s.What})
		}
	}
}

// QuietName is the note that no session of a shape runs.
func QuietName(cluster, shape string) string { return cluster + "-quiet-" + shape[:min(8, len(shape))] }
