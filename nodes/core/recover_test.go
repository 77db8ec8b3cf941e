package core

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"posta.dev/posta/link"
	"posta.dev/posta/nodes/core/record"
	"posta.dev/posta/nodes/role"
)

// driver gives a core whatever could arrive over its links, and keeps what the core stores.
type driver struct {
	t    *testing.T
	rand *rand.Rand
	cfg  func() Config
	c    *Core
	disk [][]byte
	seq  map[linkKey]link.Seq
	ids  []string
	now  time.Time
}

func newDriver(t *testing.T, seed uint64, name string) *driver {
	d := &driver{t: t, rand: rand.New(rand.NewPCG(seed, 1)), seq: map[linkKey]link.Seq{}, now: time.Unix(1_700_000_000, 0)}
	d.cfg = func() Config {
		cfg, err := shape(name)
		if err != nil {
			t.Fatal(err)
		}
		cfg.Window = 1 << 20
		cfg.ID = link.Identity{LogID: logOf("mine"), Incarnation: 1}
		return cfg
	}
	var err error
	if d.c, err = New(d.cfg()); err != nil {
		t.Fatal(err)
	}
	for _, l := range d.c.inOrder {
		hear(d.c, link.Frame{
			Edge: l.edge.Name, From: l.recv.From, ID: theirs, Kind: link.Hello, Payload: link.HelloPayload{To: "me-1"}.Encode(),
		})
	}
	for _, e := range d.c.out {
		for _, s := range e.outboxes {
			for _, p := range s.Peers() {
				d.c.Ack(link.Ack{Edge: e.cfg.Name, To: "me-1", Log: logOf("mine"), Receiver: p, ID: theirs}, d.now)
			}
		}
	}
	d.ids = []string{"s", "t", "u", "v"}
	return d
}

var theirs = link.Identity{LogID: link.LogID{7}, Incarnation: 1}

// send lets a random link carry its next frame. What senders say about a session may contradict itself: the core must withstand that.
func (d *driver) send() {
	l := d.c.inOrder[d.rand.IntN(len(d.c.inOrder))]
	k := l.key()
	d.seq[k]++
	f := link.Frame{Edge: k.edge, From: k.from, ID: theirs, Seq: d.seq[k], Session: sessionOf(d.ids[d.rand.IntN(len(d.ids))])}
	switch n := d.rand.IntN(40); {
	case n < 8:
		f.Kind, f.Payload = link.Open, role.Announcement{Analysis: "test"}.Encode()
	case n < 32:
		word := []string{"kept", "more", "+folded", ">through", "bad"}[min(d.rand.IntN(30)/6, 4)]
		if word == "bad" && d.rand.IntN(4) > 0 {
			word = "good"
		}
		f.Kind, f.Stream, f.Payload = link.Data, d.rand.IntN(2), fmt.Appendf(nil, "%s%d", word, d.rand.IntN(100))
		if word == "bad" {
			f.Payload = []byte(word)
		}
	case n < 38:
		f.Kind, f.Stream = link.End, d.rand.IntN(2)
	default:
		f.Kind, f.Payload = link.Abort, encodeAbort("because")
	}
	hear(d.c, f)
}

func (d *driver) commit() {
	d.c.Advance()
	if c := d.c.Seal(); c != nil {
		d.disk = append(d.disk, bytes.Join(c.Parts, nil))
		d.c.Stored(c, link.LogIndex(len(d.disk)))
	}
}

// analysed returns what recovery may know before it begins: the analysis of the log, or an empty one.
func (d *driver) analysed() *LogAnalysis {
	s := NewLogAnalysis(nil)
	for i, rec := range d.disk {
		buf := bytes.Clone(rec)
		s.Add(link.LogIndex(i+1), buf)
		clear(buf)
	}
	return s
}

// recovered is restarted, plus what only the live core knows: acknowledgements that are not on disk.
func (d *driver) recovered(snapshot []byte, at link.LogIndex, s *LogAnalysis) *Core {
	d.t.Helper()
	c := d.restarted(snapshot, at, s)
	for i, e := range d.c.out {
		for k, s := range e.outboxes {
			for _, a := range s.Progress().Acked {
				c.out[i].outboxes[k].Acknowledged(a)
			}
		}
	}
	return c
}

// restarted returns a new core that has recovered from the disk.
func (d *driver) restarted(snapshot []byte, at link.LogIndex, s *LogAnalysis) *Core {
	d.t.Helper()
	c, err := New(d.cfg())
	if err != nil {
		d.t.Fatal(err)
	}
	r, err := c.Recover(snapshot, at, s)
	if err != nil {
		d.t.Fatal(err)
	}
	for i, rec := range d.disk {
		if link.LogIndex(i+1) < r.First() {
			continue
		}
		buf := bytes.Clone(rec)
		if err := r.Replay(link.LogIndex(i+1), buf); err != nil {
			d.t.Fatal(err)
		}
		clear(buf) // as the log does, which reuses its buffer
	}
	if err := r.Done(); err != nil {
		d.t.Fatal(err)
	}
	return c
}

