package zmqx

import (
	"fmt"
	"log/slog"
	"net"
	"sync"
	"syscall"
	"time"
)

// AcceptLimit bounds the accepted connections of all sockets that share it in their Options, because each takes one of the
// process's file descriptors. At the bound, a new connection evicts the quietest one (MaxPeers defines quiet): a stranger if
// there is one, else a client of a ROUTER, which asks again, and others only if there are no such connections. A nil AcceptLimit has
// no bound.
//
// Accepting until the system refuses was rejected: connections would then take the descriptors that the process needs for its
// files.
type AcceptLimit struct {
	max int
	log *slog.Logger

	mu       sync.Mutex
	left     *sync.Cond // signalled when a connection has left
	accepted map[*accepted]struct{}
	waiting  int       // connections that wait for a place
	leaving  int       // evicted ones that have not left yet
	entered  uint64    // how many were ever accepted
	logged   time.Time // when an eviction was logged last
}

// accepted is one of these connections.
type accepted struct {
	conn    net.Conn
	clients bool // it came through a ROUTER
	number  uint64
	peer    *peer // nil until it has shaken hands
	evicted bool
}

// NewAcceptLimit allows that many connections, 1 at least. It logs evictions, at most once a minute.
func NewAcceptLimit(most int, log *slog.Logger) *AcceptLimit {
	l := &AcceptLimit{max: max(1, most), log: log, accepted: map[*accepted]struct{}{}}
	l.left = sync.NewCond(&l.mu)
	return l
}

// Max is how many connections are allowed.
func (l *AcceptLimit) Max() int { return l.max }

// enter adds a connection. At the bound it first evicts one, and waits until one has left. Another connection may come just then and take
// the place without having waited. So whoever waits evicts again, until as many are leaving as are waiting.
func (l *AcceptLimit) enter(conn net.Conn, clients bool) *accepted {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting++
	for len(l.accepted) >= l.max {
		if l.leaving < l.waiting {
			l.evictLocked()
		}
		l.left.Wait()
	}
	l.waiting--
	return l.addLocked(conn, clients)
}

func (l *AcceptLimit) addLocked(conn net.Conn, clients bool) *accepted {
	l.entered++
	a := &accepted{conn: conn, clients: clients, number: l.entered}
	l.accepted[a] = struct{}{}
	return a
}

// evictLocked ends the quietest connection that is not about to end anyway.
func (l *AcceptLimit) evictLocked() {
	var quietest *accepted
	for a := range l.accepted {
		if !a.evicted && (quietest == nil || a.quieter(quietest)) {
			quietest = a
		}
	}
	if quietest == nil {
		return
	}
	quietest.evicted = true
	l.leaving++
	if now := time.Now(); now.Sub(l.logged) >= time.Minute {
		l.logged = now
		l.log.Warn("as many connections are open as this process has file descriptors for; the quietest is closed for each new one. Raise the "+
			"limit of open files (ulimit -n), or find out who connects and says nothing",
			"most", l.max, "closed", remoteName(quietest.conn))
	}
	if quietest.peer == nil {
		quietest.conn.Close()
		return
	}
	quietest.peer.fail(fmt.Errorf("%w: %d in all sockets (AcceptLimit), and this one was silent longest", errTooManyPeers, l.max))
}

// quieter orders connections by eviction. A connection without a finished handshake counts as a stranger that never spoke.
func (a *accepted) quieter(o *accepted) bool {
	if x, y := a.rank(), o.rank(); x != y {
		return x < y
	}
	if x, y := a.heard(), o.heard(); x != y {
		return x < y
	}
	return a.number < o.number
}

func (a *accepted) rank() int {
	switch {
	case a.peer == nil || !a.peer.known.Load():
		return 0
	case a.clients:
		return 1
	}
	return 2
}

// heard orders connections by when they spoke last.
func (a *accepted) heard() int64 {
	if a.peer == nil {
		return 0
	}
	return a.peer.heard.Load()
}

// shook reports that a connection has become a peer.
func (l *AcceptLimit) shook(a *accepted, p *peer) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	a.peer = p
	if a.evicted { // meanwhile; the connection is closed already
		p.fail(errTooManyPeers)
	}
}

// leave reports that a connection is closed.
func (l *AcceptLimit) leave(a *accepted) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.removeLocked(a)
}

func (l *AcceptLimit) removeLocked(a *accepted) {
	if _, there := l.accepted[a]; there && a.evicted {
		l.leaving--
	}
	delete(l.accepted, a)
	l.left.Broadcast()
}

// OpenFiles returns how many file descriptors this process may open. The Go runtime raises the soft limit to the hard one
// before main begins.
func OpenFiles() int {
	const many = 1 << 20 // stands for a limit that nobody reaches
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return many
	}
	return int(min(limit.Cur, many))
}
