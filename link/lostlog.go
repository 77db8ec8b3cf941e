package link

import "posta.dev/posta/protocol/session"

// LostLog says which sessions a receiver's lost disk affects: those of which the lost log had acknowledged a frame. Frames that it had
// taken but not acknowledged are still in the outbox, and go to the receiver's next log.
type LostLog struct {
	intact map[session.ID]bool // sessions of which the lost log had acknowledged nothing
}

// lostLog finds the intact sessions in the outbox, which survives a restart. If a session's open frame comes after the last acknowledged
// frame, the outbox holds all of the session, because the open frame is its first. Remembering when a session began was rejected: the
// clocks of two nodes cannot be compared, and a node learns of a lost disk long after the loss.
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
