package sim

import (
	"bytes"
	"slices"
	"time"

	"posta.dev/posta/link"
	"posta.dev/posta/nodes/core"
	"posta.dev/posta/nodes/heartbeat"
	"posta.dev/posta/nodes/shell"
	"posta.dev/posta/topology"
)

type wireKey struct {
	edge     string
	from, to link.NodeID
}

// wire is one direction of one link. While it is connected it is first in, first out.
type wire struct {
	wireKey
	dialled   bool // by the receiver: PUB and SUB
	connected bool
	relaid    bool          // the former topology did not have it
	times     uint64        // how many times it was connected: frames on an earlier connection are lost
	clear     time.Duration // when the last frame will arrive

	arrived map[link.Seq]bool // frames that have reached the receiver; meaningless after a disk was lost
	late    traffic           // traffic since the faults have stopped
}

// traffic is what a wire has carried in a phase. It helps to find out why a run makes no progress.
type traffic struct {
	frames        map[link.Seq]int
	hellos        int
	acks, resends int // acknowledgements and requests for a resend that came back
}

// pair is one direction between two nodes.
type pair struct{ from, to link.NodeID }

func (w *world) layWires() {
	was := w.wireset
	w.wireset = nil
	for _, e := range w.layout.edges {
		for _, from := range e.senders {
			for _, to := range e.To {
				k := wireKey{e.Name, from, to}
				x := w.wires[k]
				if x == nil {
					x = &wire{wireKey: k, dialled: e.Broadcast, arrived: map[link.Seq]bool{}}
					x.late.frames = map[link.Seq]int{}
					w.wires[k] = x
				}
				x.relaid = x.relaid || w.rewiring.times > 0 && !slices.Contains(was, x)
				w.wireset = append(w.wireset, x)
			}
		}
	}
}

// cut breaks a connection; both ends try again after a while.
func (w *world) cut(x *wire) {
	if x.connected {
		w.tracef("%s %s→%s breaks", x.edge, x.from, x.to)
		x.connected = false
		x.times++
	}
	w.reconnect(x)
}

func (w *world) reconnect(x *wire) {
	w.After(w.Between(time.Millisecond, 200*time.Millisecond), func() {
		from, to := w.nodes[x.from], w.nodes[x.to]
		if x.connected || !from.up || !to.up {
			return
		}
		if w.blocked[pair{x.from, x.to}] || from.stopped || to.stopped {
			w.reconnect(x)
			return
		}
		x.connected = true
		x.clear = w.At
		w.tracef("%s %s→%s connected", x.edge, x.from, x.to)
		if x.dialled {
			to.event(link.Event{Connected: true, Incoming: true, Edge: x.edge, Node: x.from})
		} else {
			from.event(link.Event{Connected: true, Edge: x.edge, Node: x.to})
		}
	})
}

func (w *world) connectAll(n *node) {
	for _, x := range w.wireset {
		if x.from == n.id || x.to == n.id {
			w.reconnect(x)
		}
	}
}

// disconnectAll cuts all connections of a crashed process. Messages that the process had sent may still arrive: they are in the network.
func (w *world) disconnectAll(n *node) {
	for _, x := range w.wireset {
		if x.from == n.id || x.to == n.id {
			x.connected = false
			if x.to == n.id || w.Chance(0.7) {
				x.times++
			}
		}
	}
}

// receivers returns the nodes that a frame is for.
func (w *world) receivers(edge string, to link.NodeID) []link.NodeID {
	if to != "" {
		return []link.NodeID{to}
	}
	for i := range w.layout.edges {
		if e := &w.layout.edges[i]; e.Name == edge {
			return e.To
		}
	}
	return nil
}

// send sends what the shell lets leave.
func (n *node) send(o *shell.Output) {
	for _, a := range o.Acks {
		n.checker.acknowledges(&a)
		n.told(&a)
		n.w.ack(n, a)
	}
	for _, s := range o.Sends {
		if n.crashes("while sending") {
			return
		}
		n.sendFrames(s)
	}
	for _, r := range o.Replies {
		n.w.answer(n, r)
	}
	for _, p := range slices.Concat(o.Released, o.ReleasedRequests) {
		overwrite(p) // the sockets reuse the memory for later messages
		n.w.report.Counters["released"]++
	}
}

func (n *node) sendFrames(s core.Send) {
	w := n.w
	for i := range s.Frames {
		n.checker.sends(&s.Frames[i], s.To)
	}
	if s.To != "" {
		if took := n.push(w.wires[wireKey{s.Edge, n.id, s.To}], s.Frames); took < len(s.Frames) {
			n.unsent(&s, took)
		}
		return
	}
	for _, x := range w.wireset {
		if x.edge == s.Edge && x.from == n.id {
			n.push(x, s.Frames)
		}
	}
}

