package core

import (
	"fmt"
	"slices"

	"posta.dev/posta/link"
	"posta.dev/posta/nodes/role"
)

func (c *Core) hello(l *inLink, f *link.Frame) {
	g, err := link.DecodeHello(f.Payload)
	if err != nil || g.To != c.cfg.Self {
		return
	}
	old := l.recv.ID()
	lost, setBack := l.recv.Hello(f.ID, g, c.cfg.ID.LogID)
	switch {
	case setBack != "":
		c.retire(setBack)
		return
	case lost && old.LogID == f.ID.LogID:
		c.ownDiskLost(l, fmt.Sprintf("node %s lost its data (it knows nothing of frames from %s that it acknowledged): start the session again", c.cfg.Self, f.From))
	case lost:
		c.senderLostDisk(l, fmt.Sprintf("node %s lost its data (log %s is gone, it comes with %s): start the session again", f.From, old.LogID, f.ID.LogID))
	}
	if lost || l.recv.ID() != old {
		c.build.moved(l)
	}
}

// ownDiskLost fails the sessions that wait for a link of which this node's disk has lost frames, and those that the link has opened. Nothing
// tells any more to which of them the lost frames belonged.
//
// One that the link has opened and ended may lack nothing. But if frames are missing because the topology was without this node (see departed),
// all others have failed the session meanwhile, and what it waits for may be the end of a sender that never heard of it, and has nothing
// to miss here (R13). One that began since is not opened by the link before its hello has told what is missing.
func (c *Core) ownDiskLost(l *inLink, reason string) {
	for _, s := range role.ByID(c.sessions) {
		if s.opened[l.key()] || s.waitsFor(l) {
			c.abort(s.ID, reason)
		}
	}
}

// senderLostDisk fails the sessions that a sender's lost log had begun to send and had not ended (R8). It looks at all links from that
// sender, whichever link noticed the loss first: the lost log may have opened a session over one link and not over another, and this node
// would wait for the new log's end on both.
//
// A session that the lost log had not opened has left nothing on this node, because the open comes first on each link. It goes on. The new
// log sends all of it, or the node before the sender has seen frames of it acknowledged, and fails it.
//
// Before an input there is no such node, so the receivers of a lost input fail its sessions: those that it had ended here, and those that
// have left since. Their frames may not have reached another receiver, and the nodes behind that one would wait for ever. If such a session
// has come to its end the abort changes nothing.
func (c *Core) senderLostDisk(l *inLink, reason string) {
	var same []*inLink
	for _, k := range c.inOrder {
		if k.recv.From == l.recv.From {
			same = append(same, k)
		}
	}
	for _, s := range role.ByID(c.sessions) {
		begun := func(k *inLink) bool {
			// A link that has heard the new log before has its open from the new log.
			return s.opened[k.key()] && (k == l || k.recv.ID().LogID != l.recv.ID().LogID)
		}
		if slices.ContainsFunc(same, begun) && (l.edge.Inputs || slices.ContainsFunc(same, s.waitsFor)) {
			c.abort(s.ID, reason)
		}
	}
	if l.edge.Inputs {
		for _, id := range slices.Clone(c.tombstones.Keys()) { // none of the new log's: its hello comes before its ends, on each link
			if _, was := c.left(id); was {
				c.abort(id, reason)
			}
		}
	}
}

// receiverLostDisk fails the sessions that a receiver has lost with its disk (R8): those that run here, and those that have left this node
// and may still run elsewhere. If a session has come to its end the abort changes nothing. The receiver gets the aborts of failed sessions
// again, because it has lost those, too. A session that began since the loss is whole in the outbox, and goes on.
//
// Without this no answer would be wrong: a log that follows another takes no frame of a session without its open (see expected). But the
// frames that the lost log acknowledged will never arrive again, so their receivers must be told not to wait.
func (c *Core) receiverLostDisk(node link.NodeID, lost *link.LostLog) {
	reason := fmt.Sprintf("node %s lost its data while the session ran: start the session again", node)
	left := slices.Clone(c.tombstones.Keys())
	for _, s := range role.ByID(c.sessions) {
		if lost.Affects(s.ID) {
			c.abort(s.ID, reason)
		}
	}
	for _, id := range left {
		switch t, _ := c.tombstones.Get(id); {
		case !lost.Affects(id):
		case t.Failed:
			c.forwardAbort(id, t)
		default:
			c.abort(id, reason)
		}
	}
}
