package link

import "fmt"

// Progress is the durable part of a Sender apart from the frames: the last number given out, and what was acknowledged by
// whom. Acknowledgements are stored lazily, with the next commit: losing one only means that a frame is sent again and
// dropped as a duplicate.
type Progress struct {
	Edge  string
	To    NodeID // which of the edge's outboxes, filled in by the owner of all of them; empty on an edge of route "all"
	Last  Seq
	Acked []Acked
}

// Acked is how far one receiver has acknowledged.
type Acked struct {
	Node NodeID
	Seq  Seq
}

// Progress returns the state to store.
func (s *Sender) Progress() Progress {
	p := Progress{Edge: s.edge, Last: s.Last()}
	for _, q := range s.peers {
		p.Acked = append(p.Acked, Acked{q.node, q.acked})
	}
	return p
}

// Restore sets a new Sender to what a snapshot says. The frames after the slowest acknowledgement follow by [Sender.Reload],
// since the log still holds them.
func (s *Sender) Restore(p Progress) {
	for _, a := range p.Acked {
		if q := s.peer(a.Node); q != nil {
			q.acked, q.sent = a.Seq, a.Seq
		}
	}
	floor := p.Last
	for _, q := range s.peers {
		floor = min(floor, q.acked)
	}
	s.next, s.stored = floor+1, floor
}

// Acknowledged repeats an acknowledgement that a log record holds.
func (s *Sender) Acknowledged(node NodeID, seq Seq) {
	p := s.peer(node)
	if p == nil || seq <= p.acked {
		return
	}
	p.acked, p.sent = seq, max(p.sent, seq)
	if i := s.index(seq); i >= 0 && i < len(s.entries) {
		p.ackedEnd = s.entries[i].end
	}
	s.trim()
}

// Reload puts a frame that the log held back into the outbox, in order; one that everybody has acknowledged is dropped.
func (s *Sender) Reload(f Frame, at Place) error {
	if f.Seq < s.next {
		return nil
	}
	if f.Seq > s.next {
		return fmt.Errorf("R2: %s: the log goes on with frame %d after %d: frames are missing", s.edge, f.Seq, s.next-1)
	}
	s.push(f, at)
	s.next++
	s.stored = f.Seq
	end := s.entries[len(s.entries)-1].end
	for _, p := range s.peers {
		if p.acked >= f.Seq {
			p.ackedEnd = end
		}
	}
	s.trim()
	return nil
}

// Restored checks that the log gave back every frame that the snapshot counts on.
func (s *Sender) Restored(p Progress) error {
	if s.Last() < p.Last {
		return fmt.Errorf("R2: %s: the log holds frames up to %d, the snapshot gave out %d", s.edge, s.Last(), p.Last)
	}
	return nil
}
