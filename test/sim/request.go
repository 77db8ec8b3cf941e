package sim

import (
	"bytes"
	"errors"
	"time"

	"posta.dev/posta/client/core"
	"posta.dev/posta/link"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol"
	"posta.dev/posta/security"
	"posta.dev/posta/test/simulator/eventqueue"

	nodecore "posta.dev/posta/nodes/core"
)

// conn is a connection of a client to a node. To the node each attempt comes from another peer, because a client closes the connection
// after a failed attempt (lazy pirate pattern).
type conn struct {
	to    *node
	try   uint64 // the number of the last attempt
	under bool   // the last attempt is under way
}

// attempt is what waits for a reply: an attempt of a session, or nothing.
type attempt struct {
	answered func(protocol.Reply)
	broken   func() // the connection is lost
}

type pastRequest struct {
	to   *node
	body []byte
}

// event tells the session about an event, and carries out what the session asks for.
func (c *client) event(tell func(now time.Time)) {
	if c.dead {
		return
	}
	if c.asleep {
		c.missed = append(c.missed, tell)
		return
	}
	tell(c.w.Now())
	c.speech.keepsAlive()
	c.act()
	c.goOn()
	c.setAlarm()
}

func (c *client) act() {
	o := c.session.Output()
	for _, d := range o.Dials {
		c.conns = append(c.conns, &conn{to: c.w.nodes[link.NodeID(d.Endpoint)]})
	}
	for _, id := range o.Drops {
		c.conns[id].under = false
	}
	for i := range o.Requests {
		c.send(&o.Requests[i])
	}
	for _, f := range o.Files {
		c.fileEnded(f)
	}
	for _, want := range o.Wants {
		c.w.After(c.w.Between(0, c.w.faults.think), func() { c.offer(want) })
	}
	if len(c.session.Rows()) > 0 && !c.taking {
		c.taking = true
		for _, r := range c.session.Rows() {
			c.got.add(&r)
		}
		c.w.After(c.w.Between(0, 200*time.Millisecond), func() {
			c.event(func(now time.Time) {
				c.taking = false
				c.session.Taken(now)
			})
		})
	}
}

// send makes one attempt. It may be lost, late, overtaken, and cut off with its connection. A reply always comes back
// to the session, even if the attempt was given up: the session must not take it for the reply to another attempt.
func (c *client) send(r *core.Request) {
	w := c.w
	id, try := r.Conn, r.Try
	x, q := c.conns[id], r.Message
	x.try, x.under = try, true
	c.speech.says(x.to, &q, r.Again)
	if r.Message.Type != protocol.Ping {
		c.asked = string(r.Message.Type) + " to " + string(x.to.id)
		c.ending = c.ending || r.Message.Type == protocol.End && r.Message.Stream == streamNames[streamFacts]
	}
	body := r.Message.Append(nil)
	w.postAs(c.who, x.to, body, &attempt{
		answered: func(reply protocol.Reply) {
			c.event(func(now time.Time) {
				if try == x.try && x.under {
					x.under = false
					c.speech.hears(x.to, &q, &reply)
					c.admitted(&reply)
				}
				c.session.Reply(id, try, reply, now)
			})
		},
		broken: func() {
			if try == x.try && x.under {
				c.w.injected("broken connection")
			}
			c.event(func(now time.Time) { c.session.Broken(id, try, errBroken, now) })
		},
	})
	if w.Chance(w.faults.old) && len(c.past) > 0 {
		// An earlier request arrives once more, from a connection that was given up.
		s := eventqueue.OneOf(w.Queue, c.past...)
		w.injected("old request")
		w.postAs(c.who, s.to, s.body, nil)
	}
	c.past = append(c.past, pastRequest{x.to, body})
}

var errBroken = errors.New("the connection broke")

