package plan

import (
	"fmt"
	"slices"
	"time"

	"posta.dev/posta/topology"
)

// Clocks: nothing in Posta depends on the hosts' time of day, but people compare logs, and a clock that is far off is a sign of more.
const (
	clockNote   = 500 * time.Millisecond
	clockRefuse = 10 * time.Second
)

// Make plans.
func Make(d Desired, o Observed) (Plan, error) {
	p := &planner{d: d, o: o, stage: -1}
	if err := p.check(); err != nil {
		return Plan{}, err
	}
	p.compare()
	if err := p.unfinished(); err != nil {
		return Plan{}, err
	}
	if err := p.results(); err != nil {
		return Plan{}, err
	}
	p.prepare()
	p.twins()
	if p.reshape {
		p.reshapeAll()
	} else {
		p.rollAll()
	}
	p.note()
	return Plan{Kind: p.kind(), Steps: p.steps, Warnings: p.warnings}, nil
}

// planner is a plan being made.
type planner struct {
	d        Desired
	o        Observed
	units    []*state
	gone     []placed // containers of units that are not wanted
	reshape  bool
	woken    []placed // started to ask them
	doors    []placed // inputs of a former shape that may have sessions which are not finished
	calmed   Step     // what waits for these sessions, if something does
	busy     bool     // there is something to do to units
	stage    int
	steps    []Step
	warnings []string
}

// state is a unit and what there is of it.
type state struct {
	Unit
	keep  *placed  // the container that is right and the newest
	twins []placed // of a unit that is right already
	old   []placed // all others
	home  string   // host of the engine with its data, "" when it begins with none
	copy  bool     // the data is to be copied from home
	fresh bool     // what data there is belongs to other roles
}

// placed is a container and where it is.
type placed struct {
	Container
	at string // host
}

func (p *planner) check() error {
	engines := map[string]bool{}
	for _, h := range p.d.Hosts {
		e := p.o.Engine(h.Name)
		if e == nil {
			return fmt.Errorf("%w: the engine of host %q did not answer", ErrRefused, h.Name)
		}
		engines[e.ID] = true
		off := max(e.Offset, -e.Offset)
		switch {
		case e.OS != "linux":
			return fmt.Errorf("%w: host %q runs containers of %s; the image is for linux", ErrRefused, h.Name, e.OS)
		case p.d.Arch != "" && e.Arch != p.d.Arch:
			return fmt.Errorf("%w: host %q is %s and the image is for %s; name a program for it with --program, or an image with --image", ErrRefused, h.Name, e.Arch, p.d.Arch)
		case off-e.Doubt > clockRefuse:
			return fmt.Errorf("%w: the clock of host %q is off by %s; set it, with NTP for instance", ErrRefused, h.Name, off.Round(time.Second))
		case off-e.Doubt > clockNote && !slices.Contains(p.warnings, clockText(h.Name, off)):
			p.warnings = append(p.warnings, clockText(h.Name, off))
		}
	}
	if p.d.Inside && len(engines) > 1 {
		return fmt.Errorf("%w: the hosts have addresses that only their own machine can dial, and different engines; write addresses that all hosts can dial", ErrRefused)
	}
	return nil
}

func clockText(host string, off time.Duration) string {
	return fmt.Sprintf("the clock of host %s is off by %s", host, off.Round(100*time.Millisecond))
}

