package core

import "time"

// Progress is how far a session has come, for people.
type Progress struct {
	Busy     bool // it waits for admission
	InUse    bool // it waits until the session's former client has been silent for long enough
	Streams  []StreamProgress
	Retries  uint64   // requests that were repeated
	HeldBack bool     // an input answers pings but is slow to acknowledge a chunk: the cluster is busier than the client
	Silent   []string // inputs that answer nothing while a request to them is repeated
}

// Progress returns how far the session has come.
func (s *Session) Progress(now time.Time) Progress {
	p := Progress{Busy: s.busy, InUse: s.busy && !s.aliveSince.IsZero(), Streams: append([]StreamProgress(nil), s.streams...),
		Retries: s.retries}
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
