package plan

import (
	"cmp"
	"maps"
	"slices"

	"posta.dev/posta/topology"
)

// comparison is the input of every pass. compare makes it; afterwards only forgetSessions changes it, before the first pass.
type comparison struct {
	*Desired
	observed *Observed
	engines  []*Engine    // all observed engines, in their order
	units    []*unitState // the desired units, in their order; none when the cluster is taken down
	leaving  []container  // containers of units that are not desired, by name of the unit
	reshape  bool         // nodes are added, removed, moved or get another shape, so no session may run while the plan is carried out
	busy     bool         // some unit has to be created, started or replaced, so the image and free space are needed
}

// unitState is a desired unit, and its observed containers and data.
type unitState struct {
	Unit
	container  string      // name of its desired container
	engine     *Engine     // the engine of its host; never nil
	keep       *container  // its newest container, if its host and spec are the desired ones; nil: one has to be created
	duplicates []container // if keep runs: its other containers, which are removed first
	old        []container // if keep does not run: its other containers, which are replaced
	data       *Engine     // the engine with its newest complete data for these roles; nil: the unit starts without data
}

// up reports whether the desired container runs.
func (u *unitState) up() bool { return u.keep != nil && u.keep.Running }

// moves reports whether the data has to be copied from another engine.
func (u *unitState) moves() bool { return u.data != nil && u.data != u.engine }

// container is an observed container and where it is.
type container struct {
	Container
	at string  // its host, as steps call it
	on *Engine // the engine of that host
}

func isNode(c *Container) bool  { return c.Role == topology.RoleNode }
func isMedic(c *Container) bool { return c.Role == topology.RoleMedic }
func isInput(c *Container) bool { return !isMedic(c) && holds(c.Chain, topology.Input) }
func isOther(c *Container) bool { return !isMedic(c) && !isInput(c) }

// newComparison returns a comparison without units.
func newComparison(d *Desired, o *Observed) *comparison {
	c := &comparison{Desired: d, observed: o}
	for i := range o.Engines {
		c.engines = append(c.engines, &o.Engines[i])
	}
	return c
}

// compare finds the containers and data of each unit, and decides between a roll and a reshape.
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
		return u == nil && k.Role == topology.RoleNode || // the node is removed
			u != nil && u.moves() || // it cannot run while its data is copied
			u != nil && k.Role == topology.RoleNode && k.Shape != d.Shape
	})
	c.busy = len(c.leaving) > 0 || slices.ContainsFunc(c.units, func(u *unitState) bool { return !u.up() || len(u.duplicates) > 0 })
	return c
}

func (c *comparison) unitState(u Unit, all []container) *unitState {
	s := &unitState{Unit: u, container: u.containerName(c.Cluster), engine: c.observed.Engine(u.Host)}
	slices.SortStableFunc(all, func(a, b container) int { return cmp.Compare(b.Created, a.Created) })
	s.data = c.dataOf(s, all)
	// Only the newest can be kept, because medics start the newest.
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

// dataOf finds the engine with a unit's current data. If several engines have data, it is the engine that wrote last: the one with the
// newest container that ever ran. If there are no containers, an interrupted run left the data. A complete copy is then as good as its
// source, since nothing has written to either, and the engine of the unit's own host is preferred. A partial copy does not count.
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
		return nil // the data belongs to other roles
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

// old returns the containers that a reshape removes and that pass all filters: those of kept units in their order, then those of removed
// units.
func (c *comparison) old(filters ...func(*Container) bool) (all []container) {
	for _, u := range c.units {
		all = append(all, u.old...)
	}
	all = append(all, c.leaving...)
	return slices.DeleteFunc(all, func(k container) bool {
		return slices.ContainsFunc(filters, func(fits func(*Container) bool) bool { return !fits(&k.Container) })
	})
}

// stop returns the step that stops a container. A container of a removed unit may take as long as the slowest unit.
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

// onePerEngine returns the first matching host of each engine.
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
