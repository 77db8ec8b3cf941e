package sim

import (
	"hash/maphash"

	"posta.dev/posta/link"
	"posta.dev/posta/nodes/core/record"
)

// checker knows what is durable at one node. It reads every record that the disk takes, and checks everything that leaves the node.
type checker struct {
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

func newChecker(n *node) checker {
	return checker{
		n: n, hash: maphash.MakeSeed(), frames: map[outKey]map[link.Seq]uint64{}, last: map[outKey]link.Seq{},
		hwm: map[wireKey]link.Hwm{},
	}
}

func (c *checker) content(f *link.Frame) uint64 {
	var h maphash.Hash
	h.SetSeed(c.hash)
	h.Write([]byte{byte(f.Kind), byte(f.Stream)})
	h.Write(f.Session[:])
	h.Write(f.Payload)
	return h.Sum64()
}

// durable reads a record that the disk has taken.
func (c *checker) durable(at link.LogIndex, data []byte) {
	w := c.n.w
	rec, err := record.Decode(data)
	if err != nil {
		w.fail("N2: record %d of %s: %v", at, c.n.id, err)
		return
	}
	for i := range rec.Frames {
		c.produced(&rec.Frames[i])
	}
	for _, h := range rec.Hwms {
		k := wireKey{h.Edge, h.From, c.n.id}
		if old, ok := c.hwm[k]; ok && old.ID.LogID == h.ID.LogID && h.Seq < old.Seq {
			w.fail("R5: %s stores hwm %d of %s from %s after %d", c.n.id, h.Seq, h.Edge, h.From, old.Seq)
		}
		if old := c.hwm[k]; old.ID.LogID == h.ID.LogID && h.ID.Incarnation < old.ID.Incarnation {
			w.fail("R8: %s takes incarnation %d of %s for the present one, it knew %d", c.n.id, h.ID.Incarnation, h.From, old.ID.Incarnation)
		}
		c.hwm[k] = h
	}
}

// produced checks that numbers have no holes and stand for one content (R2).
func (c *checker) produced(p *record.Frame) {
	k := outKey{p.Edge, p.To}
	if p.Frame.Seq != c.last[k]+1 {
		c.n.w.fail("R2: %s stores frame %d of %s to %q after %d", c.n.id, p.Frame.Seq, p.Edge, p.To, c.last[k])
	}
	c.last[k] = p.Frame.Seq
	if c.frames[k] == nil {
		c.frames[k] = map[link.Seq]uint64{}
	}
	c.frames[k][p.Frame.Seq] = c.content(&p.Frame)
}

// sends checks a frame that is put on the wire.
func (c *checker) sends(f *link.Frame, to link.NodeID) {
	if f.Kind == link.Hello {
		return
	}
	for _, k := range []outKey{{f.Edge, to}, {f.Edge, ""}} {
		if content, ok := c.frames[k][f.Seq]; ok {
			if content != c.content(f) {
				c.n.w.fail("R2: %s sends something else as frame %d of %s to %q than it stored", c.n.id, f.Seq, f.Edge, to)
			}
			return
		}
	}
	c.n.w.fail("R3: %s sends frame %d of %s to %q before it is on its disk", c.n.id, f.Seq, f.Edge, to)
}

// acknowledges checks an acknowledgement that leaves.
func (c *checker) acknowledges(a *link.Ack) {
	h := c.hwm[wireKey{a.Edge, a.To, c.n.id}]
	if a.Log != (link.LogID{}) && a.Log == h.ID.LogID && a.Hwm > h.Seq {
		c.n.w.fail("R3: %s acknowledges frame %d of %s from %s, on its disk is %d", c.n.id, a.Hwm, a.Edge, a.To, h.Seq)
	}
}

// measure checks that memory stays bounded (R9).
func (c *checker) measure() {
	w := c.n.w
	for _, l := range c.n.core.Links() {
		if l.Bytes > uint64(w.layout.window+overshoot(w)) {
			w.fail("R9: %s has %d bytes under way on %s to %s, its window is %d", c.n.id, l.Bytes, l.Edge, l.To, w.layout.window)
		}
	}
}
