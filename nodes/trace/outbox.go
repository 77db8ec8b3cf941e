package trace

import "time"

// outbox follows the frames of a link that begins here, from their commit until they are acknowledged. It has one entry for the frames of
// each session in each commit, so it never has more entries than the link has unacknowledged frames.
type outbox struct {
	batches []batch
	first   int // the number of batches[0]; the following batches have the following numbers
	sealed  int // batches with lower numbers are in closed commits
	durable int // batches with lower numbers are stored; first ≤ durable ≤ sealed
}

type batch struct {
	s             *Session
	last          uint64 // the number of the last frame
	frames, bytes uint64
	at            time.Duration // when it was stored
}

// Made reports that a frame of a session was added, with this number, to the outbox of link out.
func (r *Recorder) Made(s *Session, out int, seq uint64, bytes int) {
	if r == nil || s == nil {
		return
	}
	q := through(s.out, out)
	q.frames++
	q.bytes += uint64(bytes)
	o := &r.boxes[out]
	if n := len(o.batches); n > 0 && o.first+n > o.sealed && o.batches[n-1].s == s {
		b := &o.batches[n-1]
		b.last, b.frames, b.bytes = seq, b.frames+1, b.bytes+uint64(bytes)
		return
	}
	o.batches = append(o.batches, batch{s: s, last: seq, frames: 1, bytes: uint64(bytes)})
}

// Acked reports that every receiver has the effects of all frames of link out up to a number.
func (r *Recorder) Acked(out int, seq uint64) {
	if r == nil {
		return
	}
	o := &r.boxes[out]
	n := 0
	for n < o.durable-o.first && o.batches[n].last <= seq {
		n++
	}
	if n == 0 {
		return
	}
	now := r.clock()
	for _, b := range o.batches[:n] {
		q := b.s.out[out]
		q.waiting -= b.bytes
		q.pass(b.frames, now-b.at)
	}
	left := copy(o.batches, o.batches[n:])
	clear(o.batches[left:])
	o.batches, o.first = o.batches[:left], o.first+n
}

// seal reports that the commit with all batches so far is closed.
func (o *outbox) seal() { o.sealed = o.first + len(o.batches) }

// stored reports that all batches of closed commits are stored. out is the number of the link.
func (o *outbox) stored(out int, now time.Duration) {
	for ; o.durable < o.sealed; o.durable++ {
		b := &o.batches[o.durable-o.first]
		b.at = now
		q := b.s.out[out]
		q.waiting += b.bytes
		q.peak = max(q.peak, q.waiting)
	}
}
