package web

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"sync/atomic"
	"syscall"
)

// conn is a connection that remembers whether its peer has closed it.
type conn struct {
	net.Conn
	ended atomic.Bool
}

func dial(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := (&net.Dialer{Timeout: patience}).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return &conn{Conn: c}, nil
}

// Read implements net.Conn.
func (c *conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if err == io.EOF {
		c.ended.Store(true)
	}
	return n, err
}

// cutBelowTLS reports whether a connection with TLS ended without the server's close notify. crypto/tls does not tell: it returns io.EOF if
// the connection ends between two records. But it reads until it has the close notify, and never behind that. So if a read below TLS met
// the end, the notify is missing.
func cutBelowTLS(c net.Conn) bool {
	secure := false
	for {
		switch below := c.(type) {
		case *tls.Conn: // two of them, if a proxy is reached over TLS
			c, secure = below.NetConn(), true
		case *conn:
			return secure && below.ended.Load()
		default:
			return false
		}
	}
}

// lasting reports whether another try to connect would fail like this one, so that the user should hear of it at once. handshake is the
// error of TLS's handshake. within says that the server was there before: then it may only be starting again.
func lasting(err, handshake error, within bool) bool {
	var network net.Error
	var name *net.DNSError
	switch {
	case errors.Is(err, errRounds), errors.Is(err, errScheme), errors.Is(err, errDowngrade):
		return true
	case handshake != nil:
		timeout := errors.As(handshake, &network) && network.Timeout()
		return !timeout && !errors.Is(handshake, io.EOF) && !errors.Is(handshake, io.ErrUnexpectedEOF) &&
			!errors.Is(handshake, syscall.ECONNRESET)
	case errors.As(err, &name):
		return name.IsNotFound && !within
	}
	return !within && (errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.ENETUNREACH) || errors.Is(err, syscall.EHOSTUNREACH))
}
