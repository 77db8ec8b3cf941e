package core

import "posta.dev/posta/nodes/role"

// Prepare returns work on the chunks among requests that can be done before the requests are handed to Request, side by side: none of it
// touches the core. The caller does all of the work before it calls the core again. Without it Request does the same work.
func (c *Core) Prepare(requests []role.Request) (works []func()) {
	for i := range len(c.cfg.Roles) - 1 {
		decoder, ok := c.cfg.Roles[i].(role.ChunkDecoder)
		next, able := c.cfg.Roles[i+1].(role.Preparer)
		if !ok || !able {
			continue
		}
		for k := range requests {
			r := &requests[k]
			if id, stream, ok := decoder.DecodeChunk(r); ok && c.sessions[id] != nil {
				if w := next.Prepare(id, stream, r.Chunk, c.limits()); w != nil {
					doing := c.doing(c.sessions[id], i+1, stream)
					works = append(works, func() {
						defer c.cfg.Watch.Leave(c.cfg.Watch.Enter(doing))
						r.Chunk.Sum() // the gateway asks for it
						w()
					})
				}
			}
		}
	}
	return works
}
