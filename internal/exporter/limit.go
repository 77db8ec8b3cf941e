package exporter

import (
	"net"
	"sync"
)

// limit has a listener close connections at once that come while as many as are allowed stand.
func limit(l net.Listener, most int) net.Listener {
	return &limited{Listener: l, room: make(chan struct{}, most)}
}

type limited struct {
	net.Listener
	room chan struct{} // holds a token for each connection that stands
}

func (l *limited) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		select {
		case l.room <- struct{}{}:
			return &counted{Conn: c, leave: sync.OnceFunc(func() { <-l.room })}, nil
		default:
			_ = c.Close()
		}
	}
}

type counted struct {
	net.Conn
	leave func()
}

func (c *counted) Close() error {
	defer c.leave()
	return c.Conn.Close()
}
