package sim

import (
	"bytes"
	"hash/maphash"
	"maps"
	"slices"

	"posta.dev/posta/link"
	"posta.dev/posta/nodes/core/record"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/topology"
	"posta.dev/posta/wal"
)

// checker knows what is durable at one node. It reads every record that the disk takes, and checks everything that leaves the node.
type checker struct {
	n       *node
	hash    maphash.Seed
	kept    []stored                       // every durable record that the disk still has
	gone    int                            // how many of them were cut
	frames  map[outKey]map[link.Seq]uint64 // content of every durable frame
	last    map[outKey]link.Seq
	hwm     map[wireKey]link.Hwm
	had     map[wireKey]link.Hwm // hwm when this incarnation began
	givenUp map[outKey]link.Seq  // how many numbers may have been given up since the last frame, because the topology was without the outbox
	jumps   map[outKey]bool      // the next frame's number is unknown: see reopened
	before  wal.Index            // the last record of the former topology: its frames for receivers of that topology may be given up
	adopts  bool                 // it hears of a log that was begun elsewhere: a repaired log has another id, and the records of the old one
	open    map[session.ID]bool  // sessions that the log has opened; false once it has closed them

	founder map[session.ID]session.TokenHash // who began the session that open reports

	opens map[outKey]map[session.ID]link.Seq // which frame of an outbox opens a session
	acked map[wireKey]link.Acked             // what receivers have acknowledged, as this node's records say
	*arrivals

	sealed uint64 // frames that this incarnation has taken for sealed commits; stored: for stored ones (R5)
	stored uint64
}

// outKey is an outbox; to is empty where it serves all receivers.
type outKey struct {
	edge string
	to   link.NodeID
}

func newChecker(n *node) *checker {
	return &checker{
		n: n, hash: maphash.MakeSeed(), frames: map[outKey]map[link.Seq]uint64{}, last: map[outKey]link.Seq{}, givenUp: map[outKey]link.Seq{},
		jumps: map[outKey]bool{},
		hwm:   map[wireKey]link.Hwm{}, open: map[session.ID]bool{}, founder: map[session.ID]session.TokenHash{},
		opens: map[outKey]map[session.ID]link.Seq{}, acked: map[wireKey]link.Acked{}, arrivals: &n.arrivals,
	}
}

// begins is called when an incarnation begins.
func (c *checker) begins() {
	c.sealed, c.stored = 0, 0
	c.had = maps.Clone(c.hwm)
}

// seals is called when a commit was sealed.
func (c *checker) seals() { c.sealed = c.n.core().Counters.FramesIn }

func (c *checker) content(f *link.Frame) uint64 {
	var h maphash.Hash
	h.SetSeed(c.hash)
	h.Write([]byte{byte(f.Kind), byte(f.Stream)})
	h.Write(f.Session[:])
	h.Write(f.Payload)
	return h.Sum64()
}