// TestN3_RecoveredEqualsNeverCrashed: whatever came over the links, after every commit a core that is rebuilt from snapshot and log equals
// the core that never crashed: in its state, in its unacknowledged frames, and in what it does next.
func TestN3_RecoveredEqualsNeverCrashed(t *testing.T) {
	for _, name := range []string{"relay", "hash", "joiner", "broadcast"} {
		for seed := range uint64(40) {
			d := newDriver(t, seed, name)
			var snapshot []byte
			var at link.LogIndex
			for range 25 {
				for range d.rand.IntN(8) {
					d.send()
				}
				d.commit()
				if d.rand.IntN(5) == 0 && d.c.build.empty() {
					snapshot, at = d.c.Snapshot(), link.LogIndex(len(d.disk))
				}
				d.acknowledge()
				d.same(fmt.Sprintf("%s, seed %d, after commit %d, all repeated", name, seed, len(d.disk)),
					d.recovered(snapshot, at, NewLogAnalysis(nil)))
				again := d.recovered(snapshot, at, d.analysed())
				d.same(fmt.Sprintf("%s, seed %d, after commit %d", name, seed, len(d.disk)), again)
				if d.rand.IntN(4) == 0 {
					d.c = again // a crash: frames that waited in queues are sent again
					for k := range d.seq {
						d.seq[k] = d.c.in[k].recv.Hwm().Seq
					}
				}
			}
		}
	}
}

func (d *driver) acknowledge() {
	for _, e := range d.c.out {
		for _, s := range e.outboxes {
			for _, p := range s.Peers() {
				if last := uint64(s.Last()); last > 0 && d.rand.IntN(2) == 0 {
					d.c.Ack(link.Ack{
						Edge: e.cfg.Name, To: "me-1", Log: logOf("mine"), Hwm: link.Seq(d.rand.Uint64N(last + 1)), Receiver: p, ID: theirs,
					}, d.now)
				}
			}
		}
	}
}

func (d *driver) same(when string, again *Core) {
	d.t.Helper()
	if !d.c.build.empty() {
		return // the disk never holds half a commit
	}
	if live, back := d.c.Snapshot(), again.Snapshot(); !bytes.Equal(live, back) {
		d.t.Fatalf("%s: N3: recovery comes to another state\nlive %q\nback %q", when, live, back)
	}
	if live, back := d.outboxes(d.c), d.outboxes(again); live != back {
		d.t.Fatalf("%s: N3: recovery comes to other outboxes\nlive %s\nback %s", when, live, back)
	}
}

func (d *driver) outboxes(c *Core) string {
	var b strings.Builder
	for _, e := range c.out {
		for _, s := range e.outboxes {
			at, some := s.Oldest()
			bytes, frames := s.Backlog()
			fmt.Fprintf(&b, "%s to %v: last %d, oldest %d %v, %d bytes in %d frames\n", s.Edge, s.Peers(), s.Last(), at, some, bytes, frames)
		}
	}
	return b.String()
}

// TestN3_OfAnotherChainIsRefused: a core refuses a data directory that belongs to another node.
func TestN3_OfAnotherChainIsRefused(t *testing.T) {
	d := newDriver(t, 1, "relay")
	for range 20 {
		d.send()
	}
	d.commit()
	snapshot := d.c.Snapshot()
	cfg, err := shape("gateway")
	if err != nil {
		t.Fatal(err)
	}
	c, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Recover(snapshot, 1, NewLogAnalysis(nil)); err == nil {
		t.Fatal("a snapshot of one role is taken for a chain of two")
	}
}

// TestN3_DamageIsAnError: a damaged snapshot must not cause a panic. Checksums detect damage before this, but not what a faulty program
// wrote.
func TestN3_DamageIsAnError(t *testing.T) {
	d := newDriver(t, 3, "joiner")
	for range 60 {
		d.send()
	}
	d.commit()
	snapshot := d.c.Snapshot()
	for n := range snapshot {
		c, err := New(d.cfg())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Recover(snapshot[:n], 1, NewLogAnalysis(nil)); err == nil {
			t.Fatalf("the first %d bytes of a snapshot of %d are taken for all", n, len(snapshot))
		}
		bent := bytes.Clone(snapshot)
		bent[n] ^= 0x55
		if c, err = New(d.cfg()); err != nil {
			t.Fatal(err)
		}
		if r, err := c.Recover(bent, 1, NewLogAnalysis(nil)); err == nil {
			_ = r.Done() // an error is fine, a panic is not
		}
	}
}

func FuzzReplay(f *testing.F) {
	d := newDriver(&testing.T{}, 5, "relay")
	for range 40 {
		d.send()
	}
	d.commit()
	for _, rec := range d.disk {
		f.Add(rec)
	}
	f.Add([]byte{0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		cfg, err := shape("relay")
		if err != nil {
			t.Fatal(err)
		}
		c, err := New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		s := NewLogAnalysis(nil)
		s.Add(1, data)
		r, err := c.Recover(nil, 0, s)
		if err != nil {
			if _, err := record.Decode(data); err == nil {
				t.Fatal("a log analysis reads less than recovery does")
			}
			return
		}
		if r.Replay(1, data) == nil {
			_ = r.Done()
		}
		rec, err := record.Decode(data)
		if err != nil {
			return
		}
		again, err := record.Decode(bytes.Join(rec.Encode(), nil))
		if err != nil {
			t.Fatalf("a record that was read cannot be written: %v", err)
		}
		if fmt.Sprintf("%+v", rec) != fmt.Sprintf("%+v", again) {
			t.Fatalf("%+v\ncomes back as %+v", rec, again)
		}
	})
}

// TestN3_ARecordOfAnotherVersionIsRefused: the content of records has changed between the versions, so a node of this version could not
// continue correctly.
func TestN3_ARecordOfAnotherVersionIsRefused(t *testing.T) {
	data := bytes.Join((&record.Record{}).Encode(), nil)
	if _, err := record.Decode(data); err != nil {
		t.Fatal(err)
	}
	data[5]-- // this byte follows the length of the meta, and the head of the array
	_, err := record.Decode(data)
	if err == nil || !strings.Contains(err.Error(), "version 2; this program reads 3: let the program that wrote it end its sessions") {
		t.Fatal(err)
	}
}
