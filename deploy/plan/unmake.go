package plan

import (
	"slices"
	"strings"
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
	if !volumes {
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

// calm holds new sessions back and waits for those that run, if inputs run.
func (p *planner) calm() {
	doors := slices.DeleteFunc(p.olds(isInput), func(c placed) bool { return !c.Running })
	if len(doors) == 0 {
		return
	}
	slices.SortStableFunc(doors, func(a, b placed) int { return strings.Compare(a.Unit, b.Unit) })
	p.next()
	p.add(Step{Do: Hold, Host: doors[0].at, Unit: doors[0].Unit, What: doors[0].Name})
	p.next()
	p.add(Step{Do: Quiet, Host: doors[0].at, Unit: doors[0].Unit, What: doors[0].Name})
}

// stopOlds stops medics, who would start again what stops, then inputs, so that no session begins, then the others.
func (p *planner) stopOlds() {
	for _, of := range []func(*Container) bool{isMedic, isInput, isOther} {
		p.next()
		for _, c := range p.olds(of) {
			if c.Running {
				p.stop(c)
			}
		}
	}
}