// compare finds what there is of each unit, and which way to go.
func (p *planner) compare() {
	byUnit := map[string][]placed{}
	for i := range p.o.Engines {
		e := &p.o.Engines[i]
		for _, c := range e.Containers {
			at := e.Name()
			if slices.Contains(e.Hosts, c.Host) {
				at = c.Host
			}
			byUnit[c.Unit] = append(byUnit[c.Unit], placed{c, at})
		}
	}
	for _, u := range p.d.Units {
		s := &state{Unit: u}
		all := byUnit[u.Name]
		delete(byUnit, u.Name)
		slices.SortStableFunc(all, func(a, b placed) int { return int(min(1, max(-1, b.Made-a.Made))) })
		for i, c := range all {
			// One that is not the newest is not taken again: a medic would start the newest.
			if i == 0 && c.Spec == u.Hash && c.at == u.Host {
				s.keep = &all[0]
			} else {
				s.old = append(s.old, c)
			}
		}
		if s.keep != nil && s.keep.Running {
			s.twins, s.old = s.old, nil
		}
		p.data(s, all)
		p.units = append(p.units, s)
	}
	var names []string
	for name := range byUnit {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		p.gone = append(p.gone, byUnit[name]...)
	}
	for _, c := range p.gone {
		p.reshape = p.reshape || c.Role == topology.RoleNode
	}
	for _, s := range p.units {
		// Its data goes elsewhere, so it stands still for a while.
		p.reshape = p.reshape || s.copy && len(s.old) > 0
		p.busy = p.busy || s.keep == nil || !s.keep.Running || len(s.twins)+len(s.old) > 0
		for _, c := range s.old {
			p.reshape = p.reshape || c.Role == topology.RoleNode && c.Shape != p.d.Shape
		}
	}
	p.busy = p.busy || len(p.gone) > 0
}

// data finds where a unit's data is. Where several engines have some, the one that wrote last is right: the one with the newest container
// that ever ran. Without containers there is what an interrupted run left: a copy that is whole is as good as what it was copied from,
// since nobody has written to either; one that is not is nothing.
func (p *planner) data(s *state, all []placed) {
	mine, name := p.o.Engine(s.Host), VolumeName(p.d.Cluster, s.Name)
	var best *Engine
	chain, rank := "", -1
	for i := range p.o.Engines {
		e := &p.o.Engines[i]
		for _, v := range e.Volumes {
			if v.Name != name || v.Partial {
				continue
			}
			r := 0
			if e.ID == mine.ID {
				r = 1
			}
			ran := slices.IndexFunc(all, func(c placed) bool { return c.Started && p.o.Engine(c.at) == e }) // all is sorted, the newest first
			if ran >= 0 {
				r = 2 + len(all) - ran
			}
			if r > rank {
				best, chain, rank = e, v.Chain, r
			}
		}
	}
	switch {
	case best == nil:
	case chain != s.Chain:
		s.fresh = true
	case best.ID == mine.ID:
		s.home = s.Host
	default:
		s.home, s.copy = best.Name(), true
	}
}

// former says that a container is a node's of another shape, which has run.
func (p *planner) former(c *Container) bool {
	return !isMedic(c) && c.Shape != p.d.Shape && c.Started
}

// unfinished finds out whom to ask for sessions that have not come to their end: they must not go on in another shape, because a node would
// take the ends of some for the ends of all (R12). Logs do not tell it; inputs do, when all nodes run, and so a cluster that stands still is
// started once more before it is changed. A note says that this was done.
func (p *planner) unfinished() error {
	movedOn := slices.ContainsFunc(p.units, func(s *state) bool { return !s.Medic() && s.keep != nil && s.keep.Started })
	former := p.olds(p.former)
	shape := ""
	if len(former) > 0 {
		shape = former[0].Shape
	} else if good := p.o.Good(); len(good) > 0 && good[0].Shape != p.d.Shape && p.onlyData() {
		shape = good[0].Shape // it was taken down, or its containers were removed
	}
	marked := slices.ContainsFunc(p.o.Engines, func(e Engine) bool { return len(e.Quiet) > 0 }) // notes go before an input starts
	closed := p.olds(func(c *Container) bool { return c.Shape == shape && isInput(c) })
	never := len(closed) > 0 && !slices.ContainsFunc(closed, func(c placed) bool { return c.Started })
	if movedOn || shape == "" || marked || never {
		return nil
	}
	p.doors = p.olds(func(c *Container) bool { return p.former(c) && isInput(c) })
	switch {
	case len(p.doors) > 0:
		return nil
	case !p.d.LoseSessions:
		return fmt.Errorf("%w: the inputs of the former topology are gone, so nobody can tell whether sessions have come to their end; deploy it again first (posta deploy --rollback), or say --cancel-sessions, and those that had not are lost", ErrRefused)
	}
	p.warnings = append(p.warnings, "sessions that had not come to their end are lost")
	for _, s := range p.units {
		if !holds(s.Chain, topology.Output) && !s.Medic() { // outputs hear that their senders begin anew, and fail what was not finished (R8)
			s.home, s.copy, s.fresh = "", false, true
		}
	}
	return nil
}

