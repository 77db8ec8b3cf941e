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
	lost := l.recv.Hello(f.ID, g)
	switch {
	case lost && old.LogID == f.ID.LogID:
		c.ownDiskLost(l, fmt.Sprintf("node %s lost its data (it knows nothing of frames from %s that it acknowledged): start the session again", c.cfg.Self, f.From))
	case lost:
		c.senderLostDisk(l, fmt.Sprintf("node %s lost its data (log %s is gone, it comes with %s): start the session again", f.From, old.LogID, f.ID.LogID))
	}
	if lost || l.recv.ID() != old {
		c.build.moved(l)
	}
}

// ownDiskLost fails the sessions that wait for a link of which this node's disk has lost frames: which of them the frames were of
// is lost, too.
func (c *Core) ownDiskLost(l *inLink, reason string) {
	for _, s := range role.ByID(c.sessions) {
		if s.waits(l) {
			c.abort(s.ID, reason)
		}
	}
}

// senderLostDisk fails the sessions that a sender's lost log had begun to send and had not ended (R8). Who the sender is counts, not
// which link told of it first: the lost log may have opened a session over one link and not over the other, and the new one
// would be waited for on both.
//
// Of a session that the lost log had opened nowhere nothing of its is here, as the open comes first on each link. It goes on: the
// new log sends all of it, or whoever stands before the sender has seen frames of it acknowledged, and fails it.
//
// Before an input nobody does. So where an input is lost its receivers speak for it: what it had ended here, and what has left
// since, may not have reached another receiver, and those behind would wait for ever. Where such a session has come to its end the
// abort changes nothing.
func (c *Core) senderLostDisk(l *inLink, reason string) {
	var same []*inLink
	for _, k := range c.inOrder {
		if k.recv.From() == l.recv.From() {
			same = append(same, k)
		}
	}
	for _, s := range role.ByID(c.sessions) {
		waits := func(k *inLink) bool { return s.waits(k) }
		begun := func(k *inLink) bool {
			// Where the new log was heard before, the open is the new log's.
			return s.opened[k.key()] && (k == l || k.recv.ID().LogID != l.recv.ID().LogID)
		}
		if slices.ContainsFunc(same, begun) && (l.edge.Inputs || slices.ContainsFunc(same, waits)) {
			c.abort(s.ID, reason)
		}
	}
	if l.edge.Inputs {
		for _, id := range slices.Clone(c.tombstones.Keys()) { // none of the new log's: its hello comes before its ends, on each link
			c.abort(id, reason)
		}
	}
}

// receiverLostDisk fails the sessions that a receiver has lost with its disk (R8): those that run here, and those that have
// left this node and may not be through with the others. Where a session has come to its end the abort changes nothing. Of
// those that have failed the receiver is told again: what it knew of them is lost, too. A session that began since is whole
// in the outbox, and goes on.
//
// No wrong answer hangs on it: a log that follows another takes no frame of a session without its open (see expected). But what
// was acknowledged never comes again, and somebody has to say that nobody needs to wait for it.
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
			c.forwardAbort(id, t.Reason)
		default:
			c.abort(id, reason)
		}
	}
}
