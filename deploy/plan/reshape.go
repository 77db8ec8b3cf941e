package plan

// removeOld removes the containers that stopOld has stopped, and outdated data. It deletes the data before the containers, because the
// container that wrote last shows which data is current.
func (c *comparison) removeOld(earlier []Step) []stage {
	var away, stale, rest stage
	for _, k := range c.old() {
		if c.isAway(k) {
			away = append(away, k.step(Remove))
		}
	}
	for _, u := range c.units {
		if u.data != nil {
			stale = append(stale, c.deleteVolumes(u, u.data, earlier)...)
		}
	}
	for _, kind := range []func(*Container) bool{isMedic, isInput, isOther} {
		for _, k := range c.old(kind) {
			if !c.isAway(k) {
				rest = append(rest, k.step(Remove))
			}
		}
	}
	return []stage{away, stale, rest}
}

// isAway reports whether a container of a desired unit is on another engine than the unit's data.
func (c *comparison) isAway(k container) bool {
	u := c.unit(k.Unit)
	return u != nil && u.data != nil && k.on != u.data
}
