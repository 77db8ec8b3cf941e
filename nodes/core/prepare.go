package core

import (
	"time"

	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol/session"
)

// Prepare returns work on the chunks in requests that can be done in parallel, because none of it touches the core. The caller does all of
// it before it hands the requests to Request. If the work is not done, Request does it.
func (c *Core) Prepare(requests []role.Request) (works []func()) {
	for i := range len(c.cfg.Roles) - 1 {
		decoder, ok := c.cfg.Roles[i].(role.ChunkDecoder)
		if !ok {
			continue
		}
		for k := range requests {
			r := &requests[k]
			if id, stream, ok := decoder.DecodeChunk(r); ok {
				if w := c.prepare(id, stream, i+1, r.Chunk); w != nil {
					works = append(works, func() {
						r.Chunk.Sum() // the gateway asks for it
						w()
					})
				}
			}
		}
	}
	return works
}

// PreparePieces is Prepare for pieces of files. The caller may call the core for something else while the work is done.
func (c *Core) PreparePieces(pieces []*role.Piece) (works []func()) {
	for i := range len(c.cfg.Roles) - 1 {
		if _, ok := c.cfg.Roles[i].(role.FileReader); !ok {
			continue
		}
		for _, p := range pieces {
			if p.Chunk == nil || p.Chunk.Prepared != nil {
				continue
			}
			if w := c.prepare(p.Session, p.Stream, i+1, p.Chunk); w != nil {
				works = append(works, func() {
					p.Chunk.Sum() // the gateway asks for it
					w()
				})
			}
		}
	}
	return works
}

// prepare returns the work of a role on a chunk, nil if there is none.
func (c *Core) prepare(id session.ID, stream, of int, chunk *role.Chunk) func() {
	next, able := c.cfg.Roles[of].(role.Preparer)
	s := c.sessions[id]
	if !able || s == nil || stream >= len(s.ended) {
		return nil
	}
	w := next.Prepare(id, stream, chunk, c.limits())
	if w == nil {
		return nil
	}
	doing := c.doing(s, of, stream)
	c.cfg.Trace.Prepare(s.trace, of)
	var took time.Duration
	chunk.Taken = func() { c.cfg.Trace.Prepared(s.trace, of, took) }
	return func() {
		defer c.cfg.Watch.Leave(c.cfg.Watch.Enter(doing))
		from := c.cfg.Trace.Now()
		w()
		took = c.cfg.Trace.Now() - from
	}
}

// prepared notes that the loop takes a chunk, which may be nil, if it was prepared.
func prepared(chunk *role.Chunk) {
	if chunk != nil && chunk.Taken != nil {
		chunk.Taken()
		chunk.Taken = nil
	}
}
