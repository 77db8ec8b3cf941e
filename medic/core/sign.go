package core

import "time"

// Sign is the content of a sign of life.
type Sign struct {
	Identity
	Recovering bool          // a node recovers its log
	Mark       uint64        // counts the progress of a node's loop since its start; 0: the sender is a medic and has none
	MarkAge    time.Duration // how long the mark has stayed the same, counted in the node's own punctual ticks
}

// backstop is how many times StuckAfter a mark may stay the same before medics restart the node. After one StuckAfter the node ends itself;
// the second gives it the time for that, so that medics act only where it fails.
const backstop = 2

// hungFor returns how long the node's loop has hung, if the node should have ended itself by now; else 0.
func (s *Sign) hungFor(cfg *Config) time.Duration {
	if s.MarkAge >= backstop*cfg.StuckAfter {
		return s.MarkAge
	}
	return 0
}
