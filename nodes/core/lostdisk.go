package core

import (
	"fmt"
	"slices"

	"posta.dev/posta/link"
	"posta.dev/posta/nodes/role"
)

// hello takes a sender's hello. It finds out whether the sender or this node has lost its disk (R8), and whether this node's log was set
// back (R14).
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
		c.ownDiskLost(l, fmt.Sprintf("node %s lost its data (it knows nothing of frames from %s that it acknowledged): start the session again",
			c.cfg.Self, f.From))
	case lost:
		c.senderLostDisk(l, fmt.Sprintf("node %s lost its data (log %s is gone, it comes with %s): start the session again", f.From, old.LogID,
			f.ID.LogID))
	}
	if l.recv.ID().LogID != old.LogID {
		c.markLeftBehind(l)
	}
	if lost || l.recv.ID() != old {
		c.build.moved(l)
	}
}

// markLeftBehind notes which other links from a sender still bring frames of another log than l. Frames of a lost log may wait in the queue
// of one link long after another link has brought the new log. A session that they open can never be complete here. Its facts would wait
// for reference data that never comes, and the hello that reports the loss would wait behind them.
//
// The mark is not stored: a node that starts again has lost its queues, and the lost log sends nothing more.
func (c *Core) markLeftBehind(l *inLink) {
	present := l.recv.ID().LogID
	l.leftBehind = false
	for _, k := range c.inOrder {
		if k != l && k.recv.From == l.recv.From {
			had := k.recv.ID().LogID
			k.leftBehind = had != link.LogID{} && had != present
		}
	}
}

// ownDiskLost is called when this node has lost frames of a link with its disk. It fails the sessions that wait for the link and those that
// the link has opened. It is not known to which of them the lost frames belonged.
//
// A session that the link has opened and ended may lack nothing, and fails, too. The reason: the frames may be missing because the topology
// was without this node for a while (see departed). All other nodes have then failed the session. Here it may still wait for an end from a
// sender that never heard of it. No frame of that sender is missing, so nothing else would fail the session (R13). A session that began
// after the loss is not affected: on the link, the hello that tells what is missing comes before the session's open.
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
// A session that the lost log had not opened has left nothing on this node, because the open comes first on each link. It continues. The
// new log sends all of it, or the node before the sender has seen frames of it acknowledged, and fails it.
//
// Before an input there is no such node, so the receivers of a lost input fail its sessions: also those that it had ended here, and those
// that have left since. Their frames may not have reached another receiver, and the nodes after that one would wait for ever. If such a
// session has already ended everywhere, the abort changes nothing.
func (c *Core) senderLostDisk(l *inLink, reason string) {
	var same []*inLink
	for _, k := range c.inOrder {
		if k.recv.From == l.recv.From {
			same = append(same, k)
		}
	}
	for _, s := range role.ByID(c.sessions) {
		begun := func(k *inLink) bool {
			// A link that has brought the new log earlier has its open from the new log.
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
// and may still run elsewhere. If such a session has already ended everywhere, the abort changes nothing. The receiver gets the aborts of
// failed sessions again, because it has lost those, too. All frames of a session that began after the loss are in the outbox, so it
// continues.
//
// No answer would be wrong without this, because a receiver with a new log takes no frame of a session before its open (see expected). But
// the frames that the lost log acknowledged will never arrive again, so their receivers must be told not to wait.
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
