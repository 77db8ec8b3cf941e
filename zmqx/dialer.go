package zmqx

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
)

// dialer keeps one endpoint connected until the socket closes. One goroutine runs it.
type dialer struct {
	s        *socket
	to       endpoint
	endpoint int
}

// connect starts keeping an endpoint connected and returns at once.
func (s *socket) connect(address string) (int, error) {
	e, err := parseEndpoint(address)
	if err != nil {
		return 0, err
	}
	d := &dialer{s: s, to: e, endpoint: s.nextEndpoint()}
	if !s.spawn(d.run) {
		return 0, ErrClosed
	}
	return d.endpoint, nil
}

func (d *dialer) run() {
	pause := backoff{min: d.s.opt.BackoffMin, max: d.s.opt.BackoffMax}
	told := false
	for d.s.ctx.Err() == nil {
		p, err := d.dial()
		switch {
		case err == nil:
			pause.reset()
			told = false
			d.s.serve(p)
		case d.s.ctx.Err() != nil:
			return
		default:
			d.failed(err, told)
			told = true
		}
		if !sleep(d.s.ctx, pause.pause(rand.Float64())) {
			return
		}
	}
}

func (d *dialer) dial() (*peer, error) {
	ctx, cancel := context.WithTimeout(d.s.ctx, d.s.opt.HandshakeTimeout)
	defer cancel()
	conn, err := new(net.Dialer).DialContext(ctx, d.to.network, d.to.address)
	if err != nil {
		return nil, err
	}
	in, err := d.s.greet(conn, false)
	if err != nil {
		conn.Close()
		return nil, err
	}
	p, err := d.s.admit(conn, in, d.endpoint)
	if err != nil {
		conn.Close()
		return nil, err
	}
	return p, nil
}

func (d *dialer) failed(err error, told bool) {
	d.s.count.failed.Add(1)
	d.s.opt.Logger.Debug("cannot connect", "endpoint", d.to.String(), "cause", err)
	if !told {
		d.s.events.tell(d.s.ctx, Event{Kind: Unreachable, Endpoint: d.endpoint, Remote: d.to.String(),
			Err: fmt.Errorf("zmqx: connect to %s: %w", d.to, err)})
	}
}
