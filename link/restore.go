package link

import "fmt"

// Progress is the durable part of a Sender without the frames: the last number given out, and what each receiver has acknowledged.
// Acknowledgements are stored with the next commit, not at once. If one is lost, a frame is only sent again and dropped as a duplicate.
type Progress struct {
	Edge  string
	To    NodeID // the outbox's receiver, filled in by the outbox's owner; empty on an edge of route "all"
	Last  Seq
	Life  Life // the life that made frame Last; zero if no longer known
	Acked []Acked
}

// Acked is what one receiver has acknowledged, and the log with which it did so.
type Acked struct {
	Node NodeID
	Seq  Seq
	Log  LogID // zero until the receiver was heard
	Life Life  // the life that made frame Seq (R14); zero if no longer known
	Here bool  // Log itself has acknowledged Seq; false if a former log has
}

// Progress returns the state to store.
func (s *Sender) Progress() Progress {
	p := Progress{Edge: s.Edge, Last: s.Last(), Life: s.lastLife()}
	for _, q := range s.peers {
		p.Acked = append(p.Acked, Acked{q.node, q.acked, q.id.LogID, q.ackedLife, q.ackedHere})
	}
	return p
}

// lastLife returns the life that made the last frame; zero if unknown.
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

// Restore sets the state of a new Sender from a snapshot. The log still holds the frames after the slowest
// acknowledgement; [Sender.Reload] puts them back.
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

// GiveUp empties the outbox and continues after seq. It is called when the receivers were away from the topology: their state is unknown,
// and frames that they have not taken will never arrive. The floor of a hello tells them so.
func (s *Sender) GiveUp(seq Seq) {
	*s = *NewSender(s.Link, s.id, s.window, s.Peers()...)
	s.skip(seq, 0)
}

// Acknowledged replays an acknowledgement from a log record.
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

// Reload puts a frame from the log back into the outbox, in order. It drops a frame that all receivers have acknowledged.
//
// The log may begin with a later frame than the snapshot expects: the log is cut whenever frames have been acknowledged, which may be after
// the snapshot, or after the older one that recovery has fallen back to. All frames that were cut were acknowledged.
//
// It returns ErrChanged, wrapped, for a frame that had changed before it was written to the log (R18).
func (s *Sender) Reload(f Frame, at LogIndex) error {
	if f.Seq < s.next {
		return nil
	}
	if f.Seq > s.next && len(s.entries) == 0 {
		s.skip(f.Seq-1, 0)
	}
	if f.Seq > s.next {
		return fmt.Errorf("R2: %s: the log continues with frame %d after %d: frames are missing", s.Edge, f.Seq, s.next-1)
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

// skip makes the outbox continue after frame seq of the given life: all receivers have acknowledged everything up to it, and the log was
// cut.
func (s *Sender) skip(seq Seq, life Life) {
	for _, p := range s.peers {
		if p.acked < seq {
			p.acked, p.ackedLife, p.ackedHere = seq, life, false
		}
		p.sent = max(p.sent, seq)
	}
	s.next, s.stored = seq+1, seq
}

// Restored ends recovery. last is the last number given out, according to the snapshot or a record after it; life made that frame. If the
// log holds no frame, all were acknowledged and cut. Their numbers must not be given out again (R2).
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
