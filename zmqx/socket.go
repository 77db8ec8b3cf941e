package zmqx

import (
	"context"
	"fmt"
	"net"
	"sync"
	"sync/atomic"

	"github.com/go-zeromq/zmq4"
)

// role contains what differs between the six kinds of sockets. Its methods are called from the goroutines of peers.
type role interface {
	// setUp gives a new peer what it needs before others can see it. It must not take locks.
	setUp(p *peer)
	// join is called before a peer reads or writes anything.
	join(p *peer)
	// deliver takes a batch; it may block until p.quit is closed. An error ends the peer.
	deliver(p *peer, batch []Received) error
	// leave is called when both loops of the peer have ended.
	leave(p *peer)
}

// socket is what all kinds share: peers, goroutines, closing.
type socket struct {
	// Set by newSocket, and never changed.
	kind   zmq4.SocketType
	opt    Options   // defaults are filled in
	role   role      // the Push, Pull, … that embeds this socket
	events *notifier // outlives every goroutine of wg, since these notify
	intake *intake

	ctx    context.Context // ends when Close stops lingering: from then on no peer is admitted
	cancel context.CancelFunc
	wg     sync.WaitGroup // every goroutine but the notifier's; spawn alone adds, and only before closing
	closed chan struct{}  // closed at the end of Close, for a second Close to wait for
	once   atomic.Bool    // connectOnce has succeeded

	mu        sync.Mutex       // guards what follows
	closing   bool             // set at the beginning of Close: then no more goroutines are spawned
	checks    int              // calls of Recheck so far
	lastID    PeerID           // of the newest peer; ids are never used again
	endpoints int              // calls of Connect and Listen so far; the next one's number
	peers     map[PeerID]*peer // peers that serve runs, from admit until both loops have ended
	listeners []*listener      // all that were ever opened; Close closes them
}

// join and leave are for roles that need neither.
func (s *socket) join(*peer)  {}
func (s *socket) leave(*peer) {}

// newSocket puts a socket into r, whose embedded field base is.
func newSocket[R role](r R, base **socket, kind zmq4.SocketType, o Options) (R, error) {
	o, err := o.withDefaults(kind == zmq4.Push)
	if err != nil {
		var none R
		return none, err
	}
	s := &socket{kind: kind, opt: o, role: r, peers: make(map[PeerID]*peer), closed: make(chan struct{})}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.events, s.intake = newNotifier(o.OnEvent), newIntake(o)
	*base = s
	return r, nil
}

// spawn starts a goroutine that Close waits for; false when it is too late.
func (s *socket) spawn(fn func()) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing {
		return false
	}
	s.wg.Go(func() { fn() })
	return true
}

// nextEndpoint numbers the calls of Connect and Listen.
func (s *socket) nextEndpoint() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.endpoints++
	return s.endpoints - 1
}

// admit makes a peer of a connection that has shaken hands. If the endpoint has most peers already, it makes none and
// returns the quietest of them.
func (s *socket) admit(g greeted, endpoint, most int) (p, quietest *peer, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx.Err() != nil {
		return nil, nil, errClosed
	}
	if g.proof.checks != s.checks {
		if err := s.stillProven(g.proof); err != nil {
			return nil, nil, err
		}
	}
	if quietest = s.quietestLocked(endpoint, most); quietest != nil {
		return nil, quietest, nil
	}
	conn, in := g.conn, g.in
	s.lastID++
	p = &peer{
		id: s.lastID, endpoint: endpoint, remote: remoteName(conn), proof: g.proof, conn: conn, in: in, queue: newSendQueue(s.opt),
		out: newFrameWriter(conn, s.opt.WriteTimeout), quit: make(chan struct{}), gone: make(chan struct{}),
	}
	p.known.Store(s.opt.Known == nil || s.opt.TLS != nil)
	in.share, in.most = s.intake.share(p), allowance
	s.role.setUp(p)
	in.report = s.opt.ReportTooLarge
	in.origin = Received{Peer: p.id, From: g.proof.from, Endpoint: endpoint}
	in.command = p.onCommand
	in.deadline = &readDeadline{conn: conn, stall: s.opt.ReadStall, silence: s.opt.MaxSilence}
	if inside, ok := conn.(*stream); ok {
		in.deadline.beneath, inside.wire.deadline = true, in.deadline
	}
	s.peers[p.id] = p
	return p, nil, nil
}

