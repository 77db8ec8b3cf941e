package core

import (
	"fmt"

	"posta.dev/posta/link"
	"posta.dev/posta/nodes/core/record"
	"posta.dev/posta/nodes/role"
)

// A session's openers grow with each takeover (R17), and each node hears of takeovers from every sender, in any order. So it keeps the
// longest list that it has heard, and passes on a list that is longer than the one it has.

// openAgain handles the announcement of a session that runs here or has left, from a link that has not announced it yet. The announcement
// may be the same as before, or older because the link was slow, or newer because the session was taken over. Otherwise two clients use one
// id.
func (c *Core) openAgain(l *inLink, f *link.Frame) {
	running := c.sessions[f.Session]
	if running != nil {
		c.record(record.Input{Op: record.Join, Session: running.ID, Edge: f.Edge, From: f.From})
		running.opened[l.key()] = true
	}
	c.compare(running, f)
}

// takeTakeOver takes a TakeOver frame. On each link the session's open comes before it.
func (c *Core) takeTakeOver(l *inLink, f *link.Frame) {
	running := c.sessions[f.Session]
	_, gone := c.left(f.Session)
	if running != nil && !running.opened[l.key()] || running == nil && !gone {
		c.abort(f.Session, c.lostFrames(f, "has no open before it"))
		return
	}
	c.compare(running, f)
}

// compare fails a session if its announcements contradict each other; otherwise it notes a takeover.
func (c *Core) compare(running *sess, f *link.Frame) {
	s, err := c.announced(f.Session, f.Payload)
	switch {
	case running == nil && err != nil:
	case running != nil && (err != nil || !s.Same(&running.Session)):
		c.abort(f.Session, fmt.Sprintf(
			"node %s announces the session otherwise than others do: nodes read different files, or it was opened by another client or with "+
				"other parameters there", f.From))
		if err == nil && s.Openers.Founder() != running.Openers.Founder() {
			_ = c.refuseOpen(s)
		}
	default:
		c.takeOver(s, f.Payload, true)
	}
}

// takeOver notes that another client has taken a session over, and passes that on. It does so even if the session has left this node,
// because the outputs must know whose it is. A list of openers that is not longer than the one here says nothing new.
func (c *Core) takeOver(s role.Session, announcement []byte, live bool) {
	gone, known := c.tombstones.Get(s.ID)
	switch running := c.sessions[s.ID]; {
	case running != nil && len(s.Openers) > len(running.Openers):
		running.Openers, running.announcement = s.Openers, announcement
	case running == nil && known && !gone.Failed && gone.same(&s) && gone.Owner == s.Owner && len(s.Openers) > len(gone.Openers):
		gone.Openers = s.Openers
		c.tombstones.put(s.ID, gone)
	default:
		return
	}
	if live {
		c.build.control = true
		c.record(record.Input{Op: record.TakeOver, Session: s.ID, Payload: announcement})
		c.toAll(link.Frame{Kind: link.TakeOver, Session: s.ID, Payload: announcement}, everyEdge)
	}
	for _, g := range c.gateways {
		g.TakenOver(s)
	}
}
