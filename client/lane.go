package client

import (
	"context"
	"fmt"

	"posta/protocol"
	"posta/session"
)

// lane carries chunks to one input, one at a time. One goroutine uses it.
type lane struct {
	line    *line
	id      uint32
	input   int // index of the input
	session session.ID
	seq     uint64 // of the last chunk sent
}

// carry sends one piece and returns when it is durable. The number is used up by the first try: every further one says the
// same, and the input knows it by the number.
func (l *lane) carry(ctx context.Context, stream string, p piece) error {
	l.seq++
	q := protocol.Request{Type: protocol.Chunk, Session: l.session, Stream: stream, Lane: l.id, Seq: l.seq, File: p.file,
		Line: p.line, Header: p.header, Data: p.data}
	// A frame of its own for each chunk, because the socket may hold on to it after a try that was given up. The data is
	// what makes it grow to its size, in one step and without clearing the memory first.
	frame := q.Append(make([]byte, 0, 512+len(p.header)))
	reply, err := l.line.ask(ctx, frame)
	if err == nil && (reply.Type != protocol.OK || reply.Lane != l.id || reply.Seq != l.seq) {
		err = surprise(l.line, reply)
	}
	if err != nil {
		return fmt.Errorf("send %s from line %d to %s: %w", p.file, p.line, l.line.endpoint, err)
	}
	return nil
}
