package sim

import (
	"bytes"
	"time"

	"posta.dev/posta/internal/simulator/eventqueue"
	"posta.dev/posta/nodes/core"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol"
)

// attempt is one request over one connection. A client that hears nothing gives the connection up, so that a late answer
// finds nobody (the lazy pirate).
type attempt struct {
	answered func(protocol.Reply)
	over     bool
}

// ask says a request until it is answered or the session is over.
func (c *client) ask(to *node, q protocol.Request, then func(protocol.Reply)) {
	c.askOnce(to, q, c.w.Between(300*time.Millisecond, 2*time.Second), func(r *protocol.Reply) {
		if r == nil {
			c.ask(to, q, then)
			return
		}
		then(*r)
	})
}

// askOnce says a request once; then gets nil if there is no answer in time.
func (c *client) askOnce(to *node, q protocol.Request, deadline time.Duration, then func(*protocol.Reply)) {
	w := c.w
	body := q.Append(nil)
	try := c.post(to, body, func(r protocol.Reply) {
		if !c.over {
			then(&r)
		}
	})
	w.After(deadline, func() {
		if !try.over && !c.over {
			try.over = true
			then(nil)
		}
	})
	if w.Chance(w.faults.old) && len(c.past) > 0 {
		// Something that was sent before arrives once more, from a connection that was given up.
		s := eventqueue.OneOf(w.Queue, c.past...)
		w.injected("old request")
		c.post(s.to, s.body, func(protocol.Reply) {})
	}
	c.past = append(c.past, pastRequest{to, body})
}

// post sends a request over a new connection.
func (c *client) post(to *node, body []byte, answered func(protocol.Reply)) *attempt {
	w := c.w
	w.peer++
	peer := w.peer
	try := &attempt{answered: answered}
	w.peers[peer] = try
	if w.Chance(w.faults.drop) {
		return try
	}
	w.After(w.delay(), func() {
		if !to.up {
			return
		}
		to.hear(func() {
			w.mix('R', byte(to.index), byte(len(body)))
			if !to.core.Request(w.Now(), &role.Request{From: peer, Body: bytes.Clone(body)}) {
				w.fail("node %s knows nothing of a request", to.id)
			}
			to.wake()
		})
	})
	return try
}

// answer carries a reply back.
func (w *world) answer(from *node, r core.Reply) {
	reply, err := protocol.DecodeReply(append([]byte(nil), r.Body...))
	if err != nil {
		w.fail("node %s answers what no client can read: %v", from.id, err)
		return
	}
	try := w.peers[role.Peer(r.To)]
	delete(w.peers, r.To) // REQ: one answer to a request
	if try == nil || w.Chance(w.faults.drop) {
		return
	}
	w.After(w.delay(), func() {
		if !try.over {
			try.over = true
			w.tracef("%s answers %s %s %s", from.id, reply.Type, reply.State, reply.Err.Code)
			try.answered(reply)
		}
	})
}
