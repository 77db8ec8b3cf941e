package medicsim

// elections is M2: a leader that is heard is not replaced.
type elections struct{ *facts }

func (c *elections) end() {
	if gen := c.w.targets[c.w.medics[0].ID].disk.term.Gen; c.elected && gen != 1 {
		c.w.fail("M2", "%d elections although nothing happened to a medic", gen)
	}
}
