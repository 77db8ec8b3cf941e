package core

import "time"

// Progress is how far a session has come, for people.
type Progress struct {
	Busy     bool // it waits for admission
	Streams  []StreamProgress
	Retries  uint64   // requests said again
	HeldBack bool     // an input answers pings but takes its time over a chunk: the cluster is busier than we are
	Silent   []string // inputs that a chunk waits for and that say nothing at all
}

// Progress returns how far the session has come.
func (s *Session) Progress(now time.Time) Progress {
	p := Progress{Busy: s.busy, Streams: append([]StreamProgress(nil), s.streams...), Retries: s.retries}
	for _, in := range s.inputs {
		waiting := false
		for _, l := range s.lanes {
			waiting = waiting || l.input == in && l.conn.repeating()
		}
		switch silent := now.Sub(in.heard) > 2*longestPing+2*s.cfg.Timeout; {
		case silent && (waiting || in.conn.repeating()):
			p.Silent = append(p.Silent, in.endpoint)
		case waiting:
			p.HeldBack = true
		}
	}
	return p
}
