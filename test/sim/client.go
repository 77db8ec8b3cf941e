package sim

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"posta.dev/posta/internal/simulator/eventqueue"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/topology"
)

// client is one client with one session: it opens at every input in order, sends the reference streams over its lanes,
// ends them, sends the facts, ends them, asks for the results, closes. It says everything again until it is answered.
type client struct {
	w       *world
	n       int
	id      session.ID
	token   session.Token
	rival   *client // of the same id with another token (R17)
	upload  *upload
	want    answer
	inputs  []*node
	outputs []*node
	lanes   []*lane
	pieces  []piece // of the stream that is being sent
	working int     // lanes, or ends, that are not through with it
	sent    bool    // all streams have ended
	ended   string  // the last stream whose end every input has acknowledged
	doing   string

	out   int // which output is asked
	after uint64
	got   answer
	past  []pastRequest // for repeating old requests
	begun bool
	began time.Duration
	gone  bool // it has vanished

	admitted bool // an input has opened the session for it
	cancels  bool
	over     bool
	verdict  string // how it ended: empty for the right answer, else the code of a failure
}

// lane carries one chunk at a time to one input.
type lane struct {
	id    uint32
	input int
	seq   uint64
	acked uint64 // the last chunk that the input has acknowledged
}

type pastRequest struct {
	to   *node
	body []byte
}

func newClient(w *world) *client {
	c := &client{w: w, n: len(w.clients), upload: newUpload(w), doing: "waits"}
	for i := range c.id {
		c.id[i] = byte(w.Rand.IntN(256))
	}
	for i := range c.token {
		c.token[i] = byte(w.Rand.IntN(256))
	}
	c.want = c.upload.oracle()
	c.inputs, c.outputs = w.nodesHolding(topology.Input), w.nodesHolding(topology.Output)
	c.out = w.Rand.IntN(len(c.outputs))
	for i := range 1 + w.Rand.IntN(4) {
		c.lanes = append(c.lanes, &lane{id: uint32(i), input: w.Rand.IntN(len(c.inputs))})
	}
	return c
}

// newRival makes a client that uses the id of another, as one that was started twice does. It has its own token and its own rows.
func newRival(w *world, of *client) *client {
	c := newClient(w)
	c.id, c.rival, of.rival = of.id, of, c
	return c
}

func (c *client) String() string { return fmt.Sprintf("%d (session %s)", c.n, c.id.String()[:8]) }

func (c *client) begin() {
	w := c.w
	c.begun, c.began = true, w.At
	w.tracef("client %s begins, poison %q", c, c.upload.poison)
	if w.Chance(w.faults.vanish) {
		w.After(w.Between(0, 6*time.Second), c.vanish)
	} else if w.Chance(w.faults.cancel) {
		w.After(w.Between(0, 6*time.Second), c.cancel)
	}
	c.open(0)
}

// request is what all requests have in common.
func (c *client) request(t protocol.RequestType) protocol.Request {
	return protocol.Request{Type: t, Session: c.id, Token: c.token}
}

func (c *client) encoded(t protocol.RequestType) []byte {
	q := c.request(t)
	return q.Append(nil)
}

func (c *client) open(i int) {
	if i == len(c.inputs) {
		c.stream(0)
		return
	}
	q := c.request(protocol.Open)
	q.Analysis, q.Params = "simulated", c.upload.params
	c.doing = fmt.Sprintf("opens at %s", c.inputs[i].id)
	c.ask(c.inputs[i], q, func(r protocol.Reply) {
		switch {
		case r.Type == protocol.Opened && r.State == session.Running:
			c.admitted = true
			c.keepAliveAt(c.inputs[i]) // from now on: the next input may be away for long
			c.open(i + 1)
		case r.Err.Code == protocol.ErrBusy:
			c.pause(r.Err.RetryAfter, func() { c.open(i) })
		default:
			c.refused(c.inputs[i], r)
		}
	})
}

// keepAliveAt pings an input for as long as the session lives.
func (c *client) keepAliveAt(in *node) {
	c.pause(c.w.Between(clientTimeout/8, clientTimeout/4), func() {
		c.ask(in, c.ping(in), func(r protocol.Reply) {
			forgotten := r.Err.Code == protocol.ErrUnknownSession || r.Err.Code == protocol.ErrExpired || r.Err.Code == protocol.ErrClosed
			switch {
			case r.Type == protocol.OK && r.State != session.Failed, c.sent && forgotten:
				c.keepAliveAt(in)
			default:
				c.refused(in, r)
			}
		})
	})
}

