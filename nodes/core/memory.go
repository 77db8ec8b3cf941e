package core

import (
	"fmt"

	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/topology"
)

// What sessions hold in memory that cannot move to files (role.Holder) is shared by their owners (R16):
//
//   - All sessions together hold at most limits.node_memory. If that is too little, the owner whose sessions hold most loses its largest
//     session. So an owner never fails because of another one that holds more.
//   - An owner beyond its limits.client_share may hold what nobody wants, but leaves room for limits.memory. So the first session of
//     another owner finds room, and no session has to fail for it.
//
// A session fails when the commit is sealed that has made it too large, so one commit may come on top. Rejected: to divide the memory by
// the number of owners that have sessions here. A session that has begun would then fail because another owner opens a session, which may
// never need any memory. Rejected: to let sessions wait for memory. Each of them may hold what the others wait for.

// shareMemory fails sessions while what all sessions hold is too much.
func (c *Core) shareMemory() {
	for range c.sessions { // at most all of them fail
		id, why := c.excess()
		if why == "" {
			return
		}
		c.abort(id, why)
	}
}

// excess returns the session that has to go, and why; the reason is empty if none has to.
func (c *Core) excess() (id session.ID, why string) {
	held, owners, total := c.Held()
	owner := owners.Most()
	share, most := c.memoryOf(owner)
	has := int64(owners[owner])
	if total <= c.cfg.Held && has <= most {
		return id, ""
	}
	for _, s := range role.ByID(c.sessions) {
		if s.Owner == owner && held[s.ID] > held[id] {
			id = s.ID
		}
	}
	return id, fmt.Sprintf("node %s has too little memory: limits.node_memory is %d, all sessions hold %d bytes there, and those of this "+
		"client %d, of which it has %d for sure (limits.client_share) and %d at most; this session holds most of them, %d: run fewer sessions "+
		"at once, give them less reference data, or raise limits.node_memory in the topology; then start the session again",
		c.cfg.Self, c.cfg.Held, total, has, share, most, held[id])
}

// Held returns how many bytes each session holds in this node, each owner, and all together.
func (c *Core) Held() (sessions map[session.ID]int, owners role.Tally, total int) {
	sessions, owners = map[session.ID]int{}, role.Tally{}
	for _, r := range c.cfg.Roles {
		h, ok := r.(role.Holder)
		if !ok {
			continue
		}
		for _, s := range c.sessions {
			n := h.Held(s.ID)
			sessions[s.ID] += n
			owners[s.Owner] += uint64(n)
			total += n
		}
	}
	return sessions, owners, total
}

// memoryOf returns how many bytes the sessions of an owner may hold in this node: for sure, and while nobody else wants them.
func (c *Core) memoryOf(owner string) (share, most int64) {
	all := int64(c.cfg.Held)
	share = topology.Limits{ClientShare: c.cfg.Share}.PartOf(all, owner)
	if share == all {
		return all, all
	}
	return share, max(share, all-int64(c.cfg.Memory))
}
