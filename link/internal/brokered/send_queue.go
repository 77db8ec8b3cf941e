package brokered

import (
	"sync"

	"posta.dev/posta/link"
)

// sendQueue holds the frames of one link, or of a broadcast edge, between the node's loop and the goroutine that publishes
// them. The loop offers and never waits; the publisher takes.
type sendQueue struct {
	capacity int
	wake     chan struct{} // holds one token while there may be something to do

	mu     sync.Mutex
	frames []link.Frame
	bytes  int
}

// newSendQueue returns a queue with space for this many bytes. It never holds more than the link's window.
func newSendQueue(room int) *sendQueue {
	return &sendQueue{capacity: room, wake: make(chan struct{}, 1)}
}

// offer takes frames from the front while they fit, and returns how many. An empty queue takes at least one.
func (q *sendQueue) offer(frames []link.Frame) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := 0
	for ; n < len(frames); n++ {
		size := frames[n].Size()
		if q.bytes > 0 && q.bytes+size > q.capacity {
			break
		}
		q.bytes += size
	}
	q.frames = append(q.frames, frames[:n]...)
	q.signalLocked()
	return n
}

// Wake is ready when Next may have something. After it the publisher calls Next until that returns nothing.
func (q *sendQueue) Wake() <-chan struct{} { return q.wake }

// Signal makes Wake ready without new frames.
func (q *sendQueue) Signal() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.signalLocked()
}

func (q *sendQueue) signalLocked() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// Next takes one frame, and further ones up to batch bytes in all. It returns nil when the queue is empty.
func (q *sendQueue) Next(batch int) []link.Frame {
	q.mu.Lock()
	defer q.mu.Unlock()
	size := 0
	n := 0
	for ; n < len(q.frames); n++ {
		s := q.frames[n].Size()
		if n > 0 && size+s > batch {
			break
		}
		size += s
	}
	taken := q.frames[:n:n]
	q.frames = q.frames[n:]
	q.bytes -= size
	if len(q.frames) == 0 {
		q.frames = nil
	}
	return taken
}

// Clear empties the queue: over a new connection the link begins again where the receiver says (R7).
func (q *sendQueue) Clear() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.frames, q.bytes = nil, 0
}

// Empty reports whether nothing waits.
func (q *sendQueue) Empty() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.frames) == 0
}
