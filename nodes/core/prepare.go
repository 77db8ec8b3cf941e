package core

import "posta.dev/posta/nodes/role"

// Prepare returns work on chunks among requests that can be done before they are handed to Request, side by side: nothing of it touches
// the core. The caller does all of it, hands over the requests, and then calls DiscardPrepared. Where it is not called, Request does the same work.
func (c *Core) Prepare(bodies [][]byte) (works []func()) {
	for i := range len(c.cfg.Roles) - 1 {
		door, ok := c.cfg.Roles[i].(role.ChunkDecoder)
		next, able := c.cfg.Roles[i+1].(role.Preparer)
		if !ok || !able {
			continue
		}
		for _, body := range bodies {
			if id, m, ok := door.Chunk(body); ok && c.sessions[id] != nil {
				if w := next.Prepare(id, m); w != nil {
					works = append(works, w)
				}
			}
		}
	}
	return works
}

// DiscardPrepared says that the requests of the last call of Prepare have been handed over.
func (c *Core) DiscardPrepared() {
	for _, r := range c.cfg.Roles {
		if a, ok := r.(role.Preparer); ok {
			a.DiscardPrepared()
		}
	}
}
