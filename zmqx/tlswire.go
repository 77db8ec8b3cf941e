package zmqx

import (
	"encoding/binary"
	"fmt"
	"net"
	"sync"
)

// wire is the connection beneath TLS. It reads and writes many records with one system call. Until the peer has proven who it is, its
// buffer stays small, it counts what comes, and what TLS writes goes out at once.
type wire struct {
	net.Conn
	proven   bool          // who the peer is
	unproven int           // bytes that the peer may still send before that
	deadline *readDeadline // counts what comes; nil during the handshake

	// The goroutine that reads owns these.
	in   []byte // in[r:w] has come and TLS has not taken it
	r, w int
	left int // bytes of the record that TLS has begun to take

	mu  sync.Mutex // guards out: TLS also answers from the goroutine that reads
	out []byte     // records that wait for flush; at most maxWireBuffer
}

// Read gives TLS no bytes beyond its current record, so that the buffer always begins with a record.
func (c *wire) Read(p []byte) (int, error) {
	need := 1
	if c.left == 0 {
		need = recordHeader
	}
	for c.w-c.r < need {
		if err := c.fill(); err != nil {
			return 0, err
		}
	}
	if c.left == 0 {
		c.left = c.recordSize()
		if !c.proven && c.left > recordHeader+maxUnprovenRecord {
			return 0, fmt.Errorf("%w: a record of %d bytes is announced, and the peer has not proven who it is", errTooLarge, c.left)
		}
	}
	n := copy(p[:min(len(p), c.left)], c.in[c.r:c.w])
	c.r += n
	c.left -= n
	return n, nil
}

// fill reads what has come, at least one byte. The buffer becomes larger when a read fills it.
func (c *wire) fill() error {
	unread := copy(c.in, c.in[c.r:c.w])
	c.r, c.w = 0, unread
	if c.in == nil {
		c.in = make([]byte, minWireBuffer)
	}
	if !c.proven && c.unproven <= 0 {
		return fmt.Errorf("%w: %d bytes came, and the peer has not proven who it is", errTooLarge, maxUnproven)
	}
	n, err := c.Conn.Read(c.in[c.w:])
	if n == 0 {
		return err
	}
	c.w += n
	c.unproven -= n
	c.deadline.cameBeneath(n)
	if c.proven && c.w == len(c.in) && c.w < maxWireBuffer {
		grown := make([]byte, min(4*c.w, maxWireBuffer))
		copy(grown, c.in)
		c.in = grown
	}
	return nil
}

// recordSize is that of the record that the buffer begins with, whose header has come.
func (c *wire) recordSize() int {
	return recordHeader + int(binary.BigEndian.Uint16(c.in[c.r+3:]))
}

// holdsRecord reports whether a whole record lies in the buffer, so that TLS can read it without waiting.
func (c *wire) holdsRecord() bool {
	return c.left == 0 && c.w-c.r >= recordHeader && c.w-c.r >= c.recordSize()
}

// Write keeps records for flush once the peer is known.
func (c *wire) Write(p []byte) (int, error) {
	if !c.proven {
		return c.Conn.Write(p)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.out)+len(p) > maxWireBuffer {
		if err := c.flushLocked(); err != nil {
			return 0, err
		}
	}
	c.out = append(c.out, p...)
	return len(p), nil
}

func (c *wire) flush() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.flushLocked()
}

func (c *wire) flushLocked() error {
	if len(c.out) == 0 {
		return nil
	}
	_, err := c.Conn.Write(c.out)
	c.out = c.out[:0]
	return err
}
