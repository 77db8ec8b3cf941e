package core

import (
	"fmt"

	"posta.dev/posta/link"
)

// LinkDrops says how many frames of a link were dropped, by verdict. The link without names stands for frames of links that this node does
// not have.
type LinkDrops struct {
	Edge   string
	From   link.NodeID
	Frames [link.Verdicts]uint64
}

// dropFrame counts a frame that its link does not take, and makes the link tell its sender so.
func (c *Core) dropFrame(l *inLink, v link.Verdict, f *link.Frame) {
	l.drops[v]++
	l.recv.Dropped(v, f.ID)
	c.noteDrop(v, f)
}

// noteDrop counts a drop in the sums, and remembers it for the log. Words are made only if the log asks for them: a resend may drop
// thousands of frames.
func (c *Core) noteDrop(v link.Verdict, f *link.Frame) {
	switch v {
	case link.Duplicate:
		c.Counters.Duplicates++
	case link.Gap:
		c.Counters.Gaps++
	case link.Zombie:
		c.Counters.Zombies++
	case link.Unknown:
		c.Counters.Unknown++
	case link.Damaged:
		c.Counters.Damaged++
	}
	c.lastDrop = droppedFrame{verdict: v, edge: f.Edge, from: f.From, kind: f.Kind, seq: f.Seq, id: f.ID, frames: c.lastDrop.frames + 1}
}

// droppedFrame is the frame that was dropped last.
type droppedFrame struct {
	verdict link.Verdict
	edge    string
	from    link.NodeID
	kind    link.Kind
	seq     link.Seq
	id      link.Identity
	frames  uint64 // dropped since DroppedFrames was called
}

// DroppedFrames returns, once, which frame was dropped last, and how many were since the last call; frames is 0 if there is nothing new.
func (c *Core) DroppedFrames() (last string, frames uint64) {
	d := c.lastDrop
	c.lastDrop = droppedFrame{}
	if d.frames == 0 {
		return "", 0
	}
	return fmt.Sprintf("%s: frame %d (%s) of edge %s from %s, opening %d of log %v", d.verdict, d.seq, d.kind, d.edge, d.from,
		d.id.Incarnation, d.id.LogID), d.frames
}

// Drops returns what was dropped, of each link that ends here. The last entry is for links that this node does not have.
func (c *Core) Drops() []LinkDrops {
	all := make([]LinkDrops, 0, len(c.inOrder)+1)
	for _, l := range c.inOrder {
		all = append(all, LinkDrops{Edge: l.edge.Name, From: l.recv.From, Frames: l.drops})
	}
	return append(all, LinkDrops{Frames: c.strangers})
}
