package core

import (
	"posta.dev/posta/nodes/role"
)

// retire says that this node's log was set back to a former state, or that its peers hold it for superseded (R14). From now on the core takes,
// sends, acknowledges and commits nothing; the shell sees it by Retired, and begins with an empty log. The first reason stays.
func (c *Core) retire(reason string) {
	if c.retired == "" {
		c.retired = reason
	}
}

// Retire is for a log of which something else than its peers says that it was set back: somebody repaired it.
func (c *Core) Retire(reason string) { c.retire(reason) }

// Retired says why the log of this core must not be used any more (R14), nothing while it may.
func (c *Core) Retired() string { return c.retired }

// confirm reports whether the node may send and acknowledge (R14). After a start from a log it may when every receiver has told what it has.
//
// It is not enough that each link is tested by itself. A log that was set back produces again what its senders send again. One receiver may
// know nothing of what is lost and take that, before another one shows that it has the former form of it. If both had the session's end
// by then, nobody would fail the session, and rows would count twice. And it must not acknowledge, because its senders take the first
// acknowledgement for the word that everything behind this node is as it says.
//
// That is seldom slower: a session's end goes to every receiver anyway (R12), so none gets on while one of them is away.
func (c *Core) confirm() bool {
	for i := 0; i < len(c.outboxes) && !c.confirmed; i++ {
		if !c.outboxes[i].Heard() {
			return false
		}
	}
	c.confirmed = true
	return true
}

// Inheritance returns what the next log takes over from this one: the complete answers of outputs. It has an entry for each role.
func (c *Core) Inheritance() [][]byte {
	all := make([][]byte, len(c.cfg.Roles))
	some := false
	for i, r := range c.cfg.Roles {
		if h, ok := r.(role.Heir); ok {
			all[i] = h.Bequeath()
			some = some || len(all[i]) > 0
		}
	}
	if !some {
		return nil
	}
	return all
}

// Inherit takes over what the log before left. It is called before anything else, on a core without a past; the first commit stores it.
func (c *Core) Inherit(all [][]byte) error {
	for i, p := range all {
		if i >= len(c.cfg.Roles) || len(p) == 0 {
			continue
		}
		if h, ok := c.cfg.Roles[i].(role.Heir); ok {
			if err := h.Inherit(p); err != nil {
				return err
			}
		}
	}
	return nil
}
