package zmqx

import (
	"context"
	"errors"
	"sync"
)

// sendQueue is what waits to be written to one peer. Any goroutine puts; one writer at a time takes and releases.
// Messages count against the bounds until they are written, not until they are taken.
type sendQueue struct {
	maxMsgs, maxBytes int
	ready             chan struct{} // 1 deep: there may be something to take

	mu       sync.Mutex    // guards what follows
	waiting  []Message     // in the order of sending
	commands [][]byte      // whole ZMTP frames that go before the next message; at most maxCommands
	spare    []Message     // an emptied slice for waiting to use again
	msgs     int           // waiting, or taken and not released
	bytes    int           // bytes of these messages
	closed   bool          // no further messages are accepted
	changed  chan struct{} // closed when msgs shrinks or the queue closes; nil when nobody waits for it
}

// A peer may ask for this many PONGs before we have written one; more questions go without an answer.
const maxCommands = 16

func newSendQueue(o Options) *sendQueue {
	return &sendQueue{maxMsgs: o.QueueMessages, maxBytes: o.QueueBytes, ready: make(chan struct{}, 1)}
}

// tryPut takes all of msgs or none.
func (q *sendQueue) tryPut(msgs []Message) error {
	bytes := 0
	for _, m := range msgs {
		bytes += m.Size()
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return errClosed
	}
	// An empty queue takes anything, or a message above the bound would never go.
	if q.msgs > 0 && (q.msgs+len(msgs) > q.maxMsgs || q.bytes+bytes > q.maxBytes) {
		return errFull
	}
	q.waiting = append(q.waiting, msgs...)
	q.msgs += len(msgs)
	q.bytes += bytes
	q.signal()
	return nil
}

// put takes m as soon as there is room.
func (q *sendQueue) put(ctx context.Context, m Message) error {
	for {
		q.mu.Lock()
		changed := q.changedLocked() // before the attempt, so that room made after it is not missed
		q.mu.Unlock()
		if err := q.tryPut([]Message{m}); !errors.Is(err, errFull) {
			return err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// putFirst queues messages before all others, even beyond the bound: the subscriptions of a new connection.
func (q *sendQueue) putFirst(msgs []Message) {
	q.mu.Lock()
	defer q.mu.Unlock()
	all := make([]Message, 0, len(msgs)+len(q.waiting))
	q.waiting = append(append(all, msgs...), q.waiting...)
	q.msgs += len(msgs)
	for _, m := range msgs {
		q.bytes += m.Size()
	}
	q.signal()
}

// putCommand queues a whole command frame; it is dropped when the peer does not read the earlier ones.
func (q *sendQueue) putCommand(frame []byte) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.commands) < maxCommands {
		q.commands = append(q.commands, frame)
		q.signal()
	}
}

func (q *sendQueue) signal() {
	select {
	case q.ready <- struct{}{}:
	default:
	}
}

// take waits for something to write and hands over all of it. It returns nothing when quit is closed.
func (q *sendQueue) take(quit <-chan struct{}) (msgs []Message, commands [][]byte) {
	for {
		select {
		case <-quit:
			return nil, nil
		case <-q.ready:
		}
		q.mu.Lock()
		msgs, commands = q.waiting, q.commands
		q.waiting, q.commands, q.spare = q.spare[:0], nil, nil
		q.mu.Unlock()
		if len(msgs)+len(commands) > 0 {
			return msgs, commands
		}
	}
}

// takeCommands hands over the commands that came while messages are being written.
func (q *sendQueue) takeCommands() [][]byte {
	q.mu.Lock()
	defer q.mu.Unlock()
	c := q.commands
	q.commands = nil
	return c
}

// release reports that taken messages are written.
func (q *sendQueue) release(msgs, bytes int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.msgs -= msgs
	q.bytes -= bytes
	if q.msgs < 0 || q.bytes < 0 {
		panic("zmqx: invariant: more was released from a send queue than was put")
	}
	q.changeLocked()
}

// giveBack returns the emptied slice of take for use again.
func (q *sendQueue) giveBack(msgs []Message) {
	if cap(msgs) > maxBatch*4 {
		return
	}
	q.mu.Lock()
	q.spare = msgs[:0]
	q.mu.Unlock()
}

// drop empties the queue, including what was taken and not released: the connection of its writer is gone.
func (q *sendQueue) drop() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := q.msgs
	q.waiting, q.commands = nil, nil
	q.msgs, q.bytes = 0, 0
	q.changeLocked()
	return n
}

// close makes every later put fail. What is queued stays for the writer.
func (q *sendQueue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.changeLocked()
}

// drained waits until all is written, or until quit is closed.
func (q *sendQueue) drained(ctx context.Context, quit <-chan struct{}) {
	for {
		q.mu.Lock()
		empty, changed := q.msgs == 0, q.changedLocked()
		q.mu.Unlock()
		if empty {
			return
		}
		select {
		case <-changed:
		case <-quit:
			return
		case <-ctx.Done():
			return
		}
	}
}

func (q *sendQueue) changedLocked() <-chan struct{} {
	if q.changed == nil {
		q.changed = make(chan struct{})
	}
	return q.changed
}

func (q *sendQueue) changeLocked() {
	if q.changed != nil {
		close(q.changed)
		q.changed = nil
	}
}
