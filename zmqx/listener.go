package zmqx

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"time"
)

// listener accepts on one endpoint. Its goroutine does nothing else: each handshake runs in its own.
type listener struct {
	s        *socket
	endpoint int
	net      net.Listener
	pending  *pendingHandshakes
	path     string      // ipc: the socket file
	file     os.FileInfo // ipc: as it was made, to remove no other
}

// listen opens an endpoint and returns its actual address.
func (s *socket) listen(address string) (string, error) {
	e, err := parseEndpoint(address)
	if err != nil {
		return "", err
	}
	l := &listener{s: s, pending: newPendingHandshakes(s.opt.MaxHandshakes)}
	if e.network == "unix" {
		err = l.openIPC(e.address)
	} else {
		l.net, err = net.Listen(e.network, e.address)
	}
	if err != nil {
		return "", fmt.Errorf("zmqx: listen on %s: %w", e, err)
	}
	l.endpoint = s.nextEndpoint()
	s.mu.Lock()
	s.listeners = append(s.listeners, l)
	s.mu.Unlock()
	if !s.spawn(l.acceptLoop) {
		l.close()
		return "", ErrClosed
	}
	if e.network == "tcp" {
		e.address = l.net.Addr().String()
	}
	return e.String(), nil
}

// acceptLoop goes on until the listener is closed. Other errors (no file descriptors left, a connection aborted before
// it was accepted) pass; ending would make the node deaf for good.
func (l *listener) acceptLoop() {
	pause := backoff{min: 5 * time.Millisecond, max: time.Second}
	for {
		conn, err := l.net.Accept()
		if err == nil {
			pause.reset()
			l.take(conn)
			continue
		}
		if errors.Is(err, net.ErrClosed) {
			return
		}
		l.s.opt.Logger.Warn("cannot accept connections", "endpoint", l.net.Addr(), "cause", err)
		if !sleep(l.s.ctx, pause.pause(rand.Float64())) {
			return
		}
	}
}

// take gives a new connection its own goroutine.
func (l *listener) take(conn net.Conn) {
	c := l.pending.add(conn)
	if !l.s.spawn(func() { l.serve(c) }) {
		l.pending.remove(c)
		conn.Close()
	}
}

// serve shakes hands with a new connection and serves it as a peer.
func (l *listener) serve(c *pending) {
	in, err := l.s.handshake(c.conn, true)
	l.pending.remove(c)
	var p *peer
	if err == nil {
		p, err = l.admit(c.conn, in)
	}
	if err != nil {
		l.s.opt.Logger.Debug("connection refused", "endpoint", l.net.Addr(), "remote", remoteName(c.conn), "cause", err)
		c.conn.Close()
		return
	}
	l.s.serve(p)
}

// admit makes a peer of a connection; where there are MaxPeers already, the quietest of them has to go first.
func (l *listener) admit(conn net.Conn, in *frameReader) (*peer, error) {
	for {
		p, quietest, err := l.s.admit(conn, in, l.endpoint, l.s.opt.MaxPeers)
		if quietest == nil {
			return p, err
		}
		quietest.fail(fmt.Errorf("%w: %d (MaxPeers), and this one was silent longest", ErrTooManyPeers, l.s.opt.MaxPeers))
		<-quietest.gone
	}
}

// close stops accepting. Peers are not touched.
func (l *listener) close() error {
	err := l.net.Close()
	if errors.Is(err, net.ErrClosed) {
		err = nil
	}
	if l.path != "" {
		err = errors.Join(err, l.removeSocketFile())
	}
	return err
}

// handshake does the whole of it within HandshakeTimeout, or until the socket closes.
func (s *socket) handshake(conn net.Conn, server bool) (*frameReader, error) {
	setSocketOptions(conn, s.opt)
	stop := context.AfterFunc(s.ctx, func() { conn.Close() })
	defer stop()
	if err := conn.SetDeadline(time.Now().Add(s.opt.HandshakeTimeout)); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrHandshake, err)
	}
	in := newFrameReader(conn, s.opt.limits())
	if err := shakeHands(conn, in, s.kind, server); err != nil {
		return nil, err
	}
	if err := conn.SetDeadline(time.Time{}); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrHandshake, err)
	}
	return in, nil
}

// sleep is false when ctx ended it.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
