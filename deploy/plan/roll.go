package plan

import "slices"

// roll replaces one unit after the other, nodes before medics.
func (c *comparison) roll(earlier []Step) (stages []stage) {
	for _, medics := range []bool{false, true} {
		for _, u := range c.units {
			if u.Medic() == medics && u.replaced() {
				s := c.replace(u, earlier)
				stages, earlier = append(stages, s), slices.Concat(earlier, s)
			}
		}
	}
	return stages
}

// replaced reports whether a roll replaces the unit's container. If it has none that is old, startMissing makes one.
func (u *unitState) replaced() bool { return !u.up() && len(u.old) > 0 }

// replace makes the new container before the old one stops, so that whoever starts the unit in between starts the right one.
func (c *comparison) replace(u *unitState, earlier []Step) stage {
	s := c.provideVolumes(u, earlier)
	if u.keep == nil {
		s = append(s, u.step(Create))
	}
	for _, k := range u.old {
		if k.Running {
			s = append(s, c.stop(k))
		}
	}
	s = append(s, u.step(Start), u.step(AwaitHeartbeat))
	return append(s, each(u.old, Remove)...)
}

// removeLeaving removes medics that are not desired any more.
func (c *comparison) removeLeaving([]Step) []stage { return []stage{c.stopAndRemove(c.leaving)} }
