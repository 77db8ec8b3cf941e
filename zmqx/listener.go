package zmqx

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"time"

	"github.com/go-zeromq/zmq4"
)

// listener accepts on one endpoint. Its goroutine does nothing else: each handshake runs in its own.
type listener struct {
	s        *socket
	endpoint int
	net      net.Listener
	pending  *pendingHandshakes
	path     string      // ipc: the socket file
	file     os.FileInfo // ipc: info of the file as it was made, so that no other file is removed
	warned   warnings
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
		return "", errClosed
	}
	if e.network == "tcp" {
		e.address = l.net.Addr().String()
	}
	return e.String(), nil
}

// acceptLoop continues until the listener is closed. Other errors (no file descriptors left, a connection aborted before
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
	a := l.s.opt.Accepts.enter(conn, l.s.kind == zmq4.Router)
	c := l.pending.add(conn)
	if !l.s.spawn(func() { l.serve(c, a) }) {
		l.pending.remove(c)
		conn.Close()
		l.s.opt.Accepts.leave(a)
	}
}

// serve shakes hands with a new connection and serves it as a peer. A connection that fails counts as pending until it is
// closed. Otherwise connections that are being closed would come on top of the MaxHandshakes that are allowed.
func (l *listener) serve(c *pending, a *accepted) {
	defer l.s.opt.Accepts.leave(a)
	g, err := l.s.handshake(c.conn, "", true)
	if err != nil {
		l.refuse(c.conn, err)
		l.s.opt.Accepts.leave(a)
		l.pending.remove(c)
		return
	}
	l.pending.remove(c)
	p, err := l.admit(g)
	if err != nil {
		l.refuse(c.conn, err)
		return
	}
	l.s.opt.Accepts.shook(a, p)
	l.s.serve(p)
}

// admit makes a peer of a connection. If there are MaxPeers already, it first evicts the quietest of them.
func (l *listener) admit(g greeted) (*peer, error) {
	for {
		p, quietest, err := l.s.admit(g, l.endpoint, l.s.opt.MaxPeers)
		if quietest == nil {
			return p, err
		}
		quietest.fail(fmt.Errorf("%w: %d (MaxPeers), and this one was silent longest", errTooManyPeers, l.s.opt.MaxPeers))
		<-quietest.gone
	}
}

// refuse closes a connection and logs why it became no peer. It warns about a peer that is not allowed or whose key has
// expired, but not for each of its attempts.
func (l *listener) refuse(conn net.Conn, cause error) {
	conn.Close()
	level := slog.LevelDebug
	if errors.Is(cause, ErrRefused) && l.warned.due(cause, time.Now()) {
		level = slog.LevelWarn
	}
	l.s.opt.Logger.Log(context.Background(), level, "connection refused", "endpoint", l.net.Addr(), "remote", remoteName(conn), "cause", cause)
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

// greeted is a connection whose handshakes are over.
type greeted struct {
	conn  net.Conn // inside TLS where there is TLS
	in    *frameReader
	proof proof
}

// handshake does all handshakes within HandshakeTimeout, or until the socket closes: first the peer's identity is established, then ZMTP
// begins. dialled is the name given to ConnectTo.
func (s *socket) handshake(conn net.Conn, dialled string, server bool) (g greeted, err error) {
	setSocketOptions(conn, s.opt)
	stop := context.AfterFunc(s.ctx, func() { conn.Close() })
	defer stop()
	if err := conn.SetDeadline(time.Now().Add(s.opt.HandshakeTimeout)); err != nil {
		return g, fmt.Errorf("%w: %w", errHandshake, err)
	}
	if err := CheckOwner(conn); err != nil {
		return g, fmt.Errorf("%w: %w", errHandshake, err)
	}
	g.conn = nonblocking(conn)
	if s.opt.TLS != nil {
		g.proof.checks = s.checksSoFar()
		if g.conn, err = secure(g.conn, s.opt.TLS, dialled, server, &g.proof); err != nil {
			return g, fmt.Errorf("%w: %w", errHandshake, err)
		}
	}
	g.in = newFrameReader(g.conn, s.opt.limits())
	if err := shakeHands(g.conn, g.in, s.kind, server); err != nil {
		if s.opt.TLS != nil && !server {
			err = refusal(err)
		}
		return g, err
	}
	if err := conn.SetDeadline(time.Time{}); err != nil {
		return g, fmt.Errorf("%w: %w", errHandshake, err)
	}
	return g, nil
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
