package brokered

import (
	"fmt"
	"slices"
	"time"

	"posta.dev/posta/link"
)

// Incoming is the receiving end of a link. Tag is the broker's identifier of a delivery.
type Incoming[Tag any] struct {
	*unacked[Tag]
	Edge string
	From link.NodeID
	To   link.NodeID // this node; "" on a pub edge, where all receivers get the same message

	names   link.Interner // owned by the goroutine that calls Receive
	emit    func(link.Event)
	discard func(error)
}

// Receive takes a delivery, which counts as unacknowledged from then on. Only one goroutine calls it.
func (in *Incoming[Tag]) Receive(tag Tag, body []byte) {
	frames, err := unpack(&in.names, body)
	if err == nil && slices.ContainsFunc(frames, func(f link.Frame) bool { return f.Edge != in.Edge || f.From != in.From }) {
		// The node would drop it, too (R18). It is acknowledged here, because no acknowledgement of this link would ever do that.
		frames, err = nil, fmt.Errorf("%w: it is of another link than edge %s from %s", errBadMessage, in.Edge, in.From)
	}
	if err != nil {
		in.discard(err)
	}
	in.delivered(tag, frames)
	if len(frames) > 0 {
		in.emit(link.Event{Frames: frames, At: time.Now()})
	}
}

// The most that a broker delivers without an acknowledgement, in messages.
const (
	minPrefetch = 64
	maxPrefetch = 4096
)

// Prefetch returns how many unacknowledged messages the broker delivers. It is at least twice the sender's window in full batches, because
// the node takes in one window; there are not many smaller messages.
func Prefetch(window, batch int) int {
	if batch == 0 {
		return maxPrefetch
	}
	return max(minPrefetch, min(maxPrefetch, 2*window/batch))
}
