package zmqx

import (
	"errors"
	"fmt"
	"net"
	"os"
	"time"
)

const (
	gatherBytes  = 256 << 10 // a write starts at the latest with this much
	gatherPieces = 64        // and with this many pieces
	writeChunk   = 1 << 20   // a larger part is written in pieces of this size, each with its own deadline
)

// frameWriter gathers messages into few large writes: parts below directSize are copied behind their headers into one
// buffer, larger ones go by reference, and all goes out with one writev. One goroutine uses it.
//
// zmq4's Conn.SendMsg writes each message by itself, and single-part ones with two system calls.
type frameWriter struct {
	conn    net.Conn
	timeout time.Duration // below 0 or 0: none

	gather []byte      // headers and small parts; never grows, because pieces point into it
	mark   int         // gather[mark:] is not yet in pieces
	pieces [][]byte    // what the next write sends
	total  int         // bytes in pieces and gather[mark:]
	out    net.Buffers // a field, so that WriteTo does not allocate it
	fault  error       // the first failed write; nothing is written after it
}

func newFrameWriter(conn net.Conn, timeout time.Duration) *frameWriter {
	return &frameWriter{conn: conn, timeout: timeout, pieces: make([][]byte, 0, gatherPieces+2)}
}

// add takes one message. It reports whether all of it and of what came before may still be waiting (false: flush is due).
func (w *frameWriter) add(m Message) (more bool) {
	for i, part := range m {
		flags := byte(flagMore)
		if i == len(m)-1 {
			flags = 0
		}
		w.room(longHeader)
		w.gather = appendHeader(w.gather, flags, len(part))
		w.total += len(part)
		if len(part) < directSize {
			w.room(len(part))
			w.gather = append(w.gather, part...)
			continue
		}
		w.cut()
		for len(part) > writeChunk {
			w.pieces = append(w.pieces, part[:writeChunk])
			part = part[writeChunk:]
			w.flush()
		}
		w.pieces = append(w.pieces, part)
		if len(w.pieces) >= gatherPieces {
			w.flush()
		}
	}
	return w.total < gatherBytes
}

// addRaw takes a frame with its header on.
func (w *frameWriter) addRaw(frame []byte) {
	w.room(len(frame))
	w.gather = append(w.gather, frame...)
	w.total += len(frame)
}

// room makes the gather buffer ready for n more bytes, n at most directSize. It starts small for peers that are sent
// little. When it grows, the pieces keep the old one until they are written.
func (w *frameWriter) room(n int) {
	const full = gatherBytes + directSize
	if cap(w.gather)-len(w.gather) >= n {
		return
	}
	if cap(w.gather) == full {
		w.flush()
		return
	}
	w.cut()
	w.gather, w.mark = make([]byte, 0, min(max(4*cap(w.gather), 2*directSize), full)), 0
}

// cut moves what was gathered since the last cut to the pieces.
func (w *frameWriter) cut() {
	if w.mark < len(w.gather) {
		w.pieces = append(w.pieces, w.gather[w.mark:len(w.gather):len(w.gather)])
		w.mark = len(w.gather)
	}
}

// flush writes everything. Its error is kept: after a failed write the stream is cut somewhere, nothing may follow.
func (w *frameWriter) flush() error {
	w.cut()
	if w.fault == nil && len(w.pieces) > 0 {
		w.fault = w.write()
	}
	clear(w.pieces)
	w.pieces, w.gather = w.pieces[:0], w.gather[:0]
	w.mark, w.total = 0, 0
	return w.fault
}

func (w *frameWriter) write() error {
	if w.timeout > 0 {
		if err := w.conn.SetWriteDeadline(time.Now().Add(w.timeout)); err != nil {
			return err
		}
	}
	var err error
	if inside, ok := w.conn.(*stream); ok {
		err = inside.writeAll(w.pieces)
	} else if len(w.pieces) == 1 {
		_, err = w.conn.Write(w.pieces[0])
	} else {
		w.out = net.Buffers(w.pieces)
		sends()
		_, err = w.out.WriteTo(beneath(w.conn))
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("%w: it did not take what was written within %v (WriteTimeout)", errStalled, w.timeout)
	}
	return err
}