// onlyData says that there is data of nodes, and no node.
func (p *planner) onlyData() bool {
	data := false
	for i := range p.o.Engines {
		e := &p.o.Engines[i]
		data = data || slices.ContainsFunc(e.Volumes, func(v Volume) bool { return v.Chain != "" })
		if slices.ContainsFunc(e.Containers, func(c Container) bool { return !isMedic(&c) && c.Started }) {
			return false
		}
	}
	return data
}

// results refuses to lose what clients have not fetched yet.
func (p *planner) results() error {
	had, kept := false, false
	for i := range p.o.Engines {
		for _, v := range p.o.Engines[i].Volumes {
			had = had || holds(v.Chain, topology.Output)
		}
	}
	for _, s := range p.units {
		kept = kept || s.home != "" && holds(s.Chain, topology.Output)
	}
	switch {
	case !had || kept:
		return nil
	case !p.d.LoseResults:
		return fmt.Errorf("%w: no output would keep its data, and with it the results that clients have not fetched yet; keep one output as it is, or say --lose-results", ErrRefused)
	}
	p.warnings = append(p.warnings, "results that clients have not fetched yet are lost")
	return nil
}

func (p *planner) kind() Kind {
	had := len(p.gone) > 0
	rolls := false
	for _, s := range p.units {
		had = had || s.keep != nil || len(s.old) > 0
		rolls = rolls || len(s.old) > 0
	}
	switch {
	case len(p.steps) == 0:
		return Nothing
	case p.reshape:
		return Reshape
	case !had:
		return First
	case rolls:
		return Roll
	}
	return Repair
}

// next begins a stage.
func (p *planner) next() { p.stage++ }

func (p *planner) add(s Step) {
	s.Stage = p.stage
	p.steps = append(p.steps, s)
}

// prepare is what changes nothing yet.
func (p *planner) prepare() {
	var seen []string
	p.next()
	for i := range p.o.Engines {
		for _, c := range p.o.Engines[i].Helpers {
			p.add(Step{Do: Clear, Host: p.o.Engines[i].Name(), What: c})
		}
	}
	for _, h := range p.d.Hosts {
		e := p.o.Engine(h.Name)
		if p.busy && !slices.Contains(seen, e.ID) {
			seen = append(seen, e.ID)
			if !slices.Contains(e.Images, p.d.Image) {
				p.add(Step{Do: Ship, Host: h.Name, What: p.d.Image})
			}
			p.add(Step{Do: Room, Host: h.Name, Need: p.need(e)})
		}
	}
	p.next()
	seen = nil
	for _, h := range p.d.Hosts {
		e := p.o.Engine(h.Name)
		if h.Bridge && !slices.Contains(seen, e.ID) && !slices.Contains(e.Networks, p.d.Network) {
			seen = append(seen, e.ID)
			p.add(Step{Do: Network, Host: h.Name, What: p.d.Network})
		}
	}
}

// need is about what new data takes on an engine.
func (p *planner) need(e *Engine) (n int64) {
	for _, s := range p.units {
		if p.o.Engine(s.Host) == e && !has(e, VolumeName(p.d.Cluster, s.Name)) {
			n += s.Disk
		}
	}
	return n
}

