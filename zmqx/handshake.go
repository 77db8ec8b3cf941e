package zmqx

import (
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/go-zeromq/zmq4"
	"github.com/go-zeromq/zmq4/security/null"
)

// greetingSize is the fixed first part of a ZMTP 3 connection.
const greetingSize = 64

// shakeHands lets zmq4's engine do the greeting and the NULL handshake over conn. The caller sets the deadline. Bytes
// that came behind the handshake stay in the frameReader.
//
// The peer's metadata is dropped: an identity it claims has no effect.
func shakeHands(conn net.Conn, in *frameReader, kind zmq4.SocketType, server bool) (err error) {
	defer func() {
		// zmq4 indexes into the READY without checking its lengths, and panics on unknown socket types.
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: malformed READY: %v", errHandshake, r)
		}
	}()
	g := &guard{Conn: conn, in: in, allowed: greetingSize}
	if _, err := zmq4.Open(g, null.Security(), kind, nil, server, nil); err != nil {
		return fmt.Errorf("%w: %w", errHandshake, err)
	}
	if g.allowed != 0 {
		return fmt.Errorf("%w: invariant: the engine left %d bytes of the READY", errHandshake, g.allowed)
	}
	return nil
}

// guard wraps the connection for zmq4 during the handshake. It passes on the greeting and then one frame at a time. It checks
// each frame's header first, because zmq4 would allocate any size that it reads there.
type guard struct {
	net.Conn
	in      *frameReader
	allowed int // bytes that may be handed out before the next frame header must be checked
	frames  int
}

var errTalkative = errors.New("more than one frame in the handshake")

func (g *guard) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if g.allowed == 0 {
		if err := g.admitFrame(); err != nil {
			return 0, err
		}
	}
	b, err := g.in.peek(1)
	if err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return 0, err
	}
	n := copy(p[:min(len(p), g.allowed)], b)
	g.in.r += n
	g.allowed -= n
	return n, nil
}

// admitFrame allows the next frame if it is a short command, and the only one.
func (g *guard) admitFrame() error {
	if g.frames++; g.frames > 1 {
		return fmt.Errorf("%w: %w", errProtocol, errTalkative)
	}
	for need := 1; ; need++ {
		b, err := g.in.peek(need)
		if err != nil {
			return err
		}
		h, n, err := parseHeader(b)
		if err != nil {
			return err
		}
		if n == 0 {
			continue
		}
		if !h.command() {
			return fmt.Errorf("%w: a message instead of READY", errProtocol)
		}
		if h.size > maxCommand {
			return fmt.Errorf("%w: READY of %d bytes, at most %d", errTooLarge, h.size, maxCommand)
		}
		g.allowed = n + int(h.size)
		return nil
	}
}
