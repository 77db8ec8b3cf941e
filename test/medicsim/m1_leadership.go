package medicsim

import "posta.dev/posta/medic/core"

// leadership is M1: only the leader acts.
type leadership struct{ *facts }

func (c *leadership) says(p *process, m *core.Message) {
	if claimsLead(m) && m.Term.Leader != p.t.ID {
		c.w.fail("M1", "%s acts as leader in term %v", p.t.ID, m.Term)
	}
}
