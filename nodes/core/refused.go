package core

import (
	"fmt"

	"posta.dev/posta/link"
)

// intact reports whether a frame is the one that its sender made for this link (R18). One that is not is dropped before anything else of it
// is believed, counted, reported, and asked for again.
func (c *Core) intact(l *inLink, f *link.Frame) bool {
	if l.recv.Intact(f) {
		return true
	}
	c.Counters.Damaged++
	c.refused = fmt.Sprintf("a %s frame of %d bytes that says that it is number %d of edge %s from %s is not what was sent, or not for this link: its checksum differs (R18)",
		f.Kind, len(f.Payload), f.Seq, f.Edge, f.From)
	l.recv.Dropped(link.Damaged, f.ID)
	return false
}

// believes reports whether a node can be what it says after what it was. What is not believed is dropped, counted, and reported (M10).
func (c *Core) believes(from link.NodeID, was, is link.Identity) bool {
	if was.Reaches(is) {
		return true
	}
	c.Counters.Refused++
	c.refused = fmt.Sprintf("%s says that its log %v was opened %d times, %d was heard before (M10)", from, is.LogID, is.Incarnation, was.Incarnation)
	return false
}

// Refused returns what was last heard and not believed, once; empty if there is nothing new.
func (c *Core) Refused() string {
	what := c.refused
	c.refused = ""
	return what
}
