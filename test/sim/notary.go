package sim

import (
	"hash/maphash"

	"posta.dev/posta/link"
	"posta.dev/posta/nodes/core"
)

// notary knows what is durable at one node. It reads every record that the disk takes, and looks at everything that leaves
// the node.
type notary struct {
	n      *node
	hash   maphash.Seed
	frames map[outKey]map[link.Seq]uint64 // content of every durable frame
	last   map[outKey]link.Seq
	hwm    map[wireKey]link.Hwm
}

// outKey is an outbox; to is empty where it serves all receivers.
type outKey struct {
	edge string
	to   link.NodeID
}

func newNotary(n *node) notary {
	return notary{
		n: n, hash: maphash.MakeSeed(), frames: map[outKey]map[link.Seq]uint64{}, last: map[outKey]link.Seq{},
		hwm: map[wireKey]link.Hwm{},
	}
}

func (y *notary) content(f *link.Frame) uint64 {
	var h maphash.Hash
	h.SetSeed(y.hash)
	h.Write([]byte{byte(f.Kind), byte(f.Stream)})
	h.Write(f.Session[:])
	h.Write(f.Payload)
	return h.Sum64()
}

// durable takes note of a record.
func (y *notary) durable(at link.LogIndex, data []byte) {
	w := y.n.w
	rec, err := core.Inspect(data)
	if err != nil {
		w.fail("N2: record %d of %s: %v", at, y.n.id, err)
		return
	}
	for i := range rec.Frames {
		y.produced(&rec.Frames[i])
	}
	for _, h := range rec.Hwms {
		k := wireKey{h.Edge, h.From, y.n.id}
		if old, ok := y.hwm[k]; ok && old.ID.LogID == h.ID.LogID && h.Seq < old.Seq {
			w.fail("R5: %s stores hwm %d of %s from %s after %d", y.n.id, h.Seq, h.Edge, h.From, old.Seq)
		}
		if old := y.hwm[k]; old.ID.LogID == h.ID.LogID && h.ID.Incarnation < old.ID.Incarnation {
			w.fail("R8: %s takes incarnation %d of %s for the present one, it knew %d", y.n.id, h.ID.Incarnation, h.From, old.ID.Incarnation)
		}
		y.hwm[k] = h
	}
}

// produced checks that numbers have no holes and stand for one content (R2).
func (y *notary) produced(p *core.Produced) {
	k := outKey{p.Edge, p.To}
	if p.Frame.Seq != y.last[k]+1 {
		y.n.w.fail("R2: %s stores frame %d of %s to %q after %d", y.n.id, p.Frame.Seq, p.Edge, p.To, y.last[k])
	}
	y.last[k] = p.Frame.Seq
	if y.frames[k] == nil {
		y.frames[k] = map[link.Seq]uint64{}
	}
	y.frames[k][p.Frame.Seq] = y.content(&p.Frame)
}

// sends checks a frame that is put on the wire.
func (y *notary) sends(f *link.Frame, to link.NodeID) {
	if f.Kind == link.Hello {
		return
	}
	for _, k := range []outKey{{f.Edge, to}, {f.Edge, ""}} {
		if content, ok := y.frames[k][f.Seq]; ok {
			if content != y.content(f) {
				y.n.w.fail("R2: %s sends something else as frame %d of %s to %q than it stored", y.n.id, f.Seq, f.Edge, to)
			}
			return
		}
	}
	y.n.w.fail("R3: %s sends frame %d of %s to %q before it is on its disk", y.n.id, f.Seq, f.Edge, to)
}

// acknowledges checks an acknowledgement that leaves.
func (y *notary) acknowledges(a *link.Ack) {
	h := y.hwm[wireKey{a.Edge, a.To, y.n.id}]
	if a.Log != (link.LogID{}) && a.Log == h.ID.LogID && a.Hwm > h.Seq {
		y.n.w.fail("R3: %s acknowledges frame %d of %s from %s, on its disk is %d", y.n.id, a.Hwm, a.Edge, a.To, h.Seq)
	}
}

// measure checks that memory stays bounded (R9).
func (y *notary) measure() {
	w := y.n.w
	for _, l := range y.n.core.Backlogs() {
		if l.Bytes > w.layout.window+overshoot(w) {
			w.fail("R9: %s has %d bytes under way on %s to %s, its window is %d", y.n.id, l.Bytes, l.Edge, l.To, w.layout.window)
		}
	}
}
