package core

import (
	"fmt"

	"posta.dev/posta/link"
)

// intact reports whether a frame is the one that its sender made for this link (R18). A frame that is not is dropped before anything in it
// is believed. It is counted, reported, and asked for again.
func (c *Core) intact(l *inLink, f *link.Frame) bool {
	if l.recv.Intact(f) {
		return true
	}
	c.refused = fmt.Sprintf("a %s frame of %d bytes that says that it is number %d of edge %s from %s is not what was sent, or not for "+
		"this link: its checksum differs (R18)",
		f.Kind, len(f.Payload), f.Seq, f.Edge, f.From)
	c.dropFrame(l, link.Damaged, f)
	return false
}

// believes reports whether the identity that a node gives can follow the one that was heard before. If it cannot, the message is dropped,
// counted, and reported (M10).
func (c *Core) believes(from link.NodeID, was, is link.Identity) bool {
	if was.Reaches(is) {
		return true
	}
	c.Counters.Refused++
	c.refused = fmt.Sprintf("%s says that its log %v was opened %d times, %d was heard before (M10)", from, is.LogID, is.Incarnation,
		was.Incarnation)
	return false
}

// Refused returns, once, which message was refused last, and why; empty if there is nothing new.
func (c *Core) Refused() string {
	what := c.refused
	c.refused = ""
	return what
}
