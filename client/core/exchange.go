package core

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"posta.dev/posta/protocol"
)

// purpose says what an exchange is for.
type purpose int

const (
	nothing     purpose = iota
	discovering         // an entry is asked which nodes there are
	looking             // an input is asked whether there is a session to resume
	opening             // an input is asked for the session
	pinging             // an input is told that the client lives, and what it has acknowledged
	carrying            // a lane sends a chunk
	reading             // a lane has its input read a file
	ending              // an input is told that a stream has ended
	polling             // an output is asked for parts of the answer
	locating            // an input is asked where the outputs are now
	checking            // an input is asked whether there is such a session
	explaining          // an output is asked why an input does not know the session
	telling             // a node is told cancel or close
	listing             // a node is asked for its sessions
)

// exchange is a request from its first try to its outcome.
type exchange struct {
	purpose purpose
	request protocol.Request
	want    protocol.ReplyType
	once    bool          // one try, whose silence is an outcome; otherwise it is tried until it is answered
	wait    time.Duration // how long the first try waits; 0 is Config.Timeout
	longest time.Duration // bounds the wait of a try, which doubles each time; 0 is longestTry timeouts
}

// conn is one connection. It carries one exchange at a time; the others wait.
type conn struct {
	id       ConnID
	node     *node
	lane     *lane // nil unless it carries chunks
	x        exchange
	waiting  []exchange // at most one of each purpose, so it is short
	try      uint64     // number of the last try; never reset
	tries    int        // of the present exchange
	wait     time.Duration
	started  time.Time // when the present try was sent
	deadline time.Time // when the present try is given up
}

// node is an entry, an input or an output. A node that is both input and output is represented twice, because a poll that waits for an
// answer would delay pings.
type node struct {
	endpoint string
	conn     *conn
	heard    time.Time // when its last reply came, over any connection
	refused  error     // why it has refused this process since its last reply; wraps ErrRefused

	// Of inputs.
	bears  time.Duration      // how long the client may be silent before the input gives it up; 0 if the input does not say
	pingAt time.Time          // when the next ping is due; zero for none
	ended  string             // the last stream whose end it has acknowledged
	former []protocol.LaneSeq // lanes of the former client that no lane of this client continues
}

func (c *conn) busy() bool { return c.x.purpose != nothing }

// repeating reports whether the request under way had to be repeated.
func (c *conn) repeating() bool { return c.busy() && c.tries > 1 }

// longestTry bounds the wait of a try, in timeouts. The wait grows from try to try for two reasons: a chunk that the network needs more
// than one timeout to carry would never arrive, and a cluster that holds a chunk back would receive all of it again with each try. Long
// waits do not hide a dead node, because its connection breaks at once.
const longestTry = 8

// shortestTry is how soon a try that failed at once is repeated.
const shortestTry = 50 * time.Millisecond

// connect makes a connection.
func (s *Session) connect(n *node, l *lane) *conn {
	c := &conn{id: ConnID(len(s.conns)), node: n, lane: l}
	s.conns = append(s.conns, c)
	s.out.Dials = append(s.out.Dials, Dial{c.id, n.endpoint})
	return c
}

// newNode connects to an endpoint.
func (s *Session) newNode(endpoint string) *node {
	n := &node{endpoint: endpoint, heard: s.now}
	n.conn = s.connect(n, nil)
	return n
}

// ask begins an exchange, or lets it wait for its turn. If one of the same purpose is under way or waits already, x is dropped.
func (s *Session) ask(c *conn, x exchange) {
	if x.wait == 0 {
		x.wait = s.cfg.Timeout
	}
	if c.busy() {
		same := func(w exchange) bool { return w.purpose == x.purpose }
		if !same(c.x) && !slices.ContainsFunc(c.waiting, same) {
			c.waiting = append(c.waiting, x)
		}
		return
	}
	s.start(c, x)
}

// askNow begins an exchange before all others on the connection. The one that is under way there begins again afterwards.
func (s *Session) askNow(c *conn, x exchange) {
	if x.wait == 0 {
		x.wait = s.cfg.Timeout
	}
	if c.busy() {
		c.waiting = slices.Insert(c.waiting, 0, c.x)
	}
	s.start(c, x)
}

func (s *Session) start(c *conn, x exchange) {
	if x.longest == 0 {
		x.longest = longestTry * s.cfg.Timeout
	}
	c.x, c.tries, c.wait = x, 0, x.wait
	s.send(c)
}

// send begins a try.
func (s *Session) send(c *conn) {
	c.try++
	c.tries++
	c.started, c.deadline = s.now, s.now.Add(c.wait)
	s.out.Requests = append(s.out.Requests, Request{Conn: c.id, Try: c.try, Again: c.tries > 1, Message: c.x.request})
}

