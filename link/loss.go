package link

import "posta.dev/posta/protocol/session"

// Loss says what a receiver has lost with its disk: what the lost log acknowledged, and nothing else. Where it had taken more
// than it said, that is still in the outbox and goes to the log that follows, as if nobody had ever seen it.
type Loss struct{ whole map[session.ID]bool }

// loss is read off the outbox, which survives a restart as it is: a session whose open is still there behind the last
// acknowledged frame is there from its beginning, since the open comes before anything else of it. Turned down: to remember when a
// session began. Clocks of two nodes do not compare, and a node hears of a lost disk long after it was lost.
func (s *Sender) loss(p *peer) *Loss {
	l := &Loss{map[session.ID]bool{}}
	for i := s.index(p.acked + 1); i < len(s.entries); i++ {
		if f := &s.entries[i].frame; f.Kind == Open {
			l.whole[f.Session] = true
		}
	}
	return l
}

// Of reports whether the receiver may have held something of a session.
func (l *Loss) Of(id session.ID) bool { return !l.whole[id] }