// twins removes what is beside a container that is right and runs: the rest of an interrupted roll, or what a host brings back that was
// taken for lost.
func (p *planner) twins() {
	p.next()
	for _, s := range p.units {
		for _, c := range s.twins {
			p.stopAndRemove(c)
		}
	}
}

func (p *planner) stopAndRemove(c placed) {
	if c.Running {
		p.stop(c)
	}
	p.add(Step{Do: Remove, Host: c.at, Unit: c.Unit, What: c.Name})
}

func (p *planner) stop(c placed) {
	p.add(Step{Do: Stop, Host: c.at, Unit: c.Unit, What: c.Name, Grace: p.grace(c.Unit)})
}

// grace is what the unit may take to end; one that is not wanted any more gets what the slowest does.
func (p *planner) grace(unit string) time.Duration {
	var most time.Duration
	for i := range p.d.Units {
		u := &p.d.Units[i]
		if u.Name == unit {
			return u.Spec.Grace
		}
		most = max(most, u.Spec.Grace)
	}
	return most
}

// olds is what is to go in a reshape and is one of these.
func (p *planner) olds(of func(c *Container) bool) (all []placed) {
	for _, s := range p.units {
		all = append(all, s.old...)
	}
	all = append(all, p.gone...)
	return slices.DeleteFunc(all, func(c placed) bool { return !of(&c.Container) })
}

func isMedic(c *Container) bool { return c.Role == topology.RoleMedic }
func isInput(c *Container) bool { return !isMedic(c) && holds(c.Chain, topology.Input) }
func isOther(c *Container) bool { return !isMedic(c) && !isInput(c) }

// reshapeAll stops everybody, in an order that leaves no session in a half-made cluster wherever it is cut off.
func (p *planner) reshapeAll() {
	p.wake()
	p.calm()
	p.stopOlds()
	// What is not right any more goes while the container that wrote last still tells which is right.
	p.next()
	for _, s := range p.units {
		for _, c := range s.old {
			if p.away(s, c.at) {
				p.add(Step{Do: Remove, Host: c.at, Unit: c.Unit, What: c.Name})
			}
		}
	}
	p.next()
	for _, s := range p.units {
		p.dropStale(s)
	}
	p.next()
	for _, of := range []func(*Container) bool{isMedic, isInput, isOther} {
		for _, c := range p.olds(of) {
			if s := p.state(c.Unit); s == nil || !p.away(s, c.at) {
				p.add(Step{Do: Remove, Host: c.at, Unit: c.Unit, What: c.Name})
			}
		}
	}
	p.tidy()
	p.startAll()
}

// rollAll replaces one unit after the other, and starts what is missing.
func (p *planner) rollAll() {
	for _, medics := range []bool{false, true} {
		for _, s := range p.units {
			if s.Medic() != medics || s.keep != nil && s.keep.Running {
				continue
			}
			if len(s.old) > 0 {
				p.replace(s)
			}
		}
	}
	p.next()
	for _, c := range p.gone { // medics
		p.stopAndRemove(c)
	}
	p.tidy()
	p.startAll()
}

// replace makes the new container before the old one stops, so that whoever starts the unit in between starts the right one.
func (p *planner) replace(s *state) {
	p.next()
	p.give(s)
	if s.keep == nil {
		p.create(s)
	}
	for _, c := range s.old {
		if c.Running {
			p.stop(c)
		}
	}
	p.start(s)
	for _, c := range s.old {
		p.add(Step{Do: Remove, Host: c.at, Unit: c.Unit, What: c.Name})
	}
	s.keep = &placed{Container: Container{Running: true}}
}

func (p *planner) create(s *state) {
	p.add(Step{Do: Create, Host: s.Host, Unit: s.Name, What: s.ContainerName(p.d.Cluster)})
}

