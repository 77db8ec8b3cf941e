package sim

import (
	"slices"
	"time"

	"posta.dev/posta/link"
	"posta.dev/posta/nodes/core/record"
	"posta.dev/posta/test/simulator/eventqueue"
)

// A moment is a point in time at which a set-back log contradicts a peer: the log loses something that the node has just reported.
type moment string

const (
	afterAck   moment = "set back after an acknowledgement"
	afterEnd   moment = "set back after an end"
	atTakeover moment = "set back during a takeover"
)

// strike is a set-back that waits for its moment. A set-back at a random time hardly ever hits such a moment: what a node reported a second
// ago has mostly been repeated since, or the peer has forgotten it.
type strike struct {
	moment moment
	skip   int // how many such moments are skipped first
}

// drawStrikes plans set-backs of one to a thousand records, or to an older state, at chosen moments, in one seed of
// sixteen. The number of the seed decides, and not the source of chance, so that the other seeds keep their runs.
func (f *faults) drawStrikes(w *world) {
	if w.Seed%16 != 7 {
		return
	}
	for range 1 + w.Seed/16%3 {
		m := eventqueue.OneOf(w.Queue, afterAck, afterEnd, atTakeover)
		f.strikes = append(f.strikes, strike{m, w.Rand.IntN(map[moment]int{afterAck: 60, afterEnd: 20, atTakeover: 5}[m])})
		if m == atTakeover { // only such clients take sessions over, and only after another client was silent for a while
			f.again, f.end = true, max(f.end, 20*time.Second)
		}
	}
}

// backUps copies the disks from time to time, like a person who makes backups.
func (w *world) backUps() {
	if len(w.faults.strikes) == 0 || w.At >= w.faults.end {
		return
	}
	for _, n := range w.order {
		n.copies = append(n.copies, n.disk.clone())
		n.copies = n.copies[max(0, len(n.copies)-4):]
	}
	w.After(w.Between(100*time.Millisecond, 2*time.Second), w.backUps)
}

// momentOf is called at each moment of a node. peer is the node at the other end of the link, if there is one.
func (w *world) momentOf(m moment, n, peer *node) {
	if len(w.faults.strikes) == 0 || w.over || w.At >= w.faults.end {
		return
	}
	i := slices.IndexFunc(w.faults.strikes, func(s strike) bool { return s.moment == m })
	if i < 0 {
		return
	}
	s := &w.faults.strikes[i]
	if s.skip > 0 {
		s.skip--
		return
	}
	w.faults.strikes = slices.Delete(w.faults.strikes, i, i+1)
	delay := eventqueue.OneOf(w.Queue, 0, w.Between(0, 3*time.Millisecond), w.Between(0, 300*time.Millisecond))
	w.After(delay, func() { w.strike(m, n, peer) })
}

// strike sets back the node of the moment, its peer, both, all nodes of its stage, or all nodes.
func (w *world) strike(m moment, n, peer *node) {
	hit := []*node{n}
	switch w.Rand.IntN(6) {
	case 0, 1:
		if peer != nil {
			hit = []*node{peer}
		}
	case 2:
		if peer != nil {
			hit = append(hit, peer)
		}
	case 3:
		hit = nil
		for _, id := range n.stage().nodes() {
			hit = append(hit, w.nodes[id])
		}
	case 4:
		hit = slices.Clone(w.order)
	}
	w.injected(string(m))
	w.tracef("%s: %d nodes", m, len(hit))
	restore := w.Chance(0.4)
	records := eventqueue.OneOf(w.Queue, 1, 1, 2, 3, 5, 10, 30, 100, 1000)
	for _, n := range hit {
		if k := len(n.copies); restore && k > 0 {
			w.setBackTo(n, n.copies[w.Rand.IntN(k)])
		} else {
			w.setBackBy(n, records)
		}
	}
}

// told is called when an acknowledgement leaves a node.
func (n *node) told(a *link.Ack) {
	k := wireKey{a.Edge, a.To, n.id}
	if last, ok := n.toldHwm[k]; ok && a.Hwm > last && !a.Superseded {
		n.w.momentOf(afterAck, n, n.w.nodes[a.To])
	}
	n.toldHwm[k] = a.Hwm
}

// struckBy is called when a record is stored.
func (n *node) struckBy(rec *record.Record) {
	for i := range rec.Inputs {
		switch in := &rec.Inputs[i]; in.Op {
		case record.Ended:
			n.w.momentOf(afterEnd, n, n.w.nodes[in.From])
		case record.TakeOver:
			n.w.momentOf(atTakeover, n, n.w.nodes[in.From])
		}
	}
}
