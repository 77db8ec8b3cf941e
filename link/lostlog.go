package link

import "posta.dev/posta/protocol/session"

// LostLog says which sessions a receiver's lost disk affects: those of which its log had acknowledged a frame. Frames that it had taken and not
// yet acknowledged are still in the outbox, and go to its next log.
type LostLog struct {
	intact map[session.ID]bool // sessions of which the lost log had acknowledged nothing
}

// lostLog reads the intact sessions from the outbox, which survives a restart. A session whose open frame is behind the last acknowledged frame is
// there from its beginning, since the open precedes everything else of it. Rejected: to remember when a session began. The clocks of
// two nodes do not compare, and a node hears of a lost disk long after it was lost.
func (s *Sender) lostLog(p *peer) *LostLog {
	l := &LostLog{map[session.ID]bool{}}
	for i := s.index(p.acked + 1); i < len(s.entries); i++ {
		if f := &s.entries[i].frame; f.Kind == Open {
			l.intact[f.Session] = true
		}
	}
	return l
}

// Affects reports whether the lost log may have held something of a session.
func (l *LostLog) Affects(id session.ID) bool { return !l.intact[id] }
