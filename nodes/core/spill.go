package core

import (
	"fmt"

	"posta.dev/posta/nodes/core/record"
	"posta.dev/posta/nodes/role"
)

// spill moves state of sessions to files while the state of a role takes more than limit bytes of memory. The calls become part of the
// commit that is being sealed. Its files are saved behind it, and until then their content is in the log as the calls that made the state.
func (c *Core) spill(limit int) {
	for i, r := range c.cfg.Roles {
		sp, ok := r.(role.Spiller)
		if !ok {
			continue
		}
		for range c.sessions { // at most all of them move
			id, found := sp.Excess(limit)
			s := c.sessions[id]
			if !found || s == nil {
				break
			}
			in := record.Input{Op: record.Spill, Role: i, Session: id}
			c.run(s, i, noStream, func() (err error) {
				in.Payload, err = sp.Spill(id, nil)
				return err
			})
			c.record(in)
			c.settle(s)
		}
	}
}

// spillAgain repeats a recorded call.
func spillAgain(r role.Role, in *record.Input) error {
	sp, ok := r.(role.Spiller)
	if !ok {
		return fmt.Errorf("role %s moves no state to files: the data directory belongs to another chain", r.Name())
	}
	_, err := sp.Spill(in.Session, in.Payload)
	return err
}

// failUnsaved fails the sessions whose files found no room on the disk. To wait for room, as a commit does, was rejected: the content would
// stay in memory, which is what limits.tables forbids, and without the files of this session there may be room for all others.
func (c *Core) failUnsaved() {
	for _, r := range c.cfg.Roles {
		sp, ok := r.(role.Spiller)
		if !ok {
			continue
		}
		for _, id := range sp.UnsavedSessions() {
			c.abort(id, fmt.Sprintf("node %s has no room on its disk for the tables of the session, which take more memory than "+
				"limits.tables and limits.memory allow: free space there, or add aggregators, and start the session again",
				c.cfg.Self))
		}
	}
}
