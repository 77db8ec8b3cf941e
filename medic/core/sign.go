package core

import "time"

// Sign is what a sign of life says of its sender.
type Sign struct {
	Identity
	Recovering bool          // a node reads its log back
	Mark       uint64        // counts what a node's loop gets done in this life; 0: the sender, a medic, has none
	MarkAge    time.Duration // for how long the mark has stood, by the node's own punctual ticks
}

// backstop is for how many StuckAfter a mark stands before medics end the node. At one the node ends itself; the other leaves it the time for
// that, and leaves the medics out of it wherever it can.
const backstop = 2

// hungFor is for how long the node's loop has hung, if that is so long that it should have ended itself; else 0.
func (s *Sign) hungFor(cfg *Config) time.Duration {
	if s.MarkAge >= backstop*cfg.StuckAfter {
		return s.MarkAge
	}
	return 0
}
