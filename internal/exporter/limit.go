package exporter

import (
	"net"
	"sync"
)

// limit makes a listener close new connections at once while most connections are open.
func limit(l net.Listener, most int) net.Listener {
	return &limited{Listener: l, room: make(chan struct{}, most)}
}

type limited struct {
	net.Listener
	room chan struct{} // holds a token for each open connection
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
