package plan

import (
	"slices"

	"posta.dev/posta/topology"
)

// startMissing creates and starts all missing units: inputs after the other nodes, so that sessions begin in a complete cluster, and medics
// after all nodes, so that they see none as missing.
func (c *comparison) startMissing(earlier []Step) []stage {
	missing := slices.DeleteFunc(slices.Clone(c.units), func(u *unitState) bool { return u.up() || !c.reshape && u.replaced() })
	var volumes, stale, create stage
	for _, u := range missing {
		if u.keep == nil {
			volumes = append(volumes, c.provideVolumes(u, slices.Concat(earlier, volumes))...)
			create = append(create, u.step(Create))
		}
	}
	// The source of a copy is deleted before anything writes to the copy, so it is always clear which data is current.
	for _, u := range c.units {
		stale = append(stale, c.deleteVolumes(u, u.engine, slices.Concat(earlier, volumes))...)
	}
	stages := []stage{volumes, stale, create}
	start := func(kind func(*unitState) bool) {
		some := slices.DeleteFunc(slices.Clone(missing), func(u *unitState) bool { return !kind(u) })
		stages = append(stages, each(some, Start), each(some, AwaitHeartbeat))
	}
	start(func(u *unitState) bool { return u.node() && !u.Input() })
	stages = append(stages, c.unmarkDrained(earlier))
	start(func(u *unitState) bool { return u.node() && u.Input() })
	start(func(u *unitState) bool { return u.Medic() })
	start(func(u *unitState) bool { return u.Role == topology.RoleConsole })
	return stages
}
