package client

import (
	"context"
	"fmt"
	"sync/atomic"

	"posta.dev/posta/protocol"
)

// lane carries chunks to one input, one at a time. One goroutine uses it.
type lane struct {
	conn    *conn
	id      uint32
	input   int              // index of the input
	request protocol.Request // what all its requests have in common
	seq     uint64           // of the last chunk sent
	acked   atomic.Uint64    // the last chunk that the input has acknowledged; pings say it (R14)
	head    []byte           // of the last request
}

// send sends one chunk and returns when it is durable. The number is used up by the first try: every further one says the
// same, and the input knows it by the number. free says whether the chunk's memory may be used again: after a try that was given
// up the socket may hold on to it.
func (l *lane) send(ctx context.Context, stream string, p chunk) (free bool, err error) {
	l.seq++
	q := l.request
	q.Stream, q.Lane, q.Seq, q.File, q.Line, q.Header = stream, l.id, l.seq, p.file, p.line, p.header
	reply, tries, err := l.conn.requestCounted(ctx, l.frame(&q, &p))
	if err = l.conn.expect(reply, err, protocol.OK); err == nil && (reply.Lane != l.id || reply.Seq != l.seq) {
		err = fmt.Errorf("%w: the answer is to chunk %d of lane %d", protocol.ErrInvalid, reply.Seq, reply.Lane)
	}
	if err != nil {
		return false, fmt.Errorf("send %s from line %d to %s: %w", p.file, p.line, l.conn.endpoint, err)
	}
	l.acked.Store(l.seq)
	return tries == 1, nil
}

// frame puts the head of a request in front of the records where they are: a copy of every byte of a large file would cost
// a good part of what the client does.
func (l *lane) frame(q *protocol.Request, p *chunk) []byte {
	l.head = q.AppendHead(l.head[:0], len(p.data()))
	if room := headRoom - len(l.head); room >= 0 {
		frame := p.memory[room:]
		copy(frame, l.head)
		return frame
	}
	return append(append(make([]byte, 0, len(l.head)+len(p.data())), l.head...), p.data()...)
}
