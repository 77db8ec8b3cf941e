package zmqx

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net"
	"syscall"
)

// dialer keeps one endpoint connected until the socket closes. One goroutine runs it.
type dialer struct {
	s        *socket
	to       endpoint
	peer     string // whom it dials; "" on plain sockets
	endpoint int
}

// connectOnce is connect for sockets with one peer (R1).
func (s *socket) connectOnce(address, peer string) error {
	if !s.once.CompareAndSwap(false, true) {
		return fmt.Errorf("%w: make another %s for %s (R1)", errSecondPeer, s.kind, address)
	}
	_, err := s.connect(address, peer)
	if err != nil {
		s.once.Store(false)
	}
	return err
}

// connect starts keeping an endpoint connected and returns at once.
func (s *socket) connect(address, peer string) (int, error) {
	e, err := parseEndpoint(address)
	if err != nil {
		return 0, err
	}
	if s.opt.TLS != nil {
		if _, err := s.opt.TLS.Client(peer); err != nil {
			return 0, fmt.Errorf("zmqx: connect to %s: %w", e, err)
		}
	}
	d := &dialer{s: s, to: e, peer: peer, endpoint: s.nextEndpoint()}
	if !s.spawn(d.run) {
		return 0, errClosed
	}
	return d.endpoint, nil
}

func (d *dialer) run() {
	pause := backoff{min: d.s.opt.BackoffMin, max: d.s.opt.BackoffMax}
	reported, refused := false, false
	for d.s.ctx.Err() == nil {
		p, err := d.dial()
		switch {
		case err == nil:
			pause.reset()
			reported, refused = false, false
			d.s.serve(p)
		case d.s.ctx.Err() != nil:
			return
		default:
			turned := errors.Is(err, ErrRefused) && !refused
			d.failed(err, reported && !turned)
			reported, refused = true, refused || turned
		}
		if !sleep(d.s.ctx, pause.pause(rand.Float64())) {
			return
		}
	}
}

func (d *dialer) dial() (*peer, error) {
	ctx, cancel := context.WithTimeout(d.s.ctx, d.s.opt.HandshakeTimeout)
	defer cancel()
	conn, err := (&net.Dialer{Control: lendPort}).DialContext(ctx, d.to.network, d.to.address)
	if err != nil {
		return nil, err
	}
	g, err := d.s.handshake(conn, d.peer, false)
	if err != nil {
		conn.Close()
		return nil, err
	}
	p, _, err := d.s.admit(g, d.endpoint, math.MaxInt)
	if err != nil {
		conn.Close()
	}
	return p, err
}

// lendPort lets others listen at the port that the kernel chooses for a connection. Without it nobody can until a minute after the
// connection has ended, and the port may be that of a node which is down: the kernel may even choose the port that is dialled, and connect
// the socket with itself. Such a connection fails in its handshake. To recognise and close it would not be enough, because the kernel keeps
// the port of what was closed.
func lendPort(network, _ string, c syscall.RawConn) (err error) {
	if network == "unix" {
		return nil
	}
	failed := c.Control(func(fd uintptr) { err = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1) })
	return errors.Join(failed, err)
}

func (d *dialer) failed(err error, reported bool) {
	d.s.opt.Logger.Debug("cannot connect", "endpoint", d.to.String(), "cause", err)
	if !reported {
		d.s.events.notify(Event{Kind: Unreachable, Endpoint: d.endpoint, Remote: d.to.String(),
			Err: fmt.Errorf("zmqx: connect to %s: %w", d.to, err)})
	}
}