// durable reads a record that the disk has taken.
func (c *checker) durable(at wal.Index, data []byte) {
	w := c.n.w
	c.kept = append(c.kept, stored{at, data})
	rec, err := record.Decode(data)
	if err != nil {
		w.fail("N2: record %d of %s: %v", at, c.n.id, err)
		return
	}
	for i := range rec.Frames {
		c.produced(&rec.Frames[i])
	}
	c.sessions(rec)
	c.n.struckBy(rec)
	c.hearsOfLosses(rec)
	c.tookIntact(rec)
	c.moved(rec)
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

// sessions checks that a session that has left the node does not come back (R13). If another client begins one under
// the same id, that is another session: the first input decides whether it may (R17).
func (c *checker) sessions(rec *record.Record) {
	for _, in := range rec.Inputs {
		switch in.Op {
		case record.Drop:
			c.open[in.Session] = false
		case record.Open:
			founder := founderOf(in.Payload)
			if open, known := c.open[in.Session]; known && !open && founder == c.founder[in.Session] {
				c.n.w.fail("R13: %s opens session %s, which has left it", c.n.id, in.Session)
			}
			c.open[in.Session], c.founder[in.Session] = true, founder
		}
	}
}

// hearsOfLosses checks a node which stores that a receiver has another log now: in the same commit, it must fail the sessions that the lost
// log had begun to take (R8).
func (c *checker) hearsOfLosses(rec *record.Record) {
	for _, p := range rec.Progress {
		for _, a := range p.Acked {
			k := wireKey{p.Edge, c.n.id, a.Node}
			old := c.acked[k]
			c.acked[k] = a
			if old.Log == (link.LogID{}) || old.Log == a.Log {
				continue
			}
			opens := c.opens[outKey{p.Edge, p.To}]
			for _, id := range slices.SortedFunc(maps.Keys(opens), func(a, b session.ID) int { return bytes.Compare(a[:], b[:]) }) {
				if c.open[id] && opens[id] <= old.Seq {
					c.n.w.fail("R8: %s hears that %s has lost the log that acknowledged frame %d of %s, and continues with session %s", c.n.id, a.Node,
						opens[id], p.Edge, id)
				}
			}
		}
	}
}

// founderOf returns the client that began the session of an announcement.
func founderOf(announcement []byte) session.TokenHash {
	a, err := role.DecodeAnnouncement(announcement)
	if err != nil {
		panic("R13: a log holds an announcement that cannot be read: " + err.Error()) // the core has read it
	}
	return a.Openers.Founder()
}

// moved checks that hwms move over frames that have arrived (R4), each once, and in the commit that holds their effects (R5).
func (c *checker) moved(rec *record.Record) {
	w := c.n.w
	moved := uint64(0)
	for _, h := range rec.Hwms {
		k := wireKey{h.Edge, h.From, c.n.id}
		old := c.hwm[k]
		if old.ID.LogID != h.ID.LogID {
			old.Seq = 0
			if last, _ := w.wires[k].progress(w); w.report.Injected["set back"] == 0 && !w.wires[k].relaid &&
				h.ID.LogID == w.nodes[h.From].ident.LogID && h.Seq > last {
				rule := "R8"
				if old.ID.LogID == (link.LogID{}) {
					rule = "R5" // it is the first log that this node has heard of, so the numbers can only belong to this log
				}
				w.fail("%s: %s stores hwm %d of %s from the new log of %s, which has stored %d frames", rule, c.n.id, h.Seq, h.Edge, h.From, last)
			}
		}
		if h.Seq <= old.Seq {
			continue
		}
		moved += uint64(h.Seq - old.Seq)
		w.movedAt = w.At
		if w.losses > 0 || w.wires[k].relaid {
			continue // the floor of a hello moves the hwm, too (R8)
		}
		for seq := old.Seq + 1; seq <= h.Seq; seq++ {
			if arrived := w.wires[k].arrived; !arrived[h.Seq] {
				w.fail("R5: %s stores hwm %d of %s from %s, a frame that has never arrived", c.n.id, h.Seq, h.Edge, h.From)
				return
			} else if !arrived[seq] {
				w.fail("R4: %s stores hwm %d of %s from %s, and frame %d has never arrived", c.n.id, h.Seq, h.Edge, h.From, seq)
				return
			}
		}
	}
	took := c.sealed - c.stored
	c.stored = c.sealed
	switch {
	case w.losses > 0 || took == moved || c.floored(rec):
	case took > moved && len(rec.Hwms) > 0:
		w.fail("R4: %s takes %d frames for hwms that move over %d: one counts twice", c.n.id, took, moved)
	default:
		w.fail("R5: %s stores the effects of %d frames beside hwms that move over %d", c.n.id, took, moved)
	}
}

// reopened compares what a log holds with what is durable. A record whose sync the process did not learn about counts
// as durable from now on. A missing record was lost, which is allowed only if the disk was set back.
func (c *checker) reopened(heard []stored, last wal.Index) {
	w := c.n.w
	differs := last + 1
	for _, rec := range heard {
		if was, ok := c.record(rec.at); ok && rec.at < differs && !bytes.Equal(was.data, rec.data) {
			differs = rec.at
		}
	}
	for len(c.kept) > 0 && c.kept[len(c.kept)-1].at >= differs {
		lost := c.kept[len(c.kept)-1]
		if !c.n.setBack {
			w.fail("W3: %s comes back without record %d as it was on its disk", c.n.id, lost.at)
			return
		}
		c.kept = c.kept[:len(c.kept)-1]
		w.report.Counters["records lost"]++
		c.gone = min(c.gone, len(c.kept))
		c.forget(lost.data)
	}
	if n := len(c.kept); n > 0 && w.losses > 0 && len(heard) > 0 && heard[0].at > c.kept[n-1].at+1 {
		// A former state was restored, and then a later one. The snapshot of the later state had cut the records that the first restore had lost.
		for _, lost := range slices.Backward(c.kept) {
			c.forget(lost.data)
		}
		c.kept, c.gone = nil, 0
	}
	if w.losses > 0 && len(heard) > 0 && heard[0].at == differs {
		// A later state was restored after a former one. Its snapshot has cut records that may differ from those that are kept here. So the
		// numbers of its next frames are unknown.
		for k := range c.last {
			c.jumps[k] = true
		}
	}
	c.n.setBack = false
	c.adopts = len(c.kept) == 0 && w.losses > 0
	for _, rec := range heard {
		if _, known := c.record(rec.at); !known {
			c.durable(rec.at, rec.data)
		}
	}
	c.adopts = false
}

// record returns a durable record.
func (c *checker) record(at wal.Index) (stored, bool) {
	k := len(c.kept)
	if k == 0 || at > c.kept[k-1].at {
		return stored{}, false
	}
	return c.kept[k-1-int(c.kept[k-1].at-at)], true
}

// forget removes a record that the disk has lost. The hwm before it is not known here.
func (c *checker) forget(data []byte) {
	rec, err := record.Decode(data)
	if err != nil {
		c.n.w.fail("N2: a lost record of %s: %v", c.n.id, err)
		return
	}
	for _, f := range slices.Backward(rec.Frames) {
		k := outKey{f.Edge, f.To}
		delete(c.frames[k], f.Frame.Seq)
		if f.Frame.Kind == link.Open {
			delete(c.opens[k], f.Frame.Session)
		}
		c.last[k] = f.Frame.Seq - 1
	}
	for _, in := range rec.Inputs {
		if in.Op == record.Open || in.Op == record.Drop {
			delete(c.open, in.Session)
			delete(c.founder, in.Session) // so that another client's claim does not count as an end of the session (S5)
		}
	}
	clear(c.hwm)
	clear(c.acked)
}

// cut checks that a frame is cut from a log only after its receivers have stored it (N3). If disks were lost or set back, receivers may
// have less than they have acknowledged.
func (c *checker) cut(first wal.Index) {
	w := c.n.w
	for ; c.gone < len(c.kept) && c.kept[c.gone].at < first; c.gone++ {
		rec, err := record.Decode(c.kept[c.gone].data)
		if err != nil || w.losses > 0 || c.kept[c.gone].at <= c.before {
			continue
		}
		for _, f := range rec.Frames {
			for _, to := range w.receivers(f.Edge, f.To) {
				if h := w.nodes[to].checker.hwm[wireKey{f.Edge, c.n.id, to}]; h.Seq < f.Frame.Seq {
					w.fail("N3: %s cuts frame %d of %s from its log, and %s has only stored %d", c.n.id, f.Frame.Seq, f.Edge, to, h.Seq)
				}
			}
		}
	}
}

// produced checks that numbers have no gaps, and that each number identifies one content (R2).
func (c *checker) produced(p *record.Frame) {
	k := outKey{p.Edge, p.To}
	if !c.follows(k, p.Frame.Seq) && !(c.adopts && c.last[k] == 0) && !c.jumps[k] {
		c.n.w.fail("R2: %s stores frame %d of %s to %q after %d", c.n.id, p.Frame.Seq, p.Edge, p.To, c.last[k])
	}
	c.last[k], c.givenUp[k] = p.Frame.Seq, 0
	delete(c.jumps, k)
	if c.frames[k] == nil {
		c.frames[k] = map[link.Seq]uint64{}
	}
	c.frames[k][p.Frame.Seq] = c.content(&p.Frame)
	if p.Frame.Kind == link.Open {
		if c.opens[k] == nil {
			c.opens[k] = map[session.ID]link.Seq{}
		}
		c.opens[k][p.Frame.Session] = p.Frame.Seq
	}
}

// sends checks a frame that leaves for the wire.
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
	h, had := c.hwm[wireKey{a.Edge, a.To, c.n.id}], c.had[wireKey{a.Edge, a.To, c.n.id}]
	if c.n.w.losses == 0 && !a.Superseded && had.Seq > 0 && (a.Log != had.ID.LogID || a.Hwm < had.Seq) {
		c.n.w.fail("N3: %s acknowledges frame %d of %s from %s, when it was started frame %d was on its disk", c.n.id, a.Hwm, a.Edge, a.To,
			had.Seq)
	}
	if a.Log != (link.LogID{}) && a.Log == h.ID.LogID && a.Hwm > h.Seq {
		c.n.w.fail("R3: %s acknowledges frame %d of %s from %s, on its disk is %d", c.n.id, a.Hwm, a.Edge, a.To, h.Seq)
	}
}

// measure checks that memory stays bounded (R9).
func (c *checker) measure() {
	w := c.n.w
	if s := c.n.stage(); s.holds(topology.Input) && !s.holds(topology.Output) && c.n.core().Running() > w.layout.limits.Sessions {
		w.fail("R16: %s runs %d sessions, and limits.sessions is %d", c.n.id, c.n.core().Running(), w.layout.limits.Sessions)
	}
	for _, l := range c.n.core().Links() {
		if l.Bytes > uint64(w.layout.window+overshoot(w)) {
			w.fail("R9: %s has %d bytes under way on %s to %s, its window is %d", c.n.id, l.Bytes, l.Edge, l.To, w.layout.window)
		}
	}
}