// quietestLocked returns the quietest peer of an endpoint that has most of them, nil if it has fewer. It is a stranger if there
// is one. The quietest is the oldest of those that never said anything, which no honest peer does: a PUSH says hello, a SUB
// subscribes, a REQ asks. When all have spoken it is the one that was silent longest. Refusing the new one was rejected: as
// many silent peers would lock out everybody.
func (s *socket) quietestLocked(endpoint, most int) (quietest *peer) {
	n := 0
	for _, p := range s.peers {
		if p.endpoint != endpoint {
			continue
		}
		n++
		if quietest == nil || p.quieter(quietest) {
			quietest = p
		}
	}
	if n < most {
		return nil
	}
	return quietest
}

// serve runs a peer to its end, in the caller's goroutine.
func (s *socket) serve(p *peer) {
	s.role.join(p)
	s.events.notify(Event{Kind: Connected, Peer: p.id, From: p.proof.from, Endpoint: p.endpoint, Remote: p.remote})

	writer := make(chan struct{})
	go func() { // awaited below
		defer close(writer)
		if err := p.writeLoop(); err != nil {
			p.fail(fmt.Errorf("zmqx: write to %s: %w", p.remote, err))
		}
	}()
	if err := p.readLoop(s.opt.Known, s.role.deliver); err != nil {
		p.fail(fmt.Errorf("zmqx: read from %s: %w", p.remote, err))
	}
	<-writer

	s.mu.Lock()
	delete(s.peers, p.id)
	s.mu.Unlock()
	close(p.gone)
	s.role.leave(p)
	dropped := p.queue.drop()
	s.opt.Logger.Debug("peer is gone", "socket", s.kind, "peer", p.id, "remote", p.remote, "dropped", dropped, "cause", p.cause)
	s.events.notify(Event{Kind: Disconnected, Peer: p.id, From: p.proof.from, Endpoint: p.endpoint, Remote: p.remote, Err: p.cause,
		Dropped: dropped})
}

func (s *socket) peer(id PeerID) (*peer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing {
		return nil, errClosed
	}
	if p := s.peers[id]; p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("%w: %d", errUnknownPeer, id)
}

func (s *socket) allPeers() []*peer {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]*peer, 0, len(s.peers))
	for _, p := range s.peers {
		all = append(all, p)
	}
	return all
}

// drainPeers waits until the queues of the present peers are written.
func (s *socket) drainPeers(ctx context.Context) {
	for _, p := range s.allPeers() {
		p.queue.drained(ctx, p.quit)
	}
}

// close ends the socket in this order: no new connections from outside, what is queued for connected peers is written for at most
// Linger, every connection is closed, every goroutine awaited, the last events heard, then end is called.
func (s *socket) close(drain func(context.Context), end func()) error {
	s.mu.Lock()
	if s.closing {
		s.mu.Unlock()
		<-s.closed
		return nil
	}
	s.closing = true
	listeners := s.listeners
	s.mu.Unlock()

	var err error
	for _, l := range listeners {
		if e := l.close(); e != nil && err == nil {
			err = e
		}
	}
	if s.opt.Linger > 0 && drain != nil {
		ctx, cancel := context.WithTimeout(s.ctx, s.opt.Linger)
		drain(ctx)
		cancel()
	}
	s.cancel()
	for _, p := range s.allPeers() {
		p.fail(errClosed)
	}
	s.wg.Wait()
	s.events.close()
	if end != nil {
		end()
	}
	close(s.closed)
	return err
}

// remoteName is for people; a client of a unix socket has no address.
func remoteName(conn net.Conn) string {
	if a := conn.RemoteAddr(); a != nil && a.String() != "" && a.String() != "@" {
		return a.String()
	}
	return conn.LocalAddr().String()
}
