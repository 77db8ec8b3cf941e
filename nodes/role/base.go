package role

import (
	"errors"

	"posta.dev/posta/protocol/session"
	"posta.dev/posta/rows/scratch"
	"posta.dev/posta/topology"
)

// Base has a role's name and methods that do nothing: no work when a session opens, flushes or ends, and no state of its own. A role embeds
// Base and overrides the methods that it needs.
type Base struct {
	Role    topology.Role
	Scratch scratch.Disk // where long computations keep rows for which there is no memory; nil: nowhere
}

// AttachScratch sets Scratch. The core calls it once, before anything else.
func (b *Base) AttachScratch(d scratch.Disk) { b.Scratch = d }

// Name implements Role.
func (b Base) Name() string { return string(b.Role) }

// Open implements Role.
func (Base) Open(Session) error { return nil }

// Flush implements Role.
func (Base) Flush(session.ID, Emitter) error { return nil }

// End implements Role.
func (Base) End(session.ID, int, Emitter) (more bool, err error) { return false, nil }

// More implements Role.
func (Base) More(session.ID, Emitter) (more bool, err error) { return false, nil }

// Snapshot implements Role.
func (Base) Snapshot(_ session.ID, dst []byte) []byte { return dst }

// Restore implements Role.
func (Base) Restore(_ session.ID, data []byte) error {
	if len(data) != 0 {
		return errors.New("the snapshot has state for a role that keeps none: the data directory belongs to another chain")
	}
	return nil
}