func (p *planner) start(s *state) {
	p.add(Step{Do: Start, Host: s.Host, Unit: s.Name, What: s.ContainerName(p.d.Cluster)})
	p.add(Step{Do: Beat, Host: s.Host, Unit: s.Name, What: s.ContainerName(p.d.Cluster)})
}

// away says that a host does not have the unit's data.
func (p *planner) away(s *state, host string) bool {
	return s.home != "" && p.o.Engine(host) != p.o.Engine(s.home)
}

func (p *planner) state(unit string) *state {
	for _, s := range p.units {
		if s.Name == unit {
			return s
		}
	}
	return nil
}

// dropStale deletes data of a unit that is elsewhere, too, and right there.
func (p *planner) dropStale(s *state) {
	name := VolumeName(p.d.Cluster, s.Name)
	for i := range p.o.Engines {
		e := &p.o.Engines[i]
		if s.home != "" && e != p.o.Engine(s.home) && has(e, name) && !p.dropped(e, name) {
			p.add(Step{Do: Drop, Host: e.Name(), Unit: s.Name, What: name})
		}
	}
}

func has(e *Engine, volume string) bool {
	return slices.ContainsFunc(e.Volumes, func(v Volume) bool { return v.Name == volume })
}

func (p *planner) dropped(e *Engine, volume string) bool {
	return slices.ContainsFunc(p.steps, func(s Step) bool { return s.Do == Drop && s.What == volume && p.o.Engine(s.Host) == e })
}

// give sees to it that a unit's volumes are there, with its data.
func (p *planner) give(s *state) {
	name := VolumeName(p.d.Cluster, s.Name)
	mine := p.o.Engine(s.Host)
	here := has(mine, name) && !p.dropped(mine, name)
	if here && s.home != s.Host {
		p.add(Step{Do: Drop, Host: s.Host, Unit: s.Name, What: name})
		here = false
	}
	if !here {
		p.add(Step{Do: Vessel, Host: s.Host, Unit: s.Name, What: name, Chain: s.Chain, Copy: s.copy})
	}
	if s.copy {
		p.add(Step{Do: Copy, Host: s.Host, Unit: s.Name, What: name, From: s.home})
	}
	if fence := FenceName(p.d.Cluster, s.Host); s.Medic() && !p.planned(Vessel, fence) && !has(mine, fence) {
		p.add(Step{Do: Vessel, Host: s.Host, Unit: "", What: fence})
	}
}

func (p *planner) planned(do Verb, what string) bool {
	return slices.ContainsFunc(p.steps, func(s Step) bool { return s.Do == do && s.What == what })
}

// startAll makes and starts everybody who is missing: inputs behind the others, so that sessions begin in a whole cluster, and medics
// last, so that they find nobody missing.
func (p *planner) startAll() {
	missing := func(s *state) bool { return s.keep == nil || !s.keep.Running }
	p.next()
	for _, s := range p.units {
		if s.keep == nil {
			p.give(s)
		}
	}
	p.dropElsewhere()
	p.next()
	for _, s := range p.units {
		if s.keep == nil {
			p.create(s)
		}
	}
	for _, of := range []func(*state) bool{
		func(s *state) bool { return !s.Medic() && !s.Input() },
		func(s *state) bool { return !s.Medic() && s.Input() },
		func(s *state) bool { return s.Medic() },
	} {
		if of(&state{Unit: Unit{Role: topology.RoleNode, Chain: string(topology.Input)}}) {
			p.unmark()
		}
		for _, do := range []Verb{Start, Beat} {
			p.next()
			for _, s := range p.units {
				if missing(s) && of(s) {
					p.add(Step{Do: do, Host: s.Host, Unit: s.Name, What: s.ContainerName(p.d.Cluster)})
				}
			}
		}
	}
}

// dropElsewhere deletes data that was copied, before anybody writes to the copy: from then on there is no doubt which is the right one.
func (p *planner) dropElsewhere() {
	p.next()
	for _, s := range p.units {
		p.dropOthers(s)
	}
}

