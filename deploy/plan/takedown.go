package plan

import "slices"

// TakeDown plans how to stop the cluster: sessions finish, then all containers stop, in the order of a reshape. Data and revisions are kept
// unless volumes is set. Revisions are kept with the data, because the next deploy has to know which hosts have data.
func TakeDown(d Desired, o Observed, volumes bool) Plan {
	c := newComparison(&d, &o)
	for _, e := range c.engines {
		for _, k := range e.Containers {
			c.leaving = append(c.leaving, container{k, e.Name(), e})
		}
	}
	var inputs []container
	if !volumes {
		inputs = byUnit(c.old(isInput, func(k *Container) bool { return k.Running }))
	}
	var steps []Step
	for _, s := range drain(inputs) {
		steps = appendStage(steps, s)
	}
	for _, s := range slices.Concat(c.stopOld(inputs, steps), []stage{each(c.leaving, Remove)}, c.cleanUp(volumes)) {
		steps = appendStage(steps, s)
	}
	kind := Down
	if len(steps) == 0 {
		kind = Nothing
	}
	return Plan{Kind: kind, Steps: steps}
}

// cleanUp removes everything else when all containers are gone. Revisions are removed last: while they exist, the next run knows all hosts.
func (c *comparison) cleanUp(volumes bool) []stage {
	var rest, revisions stage
	for _, e := range c.engines {
		for _, name := range e.Helpers {
			rest = append(rest, hostStep(RemoveHelper, e.Name(), name))
		}
		for _, name := range e.Networks {
			rest = append(rest, hostStep(RemoveNetwork, e.Name(), name))
		}
		if !volumes {
			continue
		}
		for _, m := range e.DrainMarks {
			rest = append(rest, hostStep(UnmarkDrained, e.Name(), m.Name))
		}
		for _, v := range e.Volumes {
			rest = append(rest, volumeStep(DeleteVolume, e.Name(), v.Node, v.Name))
		}
		for _, n := range e.Keys { // DeleteVolume removes the notes of the others
			if !e.hasVolume(n.Volume) {
				rest = append(rest, hostStep(RemoveHelper, e.Name(), KeysNoteName(n.Volume)))
			}
		}
		for _, r := range e.Revisions {
			revisions = append(revisions, hostStep(DeleteRevision, e.Name(), r.Name))
		}
	}
	return []stage{rest, revisions}
}
