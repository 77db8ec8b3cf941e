package plan

import (
	"cmp"
	"maps"
	"slices"

	"posta.dev/posta/topology"
)

// comparison is what every pass starts from. compare makes it; only forgetSessions changes it afterwards, before the first pass.
type comparison struct {
	*Desired
	observed *Observed
	engines  []*Engine    // all observed engines, in their order
	units    []*unitState // the desired units, in their order; none when the cluster is taken down
	leaving  []container  // containers of units that are not desired, by name of the unit
	reshape  bool         // nodes come, go, move or change their shape, so no session may run while the plan is carried out
	busy     bool         // some unit has to be created, started or replaced, so the image and free space are needed
}

// unitState is a desired unit, and what the hosts have of it.
type unitState struct {
	Unit
	container  string      // name of the container that it is to have
	engine     *Engine     // of its host; never nil
	keep       *container  // its newest container, if that is on the right host and made of the right spec; nil: one has to be created
	duplicates []container // if keep runs: its other containers. They go first.
	old        []container // if keep does not run: its other containers. They are replaced.
	data       *Engine     // the engine with the newest whole data of these roles; nil: the unit begins with none
}

// up reports whether the right container runs.
func (u *unitState) up() bool { return u.keep != nil && u.keep.Running }

// moves reports whether the data has to be copied from another engine.
func (u *unitState) moves() bool { return u.data != nil && u.data != u.engine }

// container is an observed container and where it is.
type container struct {
	Container
	at string  // its host, as steps call it
	on *Engine // the engine of that host
}

func isMedic(c *Container) bool { return c.Role == topology.RoleMedic }
func isInput(c *Container) bool { return !isMedic(c) && holds(c.Chain, topology.Input) }
func isOther(c *Container) bool { return !isMedic(c) && !isInput(c) }

// newComparison has no units yet.
func newComparison(d *Desired, o *Observed) *comparison {
	c := &comparison{Desired: d, observed: o}
	for i := range o.Engines {
		c.engines = append(c.engines, &o.Engines[i])
	}
	return c
}

// compare finds what there is of each unit, and which way to go.
func compare(d *Desired, o *Observed) *comparison {
	c := newComparison(d, o)
	byUnit := map[string][]container{}
	for _, e := range c.engines {
		for _, k := range e.Containers {
			at := e.Name()
			if slices.Contains(e.Hosts, k.Host) {
				at = k.Host
			}
			byUnit[k.Unit] = append(byUnit[k.Unit], container{k, at, e})
		}
	}
	for _, u := range d.Units {
		c.units = append(c.units, c.unitState(u, byUnit[u.Name]))
		delete(byUnit, u.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(byUnit)) {
		c.leaving = append(c.leaving, byUnit[name]...)
	}
	c.reshape = slices.ContainsFunc(c.old(), func(k container) bool {
		u := c.unit(k.Unit)
		return u == nil && k.Role == topology.RoleNode || // it leaves
			u != nil && u.moves() || // it cannot run while its data is copied
			u != nil && k.Role == topology.RoleNode && k.Shape != d.Shape
	})
	c.busy = len(c.leaving) > 0 || slices.ContainsFunc(c.units, func(u *unitState) bool { return !u.up() || len(u.duplicates) > 0 })
	return c
}

func (c *comparison) unitState(u Unit, all []container) *unitState {
	s := &unitState{Unit: u, container: u.ContainerName(c.Cluster), engine: c.observed.Engine(u.Host)}
	slices.SortStableFunc(all, func(a, b container) int { return cmp.Compare(b.Created, a.Created) })
	s.data = c.dataOf(s, all)
	// Only the newest can be kept: a medic would start the newest.
	if len(all) > 0 && all[0].Spec == u.Hash && all[0].at == u.Host {
		s.keep, all = &all[0], all[1:]
	}
	if s.up() {
		s.duplicates = all
	} else {
		s.old = all
	}
	return s
}

// dataOf finds the engine with a unit's data. Where several engines have some, the one that wrote last is right: the one with the newest
// container that ever ran. Without containers there is what an interrupted run left. A whole copy is then as good as what it was copied
// from, since nobody has written to either, and the unit's own host is preferred. A partial copy does not count.
func (c *comparison) dataOf(u *unitState, all []container) *Engine {
	var best *Engine
	chain, bestRank := "", -1
	for _, e := range c.engines {
		for _, v := range e.Volumes {
			if v.Name != VolumeName(c.Cluster, u.Name) || v.Partial {
				continue
			}
			rank := 0
			if e == u.engine {
				rank = 1
			}
			if ran := slices.IndexFunc(all, func(k container) bool { return k.EverStarted && k.on == e }); ran >= 0 { // the newest comes first
				rank = 2 + len(all) - ran
			}
			if rank > bestRank {
				best, chain, bestRank = e, v.Chain, rank
			}
		}
	}
	if chain != u.Chain {
		return nil // it belongs to other roles
	}
	return best
}

// unit returns the desired unit of that name, nil if there is none.
func (c *comparison) unit(name string) *unitState {
	i := slices.IndexFunc(c.units, func(u *unitState) bool { return u.Name == name })
	if i < 0 {
		return nil
	}
	return c.units[i]
}

// old returns the containers that a reshape removes: those of kept units in their order, then those of leaving ones. With filters it
// returns those that meet all of them.
func (c *comparison) old(filters ...func(*Container) bool) (all []container) {
	for _, u := range c.units {
		all = append(all, u.old...)
	}
	all = append(all, c.leaving...)
	return slices.DeleteFunc(all, func(k container) bool {
		return slices.ContainsFunc(filters, func(fits func(*Container) bool) bool { return !fits(&k.Container) })
	})
}

// stop is the step that stops a container. One of a unit that is not desired may take as long as the slowest unit.
func (c *comparison) stop(k container) Step {
	s := k.step(Stop)
	for i := range c.Units {
		u := &c.Units[i]
		if u.Name == k.Unit {
			s.Grace = u.Spec.Grace
			return s
		}
		s.Grace = max(s.Grace, u.Spec.Grace)
	}
	return s
}

func (c *comparison) stopAndRemove(all []container) (s stage) {
	for _, k := range all {
		if k.Running {
			s = append(s, c.stop(k))
		}
		s = append(s, k.step(Remove))
	}
	return s
}

// onePerEngine returns the hosts that fit, the first of each engine.
func (c *comparison) onePerEngine(fits func(h Host, e *Engine) bool) (hosts []Host) {
	seen := map[*Engine]bool{}
	for _, h := range c.Hosts {
		if e := c.observed.Engine(h.Name); !seen[e] && fits(h, e) {
			seen[e] = true
			hosts = append(hosts, h)
		}
	}
	return hosts
}
