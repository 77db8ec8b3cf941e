package link

import "fmt"

// Progress is the durable part of a Sender apart from the frames: the last number given out, and what each receiver has
// acknowledged. Acknowledgements are stored lazily, with the next commit: losing one only means that a frame is sent again and
// dropped as a duplicate.
type Progress struct {
	Edge  string
	To    NodeID // which of the edge's outboxes, filled in by the owner of all of them; empty on an edge of route "all"
	Last  Seq
	Life  Life // that made the frame Last; zero if that is not known any more
	Acked []Acked
}

// Acked is how far one receiver has acknowledged, and the log it did so with.
type Acked struct {
	Node NodeID
	Seq  Seq
	Log  LogID // zero until the receiver was heard
	Life Life  // that made the frame Seq (R14); zero if that is not known any more
	Here bool  // Log has acknowledged Seq itself, and not a log before it
}

// Progress returns the state to store.
func (s *Sender) Progress() Progress {
	p := Progress{Edge: s.Edge, Last: s.Last(), Life: s.lastLife()}
	for _, q := range s.peers {
		p.Acked = append(p.Acked, Acked{q.node, q.acked, q.id.LogID, q.ackedLife, q.ackedHere})
	}
	return p
}

// lastLife is the life that made the last frame.
func (s *Sender) lastLife() Life {
	if n := len(s.entries); n > 0 {
		return s.entries[n-1].frame.Life
	}
	for _, p := range s.peers {
		if p.acked == s.Last() {
			return p.ackedLife
		}
	}
	return 0
}

// Restore sets a new Sender to what a snapshot says. The frames after the slowest acknowledgement follow by [Sender.Reload],
// since the log still holds them.
func (s *Sender) Restore(p Progress) {
	for _, a := range p.Acked {
		if q := s.peer(a.Node); q != nil {
			q.acked, q.sent, q.id.LogID, q.ackedLife, q.ackedHere = a.Seq, a.Seq, a.Log, a.Life, a.Here
		}
	}
	floor := p.Last
	for _, q := range s.peers {
		floor = min(floor, q.acked)
	}
	s.next, s.stored = floor+1, floor
}

// GiveUp empties the outbox and goes on behind seq, because its receivers were away from the topology: nothing is known of them, and what they
// have not taken will never come. A hello tells them so by its floor.
func (s *Sender) GiveUp(seq Seq) {
	*s = *NewSender(s.Link, s.id, s.window, s.Peers()...)
	s.skip(seq, 0)
}

// Acknowledged repeats an acknowledgement that a log record holds.
func (s *Sender) Acknowledged(a Acked) {
	p := s.peer(a.Node)
	if p == nil {
		return
	}
	p.id.LogID = a.Log
	seq := a.Seq
	if seq < p.acked {
		return
	}
	p.acked, p.sent, p.ackedLife, p.ackedHere = seq, max(p.sent, seq), a.Life, a.Here
	if i := s.index(seq); i >= 0 && i < len(s.entries) {
		p.ackedEnd = s.entries[i].end
	}
	s.trim()
}

// Reload puts a frame that the log held back into the outbox, in order; one that everybody has acknowledged is dropped.
//
// The log may begin with a later frame than the snapshot expects: it is cut whenever frames have been acknowledged, and the
// snapshot, or the one before it that recovery has fallen back to, does not know of that. What was cut was acknowledged.
//
// It returns ErrChanged, wrapped, for a frame that had changed before the log took it (R18).
func (s *Sender) Reload(f Frame, at LogIndex) error {
	if f.Seq < s.next {
		return nil
	}
	if f.Seq > s.next && len(s.entries) == 0 {
		s.skip(f.Seq-1, 0)
	}
	if f.Seq > s.next {
		return fmt.Errorf("R2: %s: the log goes on with frame %d after %d: frames are missing", s.Edge, f.Seq, s.next-1)
	}
	if err := s.sums.made(&f); err != nil {
		return err
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

// skip goes on behind seq, a frame of the given life: everything up to there was acknowledged by everybody, and has been cut from the log.
func (s *Sender) skip(seq Seq, life Life) {
	for _, p := range s.peers {
		if p.acked < seq {
			p.acked, p.ackedLife, p.ackedHere = seq, life, false
		}
		p.sent = max(p.sent, seq)
	}
	s.next, s.stored = seq+1, seq
}

// Restored ends recovery. last, a frame of the given life, is the last number that the snapshot, or a record behind it, says was given out. Where the
// log holds no frame any more, all were acknowledged and cut; their numbers must not be given out again (R2).
func (s *Sender) Restored(last Seq, life Life) error {
	if s.Last() >= last {
		return nil
	}
	if len(s.entries) > 0 {
		return fmt.Errorf("R2: %s: the log holds frames up to %d, %d were given out: frames are missing", s.Edge, s.Last(), last)
	}
	s.skip(last, life)
	return nil
}