// ping says what an input has acknowledged (R14).
func (c *client) ping(in *node) protocol.Request {
	q := c.request(protocol.Ping)
	q.Stream = c.ended
	for _, l := range c.lanes {
		if c.inputs[l.input] == in && l.acked > 0 {
			q.Lanes = append(q.Lanes, protocol.LaneSeq{Lane: l.id, Seq: l.acked})
		}
	}
	return q
}

func (c *client) stream(stream int) {
	if stream == len(c.upload.files) {
		c.sent = true
		c.got = answer{}
		c.results()
		return
	}
	c.pieces = c.upload.pieces(c.w, stream)
	c.working = len(c.lanes)
	c.doing = fmt.Sprintf("sends stream %d", stream)
	for _, l := range c.lanes {
		c.carry(stream, l)
	}
}

var streamNames = [...]string{"groups", "facts"}

func (c *client) carry(stream int, l *lane) {
	if len(c.pieces) == 0 {
		if c.working--; c.working == 0 {
			c.end(stream)
		}
		return
	}
	p := c.pieces[0]
	c.pieces = c.pieces[1:]
	l.seq++
	q := c.request(protocol.Chunk)
	q.Stream, q.Lane, q.Seq = streamNames[stream], l.id, l.seq
	q.File, q.Line, q.Header, q.Data = p.file.name, p.line, []byte(p.file.header), p.data
	in := c.inputs[l.input]
	c.ask(in, q, func(r protocol.Reply) {
		switch {
		case r.Type == protocol.OK && r.Lane == q.Lane && r.Seq == q.Seq:
			l.acked = q.Seq
			c.pause(c.w.Between(0, c.w.faults.think), func() { c.carry(stream, l) })
		case r.Err.Code == protocol.ErrBusy:
			c.pause(r.Err.RetryAfter, func() {
				l.seq--
				c.pieces = append(c.pieces, p)
				c.carry(stream, l)
			})
		default:
			c.refused(in, r)
		}
	})
}

func (c *client) end(stream int) {
	c.doing = fmt.Sprintf("ends stream %d", stream)
	c.working = len(c.inputs)
	for i, in := range c.inputs {
		q := c.request(protocol.End)
		q.Stream = streamNames[stream]
		for _, l := range c.lanes {
			if l.input == i && l.seq > 0 {
				q.Lanes = append(q.Lanes, protocol.LaneSeq{Lane: l.id, Seq: l.seq})
			}
		}
		c.ask(in, q, func(r protocol.Reply) {
			if r.Type != protocol.OK {
				c.refused(in, r)
				return
			}
			if c.working--; c.working == 0 {
				c.ended = streamNames[stream]
				c.stream(stream + 1)
			}
		})
	}
}

// results asks one output, and goes on with the next when it is silent or knows nothing.
func (c *client) results() {
	out := c.outputs[c.out]
	q := c.request(protocol.Results)
	q.After, q.Wait = c.after, eventqueue.OneOf(c.w.Queue, 0, 300*time.Millisecond)
	c.doing = fmt.Sprintf("asks %s for results after part %d", out.id, q.After)
	c.askOnce(out, q, q.Wait+time.Second, func(r *protocol.Reply) {
		switch {
		case r == nil:
			c.nextOutput()
			c.results()
		case r.Type == protocol.Parts && r.State == session.Failed:
			c.finish(protocol.ErrFailed, r.Reason)
		case r.Type == protocol.Parts:
			c.take(r)
		case r.Err.Code == protocol.ErrUnknownSession:
			c.nextOutput()
			c.ask(c.inputs[0], c.ping(c.inputs[0]), func(p protocol.Reply) {
				if p.Type != protocol.OK {
					c.refused(c.inputs[0], p)
					return
				}
				c.pause(100*time.Millisecond, c.results)
			})
		default:
			c.refused(out, *r)
		}
	})
}

func (c *client) nextOutput() {
	c.out = (c.out + 1) % len(c.outputs)
	c.after, c.got = 0, answer{}
}

func (c *client) take(r *protocol.Reply) {
	for i := range r.Parts {
		if p := &r.Parts[i]; p.N == c.after+1 {
			c.after = p.N
			c.got.add(p)
		} else {
			c.w.fail("client %s gets part %d after %d from %s", c, p.N, c.after, c.outputs[c.out].id)
		}
	}
	if !r.Complete {
		c.pause(c.w.Between(0, 200*time.Millisecond), c.results)
		return
	}
	if diff := c.got.differs(c.want); diff != "" {
		c.w.fail("D1: client %s gets a wrong answer from %s: %s", c, c.outputs[c.out].id, diff)
	}
	if c.upload.poison != "" {
		c.w.fail("N6: client %s gets an answer although its rows are poison", c)
	}
	c.finish("", "")
}

