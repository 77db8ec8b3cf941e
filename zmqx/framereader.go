package zmqx

import (
	"fmt"
	"io"
)

const (
	// The read buffer starts small, so that a thousand idle peers cost little, and grows while reads come back full. Sizes are in bytes.
	minReadBuffer = 4 << 10
	maxReadBuffer = 256 << 10

	// From this size on a part gets its own allocation, filled by the kernel without a stop in the buffer.
	directSize = 16 << 10

	// A frame is given this much memory on the strength of its header alone. The rest is given as bytes arrive, unless
	// the peer has already delivered a frame that large.
	firstGrant = 64 << 10

	// Messages per batch. A message of no bytes takes 2 on the wire and 64 here: without a bound a full buffer of them
	// would unfold to megabytes.
	maxBatch = 1024
)

// frameReader cuts the bytes of one peer into messages. One goroutine uses it: first the handshake, then the reader.
//
// It does the framing itself although zmq4's Conn.RecvMsg could: that accepts every size up to 2^63 and allocates it, allocates each part
// separately, has no limit of parts, and returns one message per call. On two cores over loopback it moved 0.2 million messages of 60 + 256
// bytes a second where this moved 2.6 million (BenchmarkEngine, BenchmarkPushPull).
type frameReader struct {
	src      io.Reader
	lim      limits
	origin   Received          // Peer and Endpoint of every message
	command  func(body []byte) // hears ZMTP commands; the body is valid during the call
	deadline *readDeadline     // nil: wait for ever
	pool     *bufferPool       // nil: always allocate
	report   bool              // of messages above the limits: see Options.ReportTooLarge
	share    *share            // share of the memory that the socket's messages may take; nil: no limit
	most     int               // how large the buffer may grow; maxReadBuffer at most

	buf   []byte
	r, w  int   // buf[r:w] was read and not yet taken
	step  int   // the next fill reads at most this much
	begun begun // of the message at buf[r], while it is not whole
	trust int   // the largest frame that the peer has really delivered
	err   error // came together with bytes; returned after them
}

func newFrameReader(src io.Reader, lim limits) *frameReader {
	return &frameReader{src: src, lim: lim, buf: make([]byte, minReadBuffer), step: minReadBuffer, most: maxReadBuffer}
}

// next waits for at least one whole message and returns it with all others that came along.
func (f *frameReader) next() ([]Received, error) {
	f.deadline.renew()
	for {
		p, err := f.scan()
		if p.end > f.r {
			if batch := f.take(p); len(batch) > 0 {
				return batch, nil
			}
			continue
		}
		if f.mayDiscard(err) {
			return f.discard(0, 0)
		}
		if err != nil {
			return nil, err
		}
		if p.direct {
			return f.assemble()
		}
		if err := f.fill(false); err != nil {
			return nil, err
		}
	}
}

// plan is what can be taken from the buffer in one go, so that take can allocate exactly once.
type plan struct {
	end                int  // buf[r:end] is whole messages and commands
	msgs, parts, bytes int  // bytes: in parts below directSize
	direct             bool // what follows is too large to wait for in the buffer
}

// begun is how far scan has read a message of which the rest has not come: bytes counts its whole frames, and the rest is as in scan. The
// next scan continues there. If it began again with each read, a message that comes in small pieces would cost time that grows with the
// square of its size.
type begun struct {
	bytes                        int
	msgParts, msgBytes, msgSmall int
	direct                       bool
}

// scan finds the whole messages at the front of the buffer. An error concerns what follows them.
func (f *frameReader) scan() (plan, error) {
	p := plan{end: f.r}
	msgParts, msgBytes, msgSmall, direct := f.begun.msgParts, f.begun.msgBytes, f.begun.msgSmall, f.begun.direct
	at := f.r + f.begun.bytes
	f.begun = begun{}
	for p.msgs < maxBatch {
		if p.end == f.r {
			f.begun = begun{at - f.r, msgParts, msgBytes, msgSmall, direct}
		}
		h, n, err := parseHeader(f.buf[at:f.w])
		if err != nil {
			return p, err
		}
		if n == 0 {
			p.direct = direct || at+longHeader-p.end > f.most
			return p, nil
		}
		if err := f.lim.admit(h, msgParts, msgBytes); err != nil {
			return p, err
		}
		size := int(h.size)
		direct = direct || size >= directSize
		at += n + size
		if at > f.w {
			p.direct = direct || at-p.end > f.most
			return p, nil
		}
		if !h.command() {
			msgParts++
			msgBytes += size
			if size < directSize {
				msgSmall += size
			}
			if h.more() {
				continue
			}
			p.msgs++
			p.parts += msgParts
			p.bytes += msgSmall
		} else if msgParts > 0 {
			continue // between the parts of a message: it is taken with the message
		}
		p.end = at
		f.begun = begun{}
		msgParts, msgBytes, msgSmall, direct = 0, 0, 0, false
	}
	return p, nil
}

// take copies the planned messages out of the buffer: three allocations for all of them. Copying small parts was chosen
// over handing out the buffer itself: a receiver that keeps one of them would keep the whole buffer.
func (f *frameReader) take(p plan) []Received {
	out := make([]Received, 0, p.msgs)
	parts := make([][]byte, 0, p.parts)
	slab := make([]byte, 0, p.bytes)
	first := 0
	for f.r < p.end {
		h, n, _ := parseHeader(f.buf[f.r:p.end])
		body := f.buf[f.r+n : f.r+n+int(h.size)]
		f.r += n + len(body)
		if h.command() {
			f.onCommand(body)
			continue
		}
		if len(body) >= directSize {
			parts = append(parts, f.own(body))
		} else {
			start := len(slab)
			slab = append(slab, body...)
			parts = append(parts, slab[start:len(slab):len(slab)])
		}
		if !h.more() {
			out = append(out, f.received(parts[first:len(parts):len(parts)]))
			first = len(parts)
		}
	}
	return out
}

