package client

import (
	"context"
	"fmt"
	"time"

	"posta.dev/posta/client/core"
	"posta.dev/posta/protocol"
)

// requester is a REQ socket to one endpoint. Do sends one frame and waits for its reply. If ctx ends first, Do closes the connection, so
// that a late reply can never be taken for the answer to the next request. The same request may be sent again. req belongs to the requester
// until it is answered. If it is never answered, req is never given back, because a try that was given up may still be writing it.
type requester interface {
	Do(ctx context.Context, req []byte) ([]byte, error)
	Close() error
}

// line drives one connection of a session: it sends the session's requests and, for a lane, fetches the chunks. Its goroutine does both,
// one after the other, so a chunk goes directly from its reader to the goroutine that sends it.
type line struct {
	client   *Client
	id       core.ConnID
	endpoint string
	req      requester // nil if the endpoint is invalid
	wake     chan struct{}

	// What to do next, guarded by the client's lock.
	asked  *core.Request
	wanted *core.Want
	giveUp context.CancelFunc // of the try under way, nil if there is none

	// Owned by the line's goroutine.
	frame []byte // of the request under way
	tries int    // how often it was sent
	head  []byte
	chunk chunk // that the lane sends
	from  *upload

	// The file that the lane's input reads, guarded by the client's lock; nil if there is none.
	file    *placed
	inPlace *inPlace
	input   int
}

// ask gives up what is under way and begins a try. The caller holds the lock.
func (l *line) ask(r *core.Request) {
	try := *r // r belongs to the session and is valid until the next event
	// A process that was stopped for a while gives up tries that it has not begun. If that was the first try, there is no frame yet to send
	// again.
	try.Again = r.Again && (l.asked == nil || l.asked.Again)
	l.drop()
	l.asked = &try
	l.notify()
}

// want lets a lane fetch a chunk. The caller holds the lock.
func (l *line) want(w core.Want) {
	l.wanted = &w
	l.notify()
}

// drop gives up the try that is under way or about to begin. The caller holds the lock.
func (l *line) drop() {
	l.asked = nil
	if l.giveUp != nil {
		l.giveUp()
	}
}

func (l *line) notify() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

func (l *line) run() {
	defer l.client.wg.Done()
	for {
		switch r, w, ctx := l.next(); {
		case r != nil:
			l.try(ctx, r)
		case w != nil:
			l.fetch(w)
		default:
			return
		}
	}
}

// next waits for something to do; it returns nothing when the client is closed.
func (l *line) next() (*core.Request, *core.Want, context.Context) {
	c := l.client
	for {
		c.mu.Lock()
		r, w := l.asked, l.wanted
		switch {
		case c.ctx.Err() != nil:
			c.mu.Unlock()
			return nil, nil, nil
		case r != nil:
			ctx, giveUp := context.WithCancel(c.ctx)
			l.asked, l.giveUp = nil, giveUp
			c.mu.Unlock()
			return r, nil, ctx
		case w != nil:
			l.wanted, l.from = nil, c.sending
			c.mu.Unlock()
			if l.from == nil { // the upload has ended meanwhile
				continue
			}
			return nil, w, nil
		}
		c.mu.Unlock()
		select {
		case <-l.wake:
		case <-c.ctx.Done():
		}
	}
}

// fetch gives the session the next chunk of a stream for this lane.
func (l *line) fetch(w *core.Want) {
	f := l.from.streams[w.Stream]
	file, p, err := f.next(l.from.ctx, w.Input)
	switch {
	case file != nil:
		l.haveRead(w, f.inPlace, file)
	case err == errNoMore:
		l.from = nil // this also releases the memory for chunks
		l.client.event(func(now time.Time) { l.client.session.Drained(w.Lane, now) })
	case err == nil:
		l.chunk = p
		l.client.event(func(now time.Time) {
			l.client.session.Chunk(w.Lane, core.Chunk{File: p.file, Header: p.header, Line: p.line, At: p.at, Data: p.data()}, now)
		})
	} // else the upload has ended
}

// try sends a request once, and tells the session the outcome.
func (l *line) try(ctx context.Context, r *core.Request) {
	if !r.Again {
		l.frame, l.tries = l.encode(&r.Message), 0
	}
	l.tries++
	reply, err := l.do(ctx)
	c := l.client
	c.event(func(now time.Time) {
		l.giveUp() // also frees what the context holds
		l.giveUp = nil
		if err != nil {
			c.session.Broken(l.id, r.Try, err, now)
		} else {
			c.session.Reply(l.id, r.Try, reply, now)
		}
	})
	if err == nil && r.Message.Type == protocol.Chunk && !l.repeats() {
		l.free()
	}
}

// repeats reports whether the request is to be sent again. If an answer comes just when its try is given up, the session ignores it and
// waits for the answer to the next try, which carries the same chunk.
func (l *line) repeats() bool {
	l.client.mu.Lock()
	defer l.client.mu.Unlock()
	return l.asked != nil && l.asked.Again
}

func (l *line) do(ctx context.Context) (protocol.Reply, error) {
	answer, err := l.req.Do(ctx, l.frame)
	if err != nil {
		return protocol.Reply{}, err
	}
	return decode(l.endpoint, answer)
}

// decode reads a reply. A refusal is a reply, not an error.
func decode(endpoint string, answer []byte) (protocol.Reply, error) {
	reply, err := protocol.DecodeReply(answer)
	if err != nil {
		err = fmt.Errorf("%s answers, but not as a node of Posta does; check the address: %w", endpoint, err)
	}
	return reply, err
}

// encode writes the head of a chunk's request in front of the records, in the chunk's own memory. Copying every byte of a large file would
// be a large part of the client's work.
func (l *line) encode(q *protocol.Request) []byte {
	if q.Type != protocol.Chunk {
		return q.Append(nil)
	}
	l.head = q.AppendHead(l.head[:0], len(q.Data))
	if room := headRoom - len(l.head); room >= 0 {
		frame := l.chunk.memory[room:]
		copy(frame, l.head)
		return frame
	}
	return append(append(make([]byte, 0, len(l.head)+len(q.Data)), l.head...), q.Data...)
}

// free gives the memory of an answered chunk back to the readers, unless a try that was given up may still be writing it.
func (l *line) free() {
	if l.tries > 1 {
		l.chunk.memory = nil
	}
	l.from.spare <- l.chunk.memory
	l.chunk, l.frame = chunk{}, nil
}
