package brokered

import (
	"sync"

	"posta.dev/posta/link"
)

// Waiting is the frames of one link, or of a broadcast edge, on their way from the node's loop to the goroutine that publishes
// them. The loop offers and never waits; the publisher takes.
type Waiting struct {
	room int
	wake chan struct{} // holds one token while there may be something to do

	mu     sync.Mutex
	frames []link.Frame
	bytes  int
}

// NewWaiting has room for that many bytes. More than the link's window is never used.
func NewWaiting(room int) *Waiting { return &Waiting{room: room, wake: make(chan struct{}, 1)} }

// Offer takes frames from the front for which there is room, and returns how many. One frame is always taken when nothing waits.
func (w *Waiting) Offer(frames []link.Frame) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := 0
	for ; n < len(frames); n++ {
		size := frames[n].Size()
		if w.bytes > 0 && w.bytes+size > w.room {
			break
		}
		w.bytes += size
	}
	w.frames = append(w.frames, frames[:n]...)
	w.signalLocked()
	return n
}

// Wake is received from before Next is called until it returns nothing.
func (w *Waiting) Wake() <-chan struct{} { return w.wake }

// Rouse makes Wake ready though nothing new has come.
func (w *Waiting) Rouse() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.signalLocked()
}

func (w *Waiting) signalLocked() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// Next takes one frame, and those behind it for as long as all are at most batch bytes. It returns nil when nothing waits.
func (w *Waiting) Next(batch int) []link.Frame {
	w.mu.Lock()
	defer w.mu.Unlock()
	size := 0
	n := 0
	for ; n < len(w.frames); n++ {
		s := w.frames[n].Size()
		if n > 0 && size+s > batch {
			break
		}
		size += s
	}
	taken := w.frames[:n:n]
	w.frames = w.frames[n:]
	w.bytes -= size
	if len(w.frames) == 0 {
		w.frames = nil
	}
	return taken
}

// Clear forgets everything: over a new connection the link begins again where the receiver says (R7).
func (w *Waiting) Clear() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.frames, w.bytes = nil, 0
}

// Empty reports whether nothing waits.
func (w *Waiting) Empty() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.frames) == 0
}