// own copies a large part that came to lie in the buffer as a whole.
func (f *frameReader) own(body []byte) []byte {
	b := f.pool.get(len(body))
	if b == nil {
		b = make([]byte, len(body))
	}
	copy(b, body)
	return b
}

// assemble reads one message part by part, large parts straight into their own memory.
func (f *frameReader) assemble() ([]Received, error) {
	f.begun = begun{}
	var msg Message
	total, taken := 0, false
	for {
		h, err := f.header(len(msg), total)
		if f.mayDiscard(err) {
			return f.discard(len(msg), total)
		}
		if err != nil {
			return nil, err
		}
		if need := total + int(h.size); need > allowance && !taken && !h.command() {
			if h.more() { // nothing is known about what follows
				need = f.lim.message
			}
			if err := f.share.take(need); err != nil {
				return nil, within(err)
			}
			taken = true
			f.deadline.renew() // the peer did not cause the wait
		}
		body, err := f.body(int(h.size))
		if err != nil {
			return nil, err
		}
		if h.command() {
			f.onCommand(body)
			continue
		}
		msg = append(msg, body)
		total += len(body)
		if !h.more() {
			return []Received{f.received(msg)}, nil
		}
	}
}

// header waits for a whole frame header and takes it. Only assemble uses it, so it is always in mid-message.
func (f *frameReader) header(parts, total int) (header, error) {
	for {
		h, n, err := parseHeader(f.buf[f.r:f.w])
		if err == nil && n > 0 {
			err = f.lim.admit(h, parts, total)
		}
		if err != nil {
			return h, err
		}
		if n > 0 {
			f.r += n
			return h, nil
		}
		if err := f.fill(true); err != nil {
			return h, err
		}
	}
}

// body reads a frame body into memory of its own.
func (f *frameReader) body(size int) ([]byte, error) {
	b := f.pool.get(size)
	if b == nil {
		b = make([]byte, min(size, max(f.trust, firstGrant)))
	}
	have := 0
	for {
		// What was read ahead comes first, and again after each grant: the buffer may hold more than one.
		ahead := copy(b[have:], f.buf[f.r:f.w])
		f.r += ahead
		have += ahead
		for have < len(b) {
			n, err := f.read(b[have:], true)
			have += n
			if err != nil && have < size {
				return nil, within(err)
			}
		}
		if have == size {
			break
		}
		grown := make([]byte, min(size, 2*len(b)))
		copy(grown, b)
		b = grown
	}
	if size >= directSize {
		f.trust = max(f.trust, size)
		f.step = minReadBuffer // keep the next large frame out of the buffer
	}
	return b, nil
}

// fill reads more bytes into the buffer, at least one. While a message is assembled it reads little, and is in the middle
// of a message even when the buffer is empty.
func (f *frameReader) fill(assembling bool) error {
	f.makeRoom()
	mid, most := f.w > f.r, f.step
	if assembling {
		mid, most = true, minReadBuffer
	}
	room := f.buf[f.w:min(len(f.buf), f.w+most)]
	n, err := f.read(room, mid)
	f.w += n
	if n == len(room) && !assembling {
		f.step = f.larger()
	}
	switch {
	case n > 0:
		f.err = err
		return nil
	case err != nil && mid:
		return within(err)
	}
	return err
}

// larger doubles step within what the buffer may have, and asks for more of that when it is used up.
func (f *frameReader) larger() int {
	if 2*f.step > f.most && f.most < maxReadBuffer && f.share.grow() {
		f.most = maxReadBuffer
	}
	return min(2*f.step, f.most)
}

// makeRoom moves what is unread to the front, and into a larger buffer when reads have been coming back full or a small
// message needs it. scan sends messages above most to assemble, so there is always room in the end. The buffer doubles at least: if it grew
// with what is unread, a message that comes byte by byte would cost a buffer for each byte.
func (f *frameReader) makeRoom() {
	unread := f.w - f.r
	need := max(f.step, min(2*unread, f.most))
	if need > len(f.buf) {
		grown := make([]byte, min(max(need, 2*len(f.buf)), f.most))
		copy(grown, f.buf[f.r:f.w])
		f.buf, f.r, f.w = grown, 0, unread
		return
	}
	if f.r > 0 {
		copy(f.buf, f.buf[f.r:f.w])
		f.r, f.w = 0, unread
	}
}

// read is the one place that touches the connection.
func (f *frameReader) read(p []byte, mid bool) (int, error) {
	if f.err != nil {
		return 0, f.err
	}
	if err := f.deadline.beforeRead(mid); err != nil {
		return 0, err
	}
	for range 100 {
		n, err := f.src.Read(p)
		if n > 0 || err != nil {
			return n, f.deadline.afterRead(n, err)
		}
	}
	return 0, io.ErrNoProgress
}

// peek waits until n bytes are in the buffer and returns all there are. It serves the handshake; n is below the
// smallest buffer.
func (f *frameReader) peek(n int) ([]byte, error) {
	for f.w-f.r < n {
		if err := f.fill(false); err != nil {
			return nil, err
		}
	}
	return f.buf[f.r:f.w], nil
}

func (f *frameReader) onCommand(body []byte) {
	if f.command != nil {
		f.command(body)
	}
}

func (f *frameReader) received(m Message) Received {
	r := f.origin
	r.Msg = m
	return r
}

// within turns the end of the stream into what it is in the middle of a message.
func within(err error) error {
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("in the middle of a message: %w", err)
}
