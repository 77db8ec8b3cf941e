// Package visitors bounds the connections of an HTTP server so that those that ask nothing cannot keep others out: if there are as many as
// it takes, a new one takes the place of the one that has been without a request for longest. A connection counts as without one until its
// whole header has come. Only if all are being answered, a new one is closed at once.
package visitors

import (
	"context"
	"net"
	"net/http"
	"slices"
	"sync"
)

// Serve is server.Serve for at most this many connections at a time. It changes the server's Handler and ConnContext.
func Serve(server *http.Server, l net.Listener, most int) error {
	handler := server.Handler
	server.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		return context.WithValue(ctx, visit{}, c)
	}
	server.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c, ok := r.Context().Value(visit{}).(*conn); ok {
			c.in.answering(c, true)
			defer c.in.answering(c, false)
		}
		handler.ServeHTTP(w, r)
	})
	return server.Serve(&listener{Listener: l, most: most})
}

// visit is the key of the connection in the context of its requests.
type visit struct{}

type listener struct {
	net.Listener
	most int

	mu   sync.Mutex
	idle []*conn // without a request, longest first; guarded by mu
	busy int     // connections with one; guarded by mu
}

type conn struct {
	net.Conn
	in     *listener
	busy   bool // guarded by in.mu, like gone
	gone   bool
	closed sync.Once
}

func (l *listener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if mine := l.take(c); mine != nil {
			return mine, nil
		}
		_ = c.Close()
	}
}

// take returns nil if there is no place.
func (l *listener) take(c net.Conn) *conn {
	mine := &conn{Conn: c, in: l}
	l.mu.Lock()
	var oldest *conn
	if len(l.idle)+l.busy >= l.most {
		if len(l.idle) == 0 {
			l.mu.Unlock()
			return nil
		}
		oldest = l.idle[0]
		l.leaveLocked(oldest)
	}
	l.idle = append(l.idle, mine)
	l.mu.Unlock()
	if oldest != nil {
		_ = oldest.Close()
	}
	return mine
}

func (l *listener) leaveLocked(c *conn) {
	switch {
	case c.gone:
	case c.busy:
		l.busy--
	default:
		l.idle = slices.DeleteFunc(l.idle, func(other *conn) bool { return other == c })
	}
	c.gone = true
}

// answering notes that a request of the connection has come, or is answered.
func (l *listener) answering(c *conn, is bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c.gone || c.busy == is {
		return
	}
	if c.busy = is; is {
		l.busy++
		l.idle = slices.DeleteFunc(l.idle, func(other *conn) bool { return other == c })
		return
	}
	l.busy--
	l.idle = append(l.idle, c)
}

func (c *conn) Close() (err error) {
	c.closed.Do(func() {
		c.in.mu.Lock()
		c.in.leaveLocked(c)
		c.in.mu.Unlock()
		err = c.Conn.Close()
	})
	return err
}