func (p *planner) dropOthers(s *state) {
	name, mine := VolumeName(p.d.Cluster, s.Name), p.o.Engine(s.Host)
	for i := range p.o.Engines {
		e := &p.o.Engines[i]
		if e != mine && has(e, name) && !p.dropped(e, name) {
			p.add(Step{Do: Drop, Host: e.Name(), Unit: s.Name, What: name})
		}
	}
}

// tidy deletes what belongs to nobody any more, before anybody starts: a node that leaves and comes back in a later topology must not come
// back with links that others have forgotten.
func (p *planner) tidy() {
	p.next()
	wanted := map[string]bool{}
	for _, s := range p.units {
		wanted[VolumeName(p.d.Cluster, s.Name)] = true
	}
	for i := range p.o.Engines {
		e := &p.o.Engines[i]
		for _, v := range e.Volumes {
			fence := v.Fence != "" && slices.ContainsFunc(p.units, func(s *state) bool {
				return s.Medic() && s.Host == v.Fence && p.o.Engine(s.Host).ID == e.ID
			})
			if !wanted[v.Name] && !fence && !p.dropped(e, v.Name) {
				p.add(Step{Do: Drop, Host: e.Name(), Unit: v.Node, What: v.Name})
			}
		}
	}
}

// confirm hears everybody who was not heard on the way: only what works is kept as good.
func (p *planner) confirm() {
	beats := func(unit string) bool {
		return slices.ContainsFunc(p.steps, func(s Step) bool { return s.Do == Beat && s.Unit == unit })
	}
	p.next()
	for _, s := range p.units {
		if !beats(s.Name) {
			p.add(Step{Do: Beat, Host: s.Host, Unit: s.Name, What: s.ContainerName(p.d.Cluster)})
		}
	}
	if i := slices.IndexFunc(p.units, func(s *state) bool { return s.Medic() }); i >= 0 {
		p.next()
		m := p.units[i]
		p.add(Step{Do: Lead, Host: m.Host, Unit: m.Name, What: m.ContainerName(p.d.Cluster)})
	}
}

// note keeps the topology as the last good one, once everything else is done: on every engine, so that it outlives each of them.
func (p *planner) note() {
	p.next()
	digest, turn := p.d.LedgerDigest(), 1
	for i := range p.o.Engines {
		for _, l := range p.o.Engines[i].Ledgers {
			turn = max(turn, l.Turn+1)
		}
	}
	newest := p.o.Good()
	if len(newest) > 0 && newest[0].Digest == digest {
		turn = newest[0].Turn // somebody was cut off in the middle of this
	}
	var seen []string
	var notes []Step
	for _, h := range p.d.Hosts {
		e := p.o.Engine(h.Name)
		if slices.Contains(seen, e.ID) {
			continue
		}
		seen = append(seen, e.ID)
		if !slices.ContainsFunc(e.Ledgers, func(l Ledger) bool { return l.Digest == digest && l.Turn == turn }) {
			notes = append(notes, Step{Do: Note, Host: h.Name, What: LedgerName(p.d.Cluster, turn), Turn: turn})
		}
	}
	if len(p.steps)+len(notes) > 0 {
		p.confirm()
	}
	p.next()
	for _, n := range notes {
		p.add(n)
	}
	p.next()
	keep := []int{turn}
	for _, l := range newest {
		if l.Turn < turn && l.Digest != digest {
			keep = append(keep, l.Turn)
			break
		}
	}
	for i := range p.o.Engines {
		e := &p.o.Engines[i]
		for _, l := range e.Ledgers {
			if !slices.Contains(keep, l.Turn) {
				p.add(Step{Do: Forget, Host: e.Name(), What: l.Name})
			}
		}
	}
}

// LedgerName is the container that keeps a topology.
func LedgerName(cluster string, turn int) string { return fmt.Sprintf("%s-ledger-%d", cluster, turn) }
