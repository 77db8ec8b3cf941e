package sim

import (
	"bytes"
	"math/rand/v2"
	"slices"

	"posta.dev/posta/link"
	"posta.dev/posta/nodes/core/record"
	"posta.dev/posta/topology"
)

// damage changes frames on their way, as a broker's disk or a proxy may, and confuses links (R18). It draws from its own source of chance,
// so that seeds without it keep their runs.
type damage struct {
	rand  *rand.Rand
	p     float64 // the probability for each frame; 0 for none
	other []byte  // a payload that was sent before
}

func newDamage(seed uint64) damage {
	d := damage{rand: rand.New(rand.NewPCG(seed, 0x18))}
	if d.rand.Float64() < 0.1 {
		d.p = []float64{0.01, 0.05, 0.2}[d.rand.IntN(3)]
	}
	return d
}

// damagedCopies returns what arrives for a frame: the frame itself, or something else in its place or after it.
func (w *world) damagedCopies(x *wire, f link.Frame) []travelling {
	d := &w.damage
	whole := travelling{x, f.AppendHeader(nil), f.Payload, true}
	if d.p == 0 || d.rand.Float64() >= d.p {
		return []travelling{whole}
	}
	w.injected("damage")
	bad := travelling{to: x}
	g := f
	switch d.rand.IntN(5) {
	case 0: // another number, behind the frame that has it
		g.Seq++
		bad.header, bad.payload = g.AppendHeader(nil), g.Payload
		return []travelling{whole, bad}
	case 1: // the link of another receiver
		if other := w.siblings(x); len(other) > 0 {
			whole.to, whole.intact = other[d.rand.IntN(len(other))], false
			return []travelling{whole}
		}
		return nil
	case 2: // the content of another frame
		if g.Payload, d.other = d.other, f.Payload; bytes.Equal(g.Payload, f.Payload) {
			return []travelling{whole}
		}
		bad.header, bad.payload = g.AppendHeader(nil), g.Payload
	default: // one bit
		bad.header, bad.payload = whole.header, bytes.Clone(whole.payload)
		if bit := d.rand.IntN(8 * (len(bad.header) + len(bad.payload))); bit < 8*len(bad.header) {
			bad.header[bit/8] ^= 1 << (bit % 8)
		} else {
			bit -= 8 * len(bad.header)
			bad.payload[bit/8] ^= 1 << (bit % 8)
		}
	}
	return []travelling{bad}
}

// travelling is a frame on its way, as it will arrive.
type travelling struct {
	to              *wire
	header, payload []byte
	intact          bool // it is as it was sent, on its own link
}

// siblings returns the links from the same sender to the other receivers of an edge, where each has an outbox of its own.
func (w *world) siblings(x *wire) (all []*wire) {
	for _, e := range w.layout.edges {
		if e.Name == x.edge && e.Route == topology.All {
			return nil // all receivers get the same
		}
	}
	for _, y := range w.wireset {
		if y != x && y.edge == x.edge && y.from == x.from {
			all = append(all, y)
		}
	}
	return all
}

// arrivedKey is a frame of a sender's log on a link to one incarnation of a node.
type arrivedKey struct {
	life uint64
	edge string
	from link.NodeID
	log  link.LogID
	seq  link.Seq
}

// arrivals is what has reached a node, including what its disk has lost.
type arrivals struct {
	arrived map[arrivedKey]bool // frames, in the form in which they were made; false if only damaged forms arrived (R18)
	floors  map[arrivedKey]link.Seq
	said    map[wireKey][]link.Identity // in intact hellos
}

func newArrivals() arrivals {
	return arrivals{map[arrivedKey]bool{}, map[arrivedKey]link.Seq{}, map[wireKey][]link.Identity{}}
}

// arrives notes a frame that has reached its node, and of a hello its floor, up to which no frames need come.
func (c *checker) arrives(f *link.Frame, intact bool) {
	k := arrivedKey{c.n.life, f.Edge, f.From, f.ID.LogID, f.Seq}
	if f.Kind != link.Hello {
		c.arrived[k] = c.arrived[k] || intact
	} else if h, err := link.DecodeHello(f.Payload); intact && err == nil && h.To == c.n.id {
		c.floors[k] = max(c.floors[k], h.Floor)
		on := wireKey{f.Edge, f.From, c.n.id}
		c.said[on] = append(c.said[on], f.ID)
	}
}

// tookIntact checks that no hwm moves over a frame that arrived only in damaged forms, and that a sender's identity is
// stored only after an intact hello (R18).
func (c *checker) tookIntact(rec *record.Record) {
	for _, h := range rec.Hwms {
		on := wireKey{h.Edge, h.From, c.n.id}
		before := c.hwm[on]
		if h.ID != before.ID && h.ID != (link.Identity{}) && !slices.Contains(c.said[on], h.ID) {
			c.n.w.fail("R18: %s takes %v for the log of %s on %s, which only damaged hellos have said", c.n.id, h.ID, h.From, h.Edge)
		}
		k := arrivedKey{c.n.life, h.Edge, h.From, h.ID.LogID, 0}
		if before.ID.LogID != h.ID.LogID {
			before.Seq = 0
		}
		for seq := max(before.Seq, c.floors[k]) + 1; seq <= h.Seq; seq++ {
			k.seq = seq
			if intact, came := c.arrived[k]; came && !intact {
				c.n.w.fail("R18: %s takes frame %d of %s from %s, of which only damaged copies have come, or copies of other links", c.n.id, seq,
					h.Edge, h.From)
			}
		}
	}
}
