package zmqx

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
)

// TLS makes a socket speak ZMTP inside TLS, and says who its peers are (Options.TLS). Its methods are called from many goroutines, with
// locks of the socket held, so they must not call the socket. Package security implements it.
type TLS interface {
	// Server returns the settings for one connection that was accepted.
	Server() *tls.Config
	// Client returns those for one connection to the process that ConnectTo has named, or an error when that is not a name. They must make the
	// handshake fail when another process answers.
	Client(name string) (*tls.Config, error)
	// Peer returns the name that the peer has proven in a handshake that is over, or why it may not be here (any more).
	Peer(tls.ConnectionState) (string, error)
}

const (
	// maxUnproven is what a peer may send before it has proven who it is, in bytes; the last read may go beyond it by minWireBuffer. Ours send
	// 3 KiB: a greeting with a post-quantum key, one small certificate. TLS itself would take a certificate of 256 KiB (S7).
	maxUnproven = 8 << 10

	// maxUnprovenRecord is the longest record that it may announce meanwhile: TLS allocates it at once. Ours have 2 KiB.
	maxUnprovenRecord = 4 << 10

	// maxRecord is the largest plaintext of a TLS record, and recordHeader what stands before its ciphertext, in bytes.
	maxRecord    = 16 << 10
	recordHeader = 5

	// The buffers beneath TLS start small, as the one of a frameReader does, and grow while they are filled, up to this many bytes. With 64
	// KiB a frame of 64 KiB, which its records make a little longer, would take two calls of the system at either end, and such frames were at
	// 0.36 in place of 0.43 of their speed without TLS. More than 128 KiB gains nothing.
	minWireBuffer = 4 << 10
	maxWireBuffer = 128 << 10
)

// secure does the TLS handshake within the deadline of conn, returns the connection inside, and puts into p what the peer has proven.
func secure(conn net.Conn, by TLS, dialled string, server bool, p *proof) (*stream, error) {
	s := &stream{Conn: conn, wire: &wire{Conn: conn, unproven: maxUnproven}}
	if server {
		s.tls = tls.Server(s.wire, by.Server())
	} else {
		config, err := by.Client(dialled)
		if err != nil {
			return nil, err
		}
		s.tls = tls.Client(s.wire, config)
	}
	if err := s.tls.Handshake(); cut(err) {
		// nobody has refused anything: a network, or a process that ended, and the next attempt may succeed
		return nil, fmt.Errorf("TLS: %w", refusal(err))
	} else if err != nil {
		return nil, fmt.Errorf("%w: TLS: %w", ErrRefused, refusal(err))
	}
	p.state = s.tls.ConnectionState()
	from, err := by.Peer(p.state)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRefused, err)
	}
	p.from = from
	s.wire.proven = true
	return s, nil
}

// refusal explains that the other side has refused us. In TLS 1.3 a client's handshake is over before the server has checked its
// certificate, so the client learns of a refusal at its first read. The refusal looks like a closed connection if data that the client has
// sent meanwhile makes the server's system drop the alert.
func refusal(err error) error {
	var op *net.OpError
	switch {
	case errors.As(err, &op) && op.Op == "remote error":
		return fmt.Errorf("%w: the peer refuses this process; its log says why: %w", ErrRefused, err)
	case errors.Is(err, os.ErrDeadlineExceeded):
	case cut(err):
		return fmt.Errorf("the peer closed the connection; perhaps it refuses this process, and then its log says why: %w", err)
	}
	return err
}

// cut reports whether a handshake ended because the connection did, or because nothing came in time.
func cut(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) ||
		errors.Is(err, syscall.ECONNABORTED) ||
		errors.Is(err, syscall.EPIPE) || errors.Is(err, os.ErrDeadlineExceeded)
}

// stream is a connection inside TLS. Close closes the connection beneath at once, without TLS's farewell: a message is whole or it is
// dropped, and links ask again for what they miss, so nobody gains by cutting a connection.
type stream struct {
	net.Conn // beneath TLS; for its deadlines and addresses
	wire     *wire
	tls      *tls.Conn
	record   []byte // plaintext of the record that is being filled; the writer owns it
}

// Read returns as much as the records that have come hold: with one record a call, small messages would come in small batches. A peer that
// puts records without content between its messages holds up no messages but its own.
func (s *stream) Read(p []byte) (int, error) {
	n, err := s.tls.Read(p)
	for err == nil && n < len(p) && s.wire.holdsRecord() {
		var more int
		more, err = s.tls.Read(p[n:])
		n += more
	}
	return n, err
}

// Write is for the handshake of ZMTP.
func (s *stream) Write(p []byte) (int, error) {
	if err := s.writeAll([][]byte{p}); err != nil {
		return 0, err
	}
	return len(p), nil
}

// writeAll writes the pieces in full records, whatever their sizes are, and the records in few system calls. Left to itself TLS would make
// a record of each piece, and a system call of each record.
func (s *stream) writeAll(pieces [][]byte) error {
	for _, piece := range pieces {
		if len(s.record) > 0 {
			n := min(len(piece), maxRecord-len(s.record))
			s.record = append(s.record, piece[:n]...)
			piece = piece[n:]
			if len(s.record) < maxRecord {
				continue
			}
			if err := s.seal(); err != nil {
				return err
			}
		}
		whole := len(piece) - len(piece)%maxRecord
		if whole > 0 {
			if _, err := s.tls.Write(piece[:whole]); err != nil {
				return err
			}
		}
		s.record = append(s.record, piece[whole:]...)
	}
	if err := s.seal(); err != nil {
		return err
	}
	return s.wire.flush()
}

func (s *stream) seal() error {
	if len(s.record) == 0 {
		return nil
	}
	_, err := s.tls.Write(s.record)
	s.record = s.record[:0]
	return err
}
