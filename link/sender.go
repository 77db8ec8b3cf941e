package link

import (
	"fmt"
	"time"
)

// LogIndex is the index of a record in the sender's log. The sender keeps the index of each frame, so that the log is
// not cut before the frame is acknowledged (N3).
type LogIndex uint64

// Sender is the outbox of one link, or of all links of an edge of route "all" (R10).
//
// Invariant for each peer: acked <= sent <= stored < next. The entries are the frames from the slowest peer's acked+1 to next-1, without
// gaps.
type Sender struct {
	Link
	id      Identity
	sums    sums
	changed error   // set for good when a frame was not sent because its bits have changed here (R18)
	window  int     // bytes that each peer may leave unacknowledged (R9)
	next    Seq     // the number the next frame gets
	stored  Seq     // the last number that is durable (R3)
	entries []entry // frames that not every peer has acknowledged
	storage []entry // the array behind entries: grow reuses its front
	peers   []*peer
}

type entry struct {
	frame Frame
	at    LogIndex // the record that holds the frame; 0 until it is stored
	taken bool     // put on the wire before
	end   uint64   // bytes of all frames up to and including this one, counted from the start of this incarnation
}

// peer is what the sender knows about one receiver.
type peer struct {
	node       NodeID
	id         Identity // zero until the receiver was heard
	superseded supersededLogs
	ready      bool // the receiver has told its hwm since the last connect or restart: frames may be sent (R7)
	helloDue   bool // a hello must be sent now, whatever helloAt is
	heardUs    bool // the receiver has answered a hello of this life
	unheard    bool // its last acknowledgement was for another life, or lower than a former one: the hello is repeated soon
	rejected   Life // a life of the receiver that must be told that it is superseded; zero if none
	rejectedAt time.Time
	acked      Seq    // everything up to here is durable at the receiver
	ackedLife  Life   // the life that made frame acked; zero if no longer known
	ackedHere  bool   // the receiver's present log has itself acknowledged acked
	sent       Seq    // the last frame sent; set back to acked when a resend is needed
	ackedEnd   uint64 // the value of entry.end for frame acked
	ackedAt    time.Time
	helloAt    time.Time
	hellos     int // hellos since the last connect, or since the receiver became ready; at most firstHellos
}

// NewSender returns an empty outbox to the given receivers. window is in bytes, for each of them.
func NewSender(l Link, id Identity, window int, to ...NodeID) *Sender {
	s := &Sender{Link: l, id: id, sums: newSums(l), window: window, next: 1}
	for _, n := range to {
		s.peers = append(s.peers, &peer{node: n, helloDue: true})
	}
	return s
}

// Peers returns the receivers.
func (s *Sender) Peers() []NodeID {
	nodes := make([]NodeID, len(s.peers))
	for i, p := range s.peers {
		nodes[i] = p.node
	}
	return nodes
}

// Add gives a frame its number and keeps it. The frame leaves once [Sender.Stored] says that its commit is on disk. The returned frame
// carries the number and this node's name; the log stores this one.
func (s *Sender) Add(f Frame) Frame {
	f.Edge, f.From, f.ID, f.Seq, f.Life = s.Edge, s.From, s.id, s.next, s.id.Life
	f.Sum = s.sums.content(&f)
	s.next++
	s.push(f, 0)
	return f
}

func (s *Sender) push(f Frame, at LogIndex) {
	end := uint64(f.Size())
	if n := len(s.entries); n > 0 {
		end += s.entries[n-1].end
	} else {
		end += s.peersEnd()
	}
	s.grow()
	s.entries = append(s.entries, entry{frame: f, at: at, end: end})
}

// grow makes space for one more entry behind the last. If more than half of the array has been acknowledged, it moves the entries to the
// front, and otherwise to a larger array. Appending to ever new arrays was rejected: with frames of 1 KiB that costs more than everything
// else here.
func (s *Sender) grow() {
	n := len(s.entries)
	if n < cap(s.entries) {
		return
	}
	old := s.storage
	if 2*n >= len(old) {
		s.storage = make([]entry, max(minEntries, 2*len(old)))
	}
	copy(s.storage, s.entries)
	clear(old[len(old)-n:]) // releases the payloads
	s.entries = s.storage[:n]
}

// minEntries is how many entries the array of an outbox holds at least, so that small outboxes do not allocate again and again.
const minEntries = 16

// peersEnd returns the common ackedEnd of the peers when everything is acknowledged.
func (s *Sender) peersEnd() uint64 {
	end := uint64(0)
	for _, p := range s.peers {
		end = max(end, p.ackedEnd)
	}
	return end
}

// Stored reports that all frames up to seq are durable. The record at index at holds those that were not stored before.
func (s *Sender) Stored(seq Seq, at LogIndex) {
	if seq >= s.next {
		panic(fmt.Sprintf("R2: %s: frame %d stored, only %d given out", s.Edge, seq, s.next-1))
	}
	for i := s.index(s.stored + 1); i >= 0 && i < len(s.entries) && s.entries[i].frame.Seq <= seq; i++ {
		s.entries[i].at = at
	}
	s.stored = max(s.stored, seq)
}

// Last returns the last number given out.
func (s *Sender) Last() Seq { return s.next - 1 }

// Acked returns the last number that every receiver has acknowledged.
func (s *Sender) Acked() Seq { return s.base() - 1 }

// base returns the number of the first entry; next if there is none.
func (s *Sender) base() Seq { return s.next - Seq(len(s.entries)) }

