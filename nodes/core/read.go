package core

import (
	"time"

	"posta.dev/posta/nodes/role"
	"posta.dev/posta/nodes/trace"
)

// Reads returns the files that are to be read now (S8).
func (c *Core) Reads() (all []role.Read) {
	if c.retired != "" {
		return nil
	}
	for _, g := range c.gateways {
		if r, ok := g.(role.FileReader); ok {
			all = append(all, r.Reads()...)
		}
	}
	for i := range all {
		if !c.room(all[i].Reference) {
			c.waits(c.sessions[all[i].Session], trace.Blocked)
		}
	}
	return all
}

// MayTakePieces reports whether there is room for pieces of facts, or of reference data: on the edges that carry them, and in the commit
// that is being built (R9).
func (c *Core) MayTakePieces(reference bool) bool {
	return c.retired == "" && c.build.bytes < c.cfg.Commit && c.room(reference)
}

// TakePiece hands a piece of a file to the gateway that asked for it; false if it has to wait for room.
func (c *Core) TakePiece(now time.Time, p *role.Piece) (taken bool) {
	prepared(p.Chunk)
	if c.retired != "" {
		return true // recovery of the next log knows how far this one had come
	}
	for _, g := range c.gateways {
		if r, ok := g.(role.FileReader); ok {
			return r.TakePiece(now, p)
		}
	}
	return true
}
