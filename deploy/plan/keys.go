package plan

import "slices"

// keysIn returns the digest of the keys in a volume of the engine, "" if there is no note of it.
func (e *Engine) keysIn(volume string) string {
	i := slices.IndexFunc(e.Keys, func(n KeysNote) bool { return n.Volume == volume })
	if i < 0 {
		return ""
	}
	return e.Keys[i].Digest
}

// needsKeys reports whether the unit's volume on its host does not have the desired keys.
func (u *unitState) needsKeys(cluster string) bool {
	return u.Keys != "" && u.engine.keysIn(VolumeName(cluster, u.Name)) != u.Keys
}

// renewKeys brings new keys to the units whose containers stay, on each engine to one unit after the other. A running unit reads them at
// once. It closes only connections of revoked peers, so sessions continue.
//
// A unit that gets another container gets its keys with it (provideVolumes).
func (c *comparison) renewKeys([]Step) []stage {
	var s stage
	for _, u := range c.units {
		if u.keep == nil || !u.needsKeys(c.Cluster) {
			continue
		}
		if s = append(s, c.carryKeys(u)); u.up() {
			s = append(s, u.step(AwaitHeartbeat))
		}
	}
	return []stage{s}
}

func (c *comparison) carryKeys(u *unitState) Step {
	return volumeStep(CarryKeys, u.Host, u.Name, VolumeName(c.Cluster, u.Name))
}