// index returns the position of seq in the entries; it may be beyond either end.
func (s *Sender) index(seq Seq) int {
	if seq < s.base() {
		return -1
	}
	return int(seq - s.base())
}

// WindowLeft returns how many bytes are left in the slowest peer's window. It may be negative: the frame that fills a window is accepted
// whole.
func (s *Sender) WindowLeft() int {
	last := s.lastEnd()
	left := s.window
	for _, p := range s.peers {
		left = min(left, s.window-int(last-p.ackedEnd))
	}
	return left
}

func (s *Sender) lastEnd() uint64 {
	if n := len(s.entries); n > 0 {
		return s.entries[n-1].end
	}
	return s.peersEnd()
}

// Backlog returns the unacknowledged bytes and frames of the slowest peer.
func (s *Sender) Backlog() (bytes, frames int) { return s.window - s.WindowLeft(), len(s.entries) }

// Oldest returns the log index of the oldest frame that a peer has not acknowledged, false if there is none. Frames that are not
// stored yet do not count: they have no log index.
func (s *Sender) Oldest() (LogIndex, bool) {
	if len(s.entries) == 0 || s.base() > s.stored {
		return 0, false
	}
	return s.entries[0].at, true
}

// Connected reports that a new connection to a peer is up. Frames under way may be lost, so the peer is asked for its hwm (R7).
func (s *Sender) Connected(node NodeID) {
	if p := s.peer(node); p != nil {
		p.ready, p.helloDue, p.hellos = false, true, 0
	}
}

// Answers reports that the connection for a peer's acknowledgements is up. The peer's answer to a hello may be lost, so the peer is asked
// again.
func (s *Sender) Answers(node NodeID) {
	if p := s.peer(node); p != nil && !p.ready {
		p.helloDue, p.hellos = true, 0
	}
}

func (s *Sender) peer(node NodeID) *peer {
	for _, p := range s.peers {
		if p.node == node {
			return p
		}
	}
	return nil
}

// trim drops the frames that every peer has acknowledged.
func (s *Sender) trim() {
	floor := s.next - 1
	for _, p := range s.peers {
		floor = min(floor, p.acked)
	}
	n := s.index(floor + 1)
	if n <= 0 {
		return
	}
	clear(s.entries[:n]) // releases the payloads
	s.entries = s.entries[n:]
	if len(s.entries) == 0 {
		s.entries, s.storage = nil, nil // an idle link keeps no memory
	}
}

// Take returns the frames that may be sent to node now, at most about limit bytes, and counts them as sent. It returns
// nil until the peer has told its hwm.
//
// A frame that is taken again is compared with its checksum (R18): the receiver may have refused it because its bits have changed here, and
// would refuse it for ever. Such a frame and those behind it are not sent, and [Sender.Err] returns the error. Comparing each frame before
// it leaves the first time was rejected: the receiver does that anyway.
func (s *Sender) Take(node NodeID, limit int) []Frame {
	p := s.peer(node)
	if p == nil || !p.ready || p.sent >= s.stored {
		return nil
	}
	if p.sent+1 < s.base() {
		panic(fmt.Sprintf("R10: %s: frame %d is forgotten, and %s lacks it", s.Edge, p.sent+1, node))
	}
	if p.sent < p.acked {
		panic(fmt.Sprintf("R7: %s: frame %d would be sent to %s again, which has %d", s.Edge, p.sent+1, node, p.acked))
	}
	ready := s.entries[s.index(p.sent+1):s.index(s.stored+1)]
	n := 0
	for ; n < len(ready) && limit > 0; n++ {
		limit -= ready[n].frame.Size()
	}
	out := make([]Frame, 0, n+1) // a hello may follow
	for i := range ready[:n] {
		e := &ready[i]
		if e.taken && s.changed == nil {
			s.changed = s.sums.made(&e.frame)
		}
		if s.changed != nil {
			break
		}
		e.taken = true
		f := e.frame
		f.ID, f.Sum = s.id, s.sums.sent(f.Sum, s.id)
		out = append(out, f)
	}
	p.sent += Seq(len(out))
	return out
}

// Err returns ErrChanged, wrapped, if a frame of the outbox was found to have changed since it was made. The process
// must end: its log has the frame as it was made.
func (s *Sender) Err() error { return s.changed }

// Unsend reports that the transport did not accept the frames from seq on: Take will return them again.
func (s *Sender) Unsend(node NodeID, seq Seq) {
	if p := s.peer(node); p != nil && seq > 0 && p.sent >= seq { // a hello has no number (0) and is repeated anyway
		p.sent = max(seq-1, p.acked)
	}
}

// TakeAll is Take for an edge of route "all", where one message reaches every peer. It returns the frames that the ready peer furthest
// behind lacks. The other peers drop those that they have as duplicates (R4).
func (s *Sender) TakeAll(limit int) []Frame {
	var from *peer
	for _, p := range s.peers {
		if p.ready && p.sent < s.stored && (from == nil || p.sent < from.sent) {
			from = p
		}
	}
	if from == nil {
		return nil
	}
	first := from.sent + 1
	out := s.Take(from.node, limit)
	if len(out) == 0 {
		return nil
	}
	last := out[len(out)-1].Seq
	for _, p := range s.peers {
		if p.ready && p.sent+1 >= first {
			p.sent = max(p.sent, last)
		}
	}
	return out
}

// Sendable reports whether a ready peer still lacks durable frames.
func (s *Sender) Sendable() bool {
	for _, p := range s.peers {
		if p.ready && p.sent < s.stored {
			return true
		}
	}
	return false
}