// drop gives up the exchange that is under way on a connection and those that wait for it.
func (s *Session) drop(c *conn) {
	c.waiting = nil
	if c.busy() {
		c.x = exchange{}
		s.out.Drops = append(s.out.Drops, c.id)
	}
}

// Reply takes a reply that came over a connection. A reply to a try that was given up is ignored.
func (s *Session) Reply(id ConnID, try uint64, reply protocol.Reply, now time.Time) {
	s.now = now
	c := s.conns[id]
	if !c.busy() || c.try != try {
		return
	}
	s.heard, c.node.heard, c.node.refused = now, now, nil
	err := reply.Failure()
	if err == nil && reply.Type != c.x.want {
		err = fmt.Errorf("%s answers %q where something else was asked; do client and cluster have the same version? %w",
			c.node.endpoint, reply.Type, protocol.ErrInvalid)
	}
	s.complete(c, reply, err)
}

// Broken takes the failure of a try: the connection was refused or lost, or (protocol.ErrInvalid) the answer was not a reply.
func (s *Session) Broken(id ConnID, try uint64, why error, now time.Time) {
	s.now = now
	c := s.conns[id]
	switch {
	case !c.busy() || c.try != try:
	case errors.Is(why, protocol.ErrInvalid):
		s.heard, c.node.heard, c.node.refused = now, now, nil
		s.complete(c, protocol.Reply{}, why)
	case errors.Is(why, ErrRefused) && c.x.purpose == discovering: // the next entry may let this client in
		s.complete(c, protocol.Reply{}, why)
	case errors.Is(why, ErrRefused) && c.node.refused == nil:
		c.node.refused = why
		fallthrough
	case now.Sub(c.started) < shortestTry: // nobody listens there: do not try again at once
		if again := now.Add(s.jitter(shortestTry)); again.Before(c.deadline) {
			c.deadline = again
		}
	default:
		s.silent(c)
	}
}

// silent handles a try that had no answer in time.
func (s *Session) silent(c *conn) {
	switch {
	case c.x.once:
		s.out.Drops = append(s.out.Drops, c.id)
		s.complete(c, protocol.Reply{}, c.node.silence(fmt.Errorf("%w from %s", errSilent, c.node.endpoint)))
	case c.x.purpose != telling && s.gaveUp():
		s.out.Drops = append(s.out.Drops, c.id)
		s.complete(c, protocol.Reply{}, c.node.silence(fmt.Errorf("%w at %s for %v; start one with `posta up`, or check the address",
			ErrNoCluster,
			c.node.endpoint, s.cfg.GiveUpAfter)))
	default:
		s.retries++
		c.wait = min(2*c.wait, c.x.longest)
		s.send(c)
	}
}

// silence adds to err why the node refuses this process, if the node does.
func (n *node) silence(err error) error {
	if n.refused != nil {
		return fmt.Errorf("%w: %w", err, n.refused)
	}
	return err
}

// gaveUp reports whether no node has answered for longer than Config.GiveUpAfter. A reply that refuses a request is an answer, because its
// node is alive.
func (s *Session) gaveUp() bool {
	return s.cfg.GiveUpAfter >= 0 && s.now.Sub(s.heard) > s.cfg.GiveUpAfter
}

// complete ends an exchange with its outcome, and lets the next one begin.
func (s *Session) complete(c *conn, reply protocol.Reply, err error) {
	p := c.x.purpose
	c.x = exchange{}
	switch p {
	case discovering:
		s.discovered(reply, err)
	case looking:
		s.lookedAt(err)
	case opening:
		s.openedAt(c.node, reply, err)
	case pinging:
		s.pinged(c.node, reply, err)
	case carrying:
		s.carried(c.lane, reply, err)
	case reading:
		s.readAt(c.lane, reply, err)
	case ending:
		s.endedAt(c.node, err)
	case polling:
		s.polled(c.node, reply, err)
	case locating:
		s.located(reply, err)
	case checking:
		s.checked(c.node, reply, err)
	case explaining:
		s.explained(reply, err)
	case telling:
		s.told(c.node, reply, err)
	case listing:
		s.listed(c.node, reply, err)
	}
	if !c.busy() && len(c.waiting) > 0 {
		x := c.waiting[0]
		c.waiting = slices.Delete(c.waiting, 0, 1)
		s.start(c, x)
	}
}

// jitter spreads a delay over three quarters to five quarters of itself, so that clients turned away together do not come
// back together.
func (s *Session) jitter(d time.Duration) time.Duration {
	return d*3/4 + time.Duration(s.cfg.Rand.Int64N(int64(d/2)+1))
}