// offer gives a lane its next chunk, if there is one.
func (c *client) offer(to core.Want) {
	if c.dead {
		return
	}
	if c.asleep {
		c.w.After(time.Second, func() { c.offer(to) })
		return
	}
	if !c.cut[to.Stream] {
		c.cut[to.Stream] = true
		var err error
		if c.pieces[to.Stream], err = c.upload.pieces(c.w, to.Stream, c.taken); err != nil {
			c.event(func(now time.Time) { c.session.Stop(err, now) })
			return
		}
		if c.taken == nil { // a resumed upload sends all files itself
			c.placeFiles(to.Stream)
		}
	}
	if c.offerFile(to) {
		return
	}
	left := c.pieces[to.Stream]
	if len(left) == 0 && c.placed.under > 0 { // if no input reads a file, this client has to send it
		c.placed.idle = append(c.placed.idle, to)
		return
	}
	if len(left) == 0 {
		c.event(func(now time.Time) { c.session.Drained(to.Lane, now) })
		return
	}
	p := left[0]
	c.pieces[to.Stream] = left[1:]
	c.event(func(now time.Time) {
		c.session.Chunk(to.Lane, core.Chunk{File: p.file.name, Line: p.line, At: p.from, Header: []byte(p.file.header), Data: p.data}, now)
	})
}

// goOn begins the next task when one has ended, like client.Run.
func (c *client) goOn() {
	for !c.dead && !c.session.Pending() {
		if c.over {
			if done, _ := c.session.Told(); done {
				c.dead = true // the process ends
			}
			return
		}
		err := c.session.Err()
		c.task++
		c.sent = c.session.Phase() == core.Uploaded
		now := c.w.Now()
		switch {
		case err != nil || c.task == 4:
			c.ended(err)
			c.session.Leave(err, c.w.Chance(0.2), now)
		case c.task == 1:
			c.session.Open(now)
		case c.task == 2 && !c.sent && c.resumes:
			c.takeUp(now)
		case c.task == 2 && !c.sent:
			c.session.Upload(now)
		case c.task == 2:
			continue
		case c.task == 3:
			c.session.Results(now)
		}
		c.act()
	}
}

// setAlarm plans a tick for the time at which the session asked for one, or a little later.
func (c *client) setAlarm() {
	at := c.session.Alarm()
	if at.IsZero() || c.dead {
		return
	}
	in := max(0, at.Sub(c.w.Now()))
	if due := c.w.At + in; c.alarm > 0 && c.alarm <= due {
		return
	}
	if c.w.Chance(0.05) {
		in += c.w.Between(0, 300*time.Millisecond)
	}
	due := c.w.At + in
	c.alarm = due
	c.w.After(in, func() {
		if c.alarm != due {
			return
		}
		c.alarm = 0
		c.event(c.session.Tick)
	})
}

// postAs sends a client's request over a new connection; try is nil if nobody waits for the reply.
func (w *world) postAs(who security.Identity, to *node, body []byte, try *attempt) {
	w.peer++
	peer := w.peer
	if try != nil {
		w.peers[peer] = try
	}
	lost := func() {
		if try != nil && w.Chance(0.5) {
			w.After(w.delay(), try.broken)
		}
	}
	if w.Chance(w.faults.drop) {
		lost()
		return
	}
	w.After(w.delay(), func() {
		if !to.up {
			lost()
			return
		}
		if len(body) > w.layout.frame { // the socket does not read it, and replies that it is too large (R15)
			w.injected("large request")
			if try != nil {
				try.answered(protocol.Refuse(protocol.ErrTooLarge, "the request is too large"))
			}
			return
		}
		to.hear(func() {
			w.mix('R', byte(to.index), byte(len(body)))
			w.gates.hears(to, peer, body)
			to.request(peer, who, bytes.Clone(body))
		})
	})
}

// answer carries a reply back.
func (w *world) answer(from *node, r nodecore.Reply) {
	reply, err := protocol.DecodeReply(append([]byte(nil), r.Body...))
	if err != nil {
		w.fail("node %s answers what no client can read: %v", from.id, err)
		return
	}
	w.gates.answers(from, r.To, &reply)
	try := w.peers[role.Peer(r.To)]
	delete(w.peers, r.To) // REQ: one answer to each request
	if try == nil || w.Chance(w.faults.drop) {
		return
	}
	w.After(w.delay(), func() {
		w.tracef("%s answers %s %s %s", from.id, reply.Type, reply.State, reply.Err.Code)
		try.answered(reply)
	})
}
