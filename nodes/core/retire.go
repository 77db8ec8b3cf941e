package core

import (
	"posta.dev/posta/nodes/role"
)

// retire is called when this node's log was set back to a former state, or when a peer says that it is superseded (R14). From now on the
// core takes, sends, acknowledges and commits nothing. The shell asks Retired, and begins with an empty log. Only the first reason is kept.
func (c *Core) retire(reason string) {
	if c.retired == "" {
		c.retired = reason
	}
}

// Retire is retire for a reason that does not come from peers: somebody repaired the log.
func (c *Core) Retire(reason string) { c.retire(reason) }

// Retired returns why the log of this core must not be used any more (R14); empty while it may.
func (c *Core) Retired() string { return c.retired }

// confirm reports whether the node may send and acknowledge (R14). After a start from a log it may do so once every receiver has reported
// what it has.
//
// A test of each link by itself is not enough. A node whose log was set back gets frames from its senders again, and produces output from
// them again. One receiver may never have had the lost output, and take the new one, before another receiver shows that it has the former
// output. If both had the session's end by then, nobody would fail the session, and rows would count twice. The node must not acknowledge
// either, because its senders conclude from the first acknowledgement that all nodes after this one agree with its log.
//
// This is seldom slower: a session's end goes to every receiver anyway (R12), so no session can end while a receiver is away.
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

// Inherit takes over what the previous log left. It is called before anything else, on a core that has stored nothing. The first commit
// stores what was taken over.
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