// refused is an answer that ends the session.
func (c *client) refused(from *node, r protocol.Reply) {
	code, reason := r.Err.Code, r.Err.Message
	if r.Type != protocol.Refused {
		code, reason = protocol.ErrFailed, fmt.Sprintf("%+v", r)
	}
	if code == protocol.ErrExpired && !c.gone {
		reason += " (said by " + string(from.id) + ")"
	}
	c.finish(code, reason)
}

// finish ends the session for this client, and checks that it may end this way.
func (c *client) finish(code protocol.Code, reason string) {
	if c.over {
		return
	}
	c.over, c.verdict = true, string(code)
	c.w.tracef("client %s is over: %s %s", c, code, reason)
	c.w.mix('E', byte(c.n), byte(len(code)))
	if code != "" && !c.permitted(code, reason) {
		rule := ""
		if c.rival != nil {
			rule = "R17: "
		}
		c.w.fail("%sclient %s ends with %s, and no fault permits it: %s", rule, c, code, reason)
	}
	if code == "" && !c.w.Chance(0.2) || code != "" && c.w.Chance(0.5) {
		for _, n := range slices.Concat(c.inputs, c.outputs) {
			c.post(n, c.encoded(protocol.Close), func(protocol.Reply) {})
		}
	}
}

// permitted says whether a fault that was injected allows such an end.
func (c *client) permitted(code protocol.Code, reason string) bool {
	switch {
	case (c.cancels || c.rival != nil && c.rival.cancels) && (code == protocol.ErrCancelled || code == protocol.ErrFailed && strings.Contains(reason, "was cancelled")):
		return true
	case c.mayHaveLost():
		return reason != ""
	case c.rival != nil && c.rivalPermits(code):
		return true
	case c.upload.poison != "" && code == protocol.ErrFailed:
		return c.saysWhere(reason)
	}
	return false
}

// rivalPermits says whether the other client of the id allows such an end: this one came too late, and hears how the other's session
// stands (R17). The one that was admitted hears nothing of the other.
func (c *client) rivalPermits(code protocol.Code) bool {
	r := c.rival
	if !r.begun || c.admitted {
		return false
	}
	if r.mayHaveLost() {
		return true
	}
	switch code {
	case protocol.ErrInUse:
		return true
	case protocol.ErrFinished:
		return r.sent || r.doing == "ends stream 1" // its end was heard, and the answer is still under way
	case protocol.ErrClosed:
		return r.over
	case protocol.ErrCancelled:
		return c.cancels || r.cancels || r.over // or it was closed before it was over
	case protocol.ErrExpired:
		return r.gone
	case protocol.ErrFailed:
		return c.cancels || r.cancels || r.upload.poison != ""
	}
	return false
}

// mayHaveLost says whether a lost disk may have held something of the session, or may be thought to have. A session that begins when
// the disks are new ones is not failed by those that were (R8), with two exceptions. Inputs hear of an input's lost disk from its
// heartbeat, and a session may be quicker. And a frame that comes out of nowhere long after the disk was lost is to someone who never
// heard the old log a new one.
func (c *client) mayHaveLost() bool {
	w := c.w
	return w.losses > 0 && (c.began <= w.wiped || w.inputWiped || w.report.Injected["ghost"] > 0)
}

// saysWhere checks that the reason of a poisoned session says where it happened (N6).
func (c *client) saysWhere(reason string) bool {
	words := []string{"analysis simulated", "panic"}
	switch c.upload.poison {
	case poisonParse:
		words = append(words, "parser", "stream facts", "line ")
	case poisonJoin:
		words = append(words, "joiner", "stream ", "line ")
	case poisonReduce:
		words = append(words, "reducer", "query totals")
	}
	for _, word := range words {
		if !strings.Contains(reason, word) {
			return false
		}
	}
	return true
}

// vanish: the client's process dies. What it had opened must go away by itself.
func (c *client) vanish() {
	if !c.over {
		c.w.injected("vanish")
		c.gone = true
		c.over, c.verdict = true, "vanished"
		c.w.tracef("client %s vanishes while it %s", c, c.doing)
	}
}

// cancel says cancel at one node, as another process could.
func (c *client) cancel() {
	if c.over {
		return
	}
	c.w.injected("cancel")
	c.cancels = true
	at := eventqueue.OneOf(c.w.Queue, slices.Concat(c.inputs, c.outputs)...)
	c.w.tracef("client %s cancels at %s", c, at.id)
	c.post(at, (&protocol.Request{Type: protocol.Cancel, Session: c.id, Force: true}).Append(nil), func(protocol.Reply) {})
}

// pause goes on later, if the session is not over.
func (c *client) pause(d time.Duration, then func()) {
	c.w.After(d, func() {
		if !c.over {
			then()
		}
	})
}
