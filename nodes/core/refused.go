package core

import (
	"fmt"

	"posta.dev/posta/link"
)

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
