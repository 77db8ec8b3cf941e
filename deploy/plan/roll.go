package plan

import (
	"slices"

	"posta.dev/posta/topology"
)

// roll replaces one unit after the other, nodes before medics, and those before consoles.
func (c *comparison) roll(earlier []Step) (stages []stage) {
	for _, role := range []string{topology.RoleNode, topology.RoleMedic, topology.RoleConsole} {
		for _, u := range c.units {
			if u.Role == role && u.replaced() {
				s := c.replace(u, earlier)
				stages, earlier = append(stages, s), slices.Concat(earlier, s)
			}
		}
	}
	return stages
}

// replaced reports whether a roll replaces the unit's container. If the unit has no old one, startMissing creates one.
func (u *unitState) replaced() bool { return !u.up() && len(u.old) > 0 }

// replace creates the new container before the old one stops, so that a medic that starts the unit in between starts the new one.
//
// A rollback of an interrupted roll finds a container with the desired name that is not the newest. That container is removed and created
// again, because medics start the newest container, which belongs to the interrupted roll. Until the new one exists, a medic may start the
// interrupted roll's container, so all old containers are stopped first.
func (c *comparison) replace(u *unitState, earlier []Step) stage {
	same, old := split(u.old, func(k container) bool { return k.Name == u.container })
	s := append(c.provideVolumes(u, earlier), c.stopAndRemove(same)...)
	if u.keep == nil {
		s = append(s, u.step(Create))
	}
	for _, k := range old {
		if k.Running || len(same) > 0 {
			s = append(s, c.stop(k))
		}
	}
	s = append(s, u.step(Start), u.step(AwaitHeartbeat))
	return append(s, each(old, Remove)...)
}

func split(all []container, is func(container) bool) (those, others []container) {
	for _, k := range all {
		if is(k) {
			those = append(those, k)
		} else {
			others = append(others, k)
		}
	}
	return those, others
}

// removeLeaving removes medics that are no longer desired.
func (c *comparison) removeLeaving([]Step) []stage { return []stage{c.stopAndRemove(c.leaving)} }