// push puts frames on a wire and returns how many were accepted.
func (n *node) push(x *wire, frames []link.Frame) int {
	w := n.w
	if !x.connected {
		if w.Chance(0.5) {
			return 0
		}
		return len(frames) // into a queue that is discarded
	}
	if r := w.faults.fullQueues; r != nil && w.At < w.faults.end && r.IntN(10) == 0 {
		w.injected("full queue")
		frames = frames[:r.IntN(len(frames))]
	}
	for i := range frames {
		if w.Chance(w.faults.drop) {
			continue
		}
		w.carry(x, frames[i])
		if w.Chance(w.faults.repeat) {
			w.carry(x, frames[i])
		}
		if w.Chance(w.faults.ghost) {
			w.ghost(x, frames[i])
		}
	}
	return len(frames)
}

// carry delivers a frame in its turn.
func (w *world) carry(x *wire, f link.Frame) {
	if size := len(f.Payload); size > w.layout.frame { // no receiver's socket would accept it, however often it is sent
		w.fail("R15: %s sends a frame of %d bytes to %s, and limits.frame is %d", x.from, size, x.to, w.layout.frame)
	}
	x.clear = max(x.clear, w.At+w.delay())
	times := x.times
	copies := w.damagedCopies(x, f)
	w.After(x.clear-w.At, func() {
		if x.times != times || w.blocked[pair{x.from, x.to}] {
			return
		}
		for _, c := range copies {
			w.deliver(c)
		}
	})
}

// ghost delivers a copy at any later time, even if the connection and the sending process have ended: a frame of a zombie (R8).
func (w *world) ghost(x *wire, f link.Frame) {
	whole := travelling{x, f.AppendHeader(nil), f.Payload, true}
	w.injected("ghost")
	w.After(w.Between(0, 5*time.Second), func() { w.deliver(whole) })
}

func (w *world) deliver(c travelling) {
	x, payload := c.to, c.payload
	n := w.nodes[x.to]
	if !n.up {
		return
	}
	f, err := link.DecodeFrame(&link.Interner{}, c.header, bytes.Clone(payload)) // it reaches another process
	if err != nil && !c.intact {
		return // the transport drops it
	}
	if err != nil {
		w.fail("R18: a frame does not come out as it went in: %v", err)
		return
	}
	w.mix('F', byte(f.Seq), byte(f.Kind), byte(len(payload)), byte(n.place), byte(n.index))
	if w.Trace != nil {
		w.tracef("%s %s→%s  %s %d stream %d, session %s, %d bytes, incarnation %d", x.edge, x.from, x.to, f.Kind, f.Seq, f.Stream,
			f.Session.String()[:8], len(payload), f.ID.Incarnation)
	}
	if c.intact {
		x.delivers(w, &f)
	}
	n.checker.arrives(&f, c.intact)
	n.hear(func() { n.event(link.Event{Frames: []link.Frame{f}}) })
}

// delivers notes a frame that has reached its receiver.
func (x *wire) delivers(w *world, f *link.Frame) {
	switch late := w.At > w.faults.end; {
	case f.Kind != link.Hello:
		x.arrived[f.Seq] = true
		if late {
			x.late.frames[f.Seq]++
		}
	case late:
		x.late.hellos++
	}
}

func (w *world) delay() time.Duration {
	if w.Chance(w.faults.slow) {
		return w.Between(10*time.Millisecond, 800*time.Millisecond)
	}
	return w.Between(50*time.Microsecond, 3*time.Millisecond)
}

// ack carries an acknowledgement. It may be lost, late, repeated or overtaken.
func (w *world) ack(from *node, a link.Ack) {
	to := w.nodes[a.To]
	body := a.Append(nil)
	for range w.copies() {
		d := w.delay()
		w.After(d, func() {
			if !to.up || w.blocked[pair{from.id, to.id}] {
				return
			}
			a, err := link.DecodeAck(&link.Interner{}, body)
			if err != nil {
				w.fail("R6: an acknowledgement does not come out as it went in: %v", err)
				return
			}
			w.mix('A', byte(a.Hwm))
			w.tracef("%s %s→%s  ack %d of %s, resend %v, incarnation %d of %s", a.Edge, a.Receiver, a.To, a.Hwm, a.Log, a.Resend,
				a.ID.Incarnation, a.ID.LogID)
			if x := w.wires[wireKey{a.Edge, a.To, a.Receiver}]; w.At > w.faults.end {
				x.late.acks++
				if a.Resend {
					x.late.resends++
				}
			}
			to.hear(func() { to.event(link.Event{Acks: []link.Ack{a}}) })
		})
	}
}

// copies returns how often a message without a sequence number arrives.
func (w *world) copies() int {
	switch {
	case w.Chance(w.faults.drop):
		return 0
	case w.Chance(w.faults.repeat):
		return 2
	}
	return 1
}

// heartbeat delivers a node's heartbeat to the inputs.
func (w *world) heartbeat(from *node, beat *heartbeat.Beat) {
	if w.faults.noHeartbeats {
		return
	}
	body := beat.Append(nil)
	for _, to := range w.nodesHolding(topology.Input) {
		if to == from {
			continue
		}
		for range w.copies() {
			w.After(w.delay(), func() {
				if to.up && !w.blocked[pair{from.id, to.id}] {
					to.hear(func() { to.event(link.Event{Heartbeat: body, Node: from.id}) })
				}
			})
		}
	}
}
