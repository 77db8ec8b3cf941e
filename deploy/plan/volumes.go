package plan

import "slices"

func (e *Engine) hasVolume(name string) bool {
	return slices.ContainsFunc(e.Volumes, func(v Volume) bool { return v.Name == name })
}

// hasVolume reports whether an engine has a volume, after the steps so far.
func (c *comparison) hasVolume(e *Engine, name string, earlier []Step) bool {
	return e.hasVolume(name) && !slices.ContainsFunc(earlier, func(s Step) bool {
		return s.Do == DeleteVolume && s.What == name && c.observed.Engine(s.Host) == e
	})
}

// provideVolumes creates the volumes of a unit whose container is to be created, with the unit's data.
func (c *comparison) provideVolumes(u *unitState, earlier []Step) (s stage) {
	name := VolumeName(c.Cluster, u.Name)
	here := c.hasVolume(u.engine, name, earlier)
	if here && u.data != u.engine {
		s = append(s, volumeStep(DeleteVolume, u.Host, u.Name, name))
	}
	if !here || u.data != u.engine {
		create := volumeStep(CreateVolume, u.Host, u.Name, name)
		create.Chain, create.Copy = u.Chain, u.moves()
		s = append(s, create)
	}
	if u.moves() {
		fill := volumeStep(CopyVolume, u.Host, u.Name, name)
		fill.From = u.data.Name()
		s = append(s, fill)
	}
	if u.Keys != "" && (!here || u.data != u.engine || u.needsKeys(c.Cluster)) {
		s = append(s, c.carryKeys(u))
	}
	if shared := u.shared(c.Cluster); shared != "" && !contains(earlier, CreateVolume, shared) && !u.engine.hasVolume(shared) {
		s = append(s, volumeStep(CreateVolume, u.Host, "", shared))
	}
	return s
}

// deleteVolumes deletes a unit's data on all engines but one.
func (c *comparison) deleteVolumes(u *unitState, but *Engine, earlier []Step) (s stage) {
	name := VolumeName(c.Cluster, u.Name)
	for _, e := range c.engines {
		if e != but && c.hasVolume(e, name, earlier) {
			s = append(s, volumeStep(DeleteVolume, e.Name(), u.Name, name))
		}
	}
	return s
}

// deleteUnowned deletes the data of removed units, before any unit starts: a node that is added again in a later topology must not have
// links that other nodes have forgotten.
func (c *comparison) deleteUnowned(earlier []Step) []stage {
	var s stage
	for _, e := range c.engines {
		for _, v := range e.Volumes {
			owned := slices.ContainsFunc(c.units, func(u *unitState) bool {
				return v.Name == VolumeName(c.Cluster, u.Name) || v.Fence != "" && v.Name == u.shared(c.Cluster) && u.engine == e
			})
			if !owned && c.hasVolume(e, v.Name, earlier) {
				s = append(s, volumeStep(DeleteVolume, e.Name(), v.Node, v.Name))
			}
		}
	}
	return []stage{s}
}
