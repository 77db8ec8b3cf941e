package linktest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"posta.dev/posta/link"
	"posta.dev/posta/test/temp"
	"posta.dev/posta/topology"
)

// Subject is a transport under test.
type Subject struct {
	// New opens a node's transport.
	New func(*topology.Topology, topology.Node) (link.Transport, error)
	// Transport and Sections lead the topology's text to it: the value of [cluster] transport, and whole sections.
	Transport, Sections string
	// Away ends what is between the nodes, and returns what brings it back; nil where there is nothing between them.
	Away func() (back func())
	// Settle is how long it must have been used before it may be ended by force.
	Settle time.Duration
}

// Run runs the suite.
func (s Subject) Run(t *testing.T) {
	t.Run("every frame once", func(t *testing.T) {
		w := s.world(t)
		w.start(w.source)
		w.start(w.sink)
		w.exchange(3000)
	})
	t.Run("the receiver comes late", func(t *testing.T) {
		w := s.world(t)
		w.start(w.source)
		w.add(500)
		w.run(50 * time.Millisecond)
		w.start(w.sink)
		w.exchange(500)
	})
	t.Run("the receiver begins again", func(t *testing.T) {
		w := s.both(t)
		for range 3 {
			w.add(1000)
			w.until("some have arrived", func() bool { return w.sink.taken() > w.sink.before+100 })
			w.restart(w.sink)
		}
		w.exchange(100)
	})
	t.Run("the sender begins again", func(t *testing.T) {
		w := s.both(t)
		for range 3 {
			w.add(1000)
			w.until("some have arrived", func() bool { return w.sink.taken() > w.sink.before+100 })
			w.sink.before = w.sink.taken()
			w.restart(w.source)
		}
		w.exchange(100)
	})
	t.Run("what is between them changes frames", func(t *testing.T) {
		w := s.both(t)
		w.damage = 60
		w.add(2000)
		w.until("most have arrived", func() bool { return w.sink.taken() > 1500 })
		w.damage = 0
		w.exchange(100)
		if w.sink.damaged < 10 {
			t.Errorf("only %d damaged frames came through: this test shows nothing", w.sink.damaged)
		}
	})
	t.Run("heartbeats are heard", func(t *testing.T) {
		w := s.both(t)
		w.until("the source hears the sink", func() bool {
			w.sink.tr.Heartbeat([]byte("alive"), []byte("public"))
			return string(w.source.beat) == "alive"
		})
	})
	t.Run("sending never waits", func(t *testing.T) {
		w := s.world(t)
		w.start(w.source)
		frames := []link.Frame{{Edge: facts, From: "source-1", Seq: 1, Kind: link.Data, Payload: make([]byte, 64<<10)}}
		for i := 0; ; i++ {
			if w.source.tr.Send(facts, "sink-1", frames) == 0 {
				break // and not for ever: what is accepted is bounded
			}
			if s.Away != nil && i > 1<<12 {
				break // a broker takes it
			}
			if i > 1<<14 {
				t.Fatal("a gigabyte was accepted for a receiver that is not there")
			}
			frames[0].Seq++
		}
	})
	if s.Away != nil {
		t.Run("what is between them goes and comes back", func(t *testing.T) {
			w := s.both(t)
			w.add(2000)
			w.until("some have arrived", func() bool { return w.sink.taken() > 100 })
			w.run(s.Settle)
			w.add(2000)
			back := s.Away()
			w.run(100 * time.Millisecond)
			back()
			w.exchange(100)
		})
		t.Run("what is between them comes last", func(t *testing.T) {
			back := s.Away()
			w := s.both(t)
			w.add(100)
			w.run(100 * time.Millisecond)
			back()
			w.exchange(100)
		})
	}
}

const (
	facts     = "source-sink-facts"
	reference = "source-sink-reference"
)

// world is two nodes, driven by the test's own goroutine.
type world struct {
	t            *testing.T
	s            Subject
	topo         *topology.Topology
	source, sink *end
	r            *rand.Rand
	due          [2]int // frames that wait for room in the window of each link (R9)
	damage       int    // one frame in so many changes on its way, or goes astray (R18); 0: none
}

// end is what a node's loop and log would be.
type end struct {
	node      topology.Node
	id        link.Identity
	tr        link.Transport
	senders   []*link.Sender
	receivers []*link.Receiver
	kept      []link.Frame // the log
	order     error        // the first frame that was not the next
	before    link.Seq
	beat      []byte
	damaged   int // frames dropped because they were not intact (R18)
}

func (s Subject) both(t *testing.T) *world {
	w := s.world(t)
	w.start(w.source)
	w.start(w.sink)
	return w
}

func (s Subject) world(t *testing.T) *world {
	t.Helper()
	sockets := temp.Sockets(t)
	text := fmt.Sprintf(`[cluster]
name = "t%x"
transport = %q
[hosts.local]
address = "ipc:%s"
[[stage]]
name = "source"
chain = ["input", "parser"]
[[stage]]
name = "sink"
chain = ["joiner", "aggregator", "reducer", "output"]
[[edge]]
from = "source"
to = "sink"
streams = "facts"
route = "any"
[[edge]]
from = "source"
to = "sink"
streams = "reference"
socket = "pub"
route = "all"
[limits]
window = "1MiB"
chunk = "1MiB"
frame = "2MiB"
commit = "1MiB"
%s`, rand.Uint64(), s.Transport, sockets, s.Sections)
	topo, err := topology.Parse(filepath.Join(t.TempDir(), "topology.toml"), []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, s: s, topo: topo, r: rand.New(rand.NewPCG(1, 2))}
	w.source, w.sink = w.end("source-1"), w.end("sink-1")
	for _, edge := range []string{facts, reference} {
		w.source.senders = append(w.source.senders, w.sender(edge))
		w.sink.receivers = append(w.sink.receivers, link.NewReceiver(linkOf(edge)))
	}
	t.Cleanup(func() { w.stop(w.source); w.stop(w.sink) })
	return w
}

func (w *world) end(id topology.NodeID) *end {
	n, err := w.topo.Node(id)
	if err != nil {
		w.t.Fatal(err)
	}
	e := &end{node: n, id: link.Identity{Incarnation: 1, Life: link.Life(w.r.Uint64() | 1)}}
	for i := range e.id.LogID {
		e.id.LogID[i] = byte(w.r.Uint32())
	}
	return e
}

// linkOf names a link; all receivers of the reference edge share an outbox.
func linkOf(edge string) link.Link {
	if edge == reference {
		return link.Link{Edge: edge, From: "source-1"}
	}
	return link.Link{Edge: edge, From: "source-1", To: "sink-1"}
}

func (w *world) sender(edge string) *link.Sender {
	return link.NewSender(linkOf(edge), w.source.id, int(w.topo.Limits.Window), "sink-1")
}

func (w *world) start(e *end) {
	w.t.Helper()
	tr, err := w.s.New(w.topo, e.node)
	if err != nil {
		w.t.Fatal(err)
	}
	e.tr = tr
}

func (w *world) stop(e *end) {
	if e.tr == nil {
		return
	}
	if err := e.tr.Close(); err != nil {
		w.t.Errorf("close %s: %v", e.node.ID, err)
	}
	e.tr = nil
}

// restart is the death of a node and its next life, with what its log says.
func (w *world) restart(e *end) {
	w.stop(e)
	for i, r := range e.receivers {
		h := r.Hwm()
		e.receivers[i] = link.NewReceiver(r.Link)
		e.receivers[i].Restore(h)
	}
	e.id.Incarnation++
	e.id.Life = link.Life(w.r.Uint64() | 1)
	for i, s := range e.senders {
		p := s.Progress()
		again := link.NewSender(s.Link, e.id, int(w.topo.Limits.Window), s.Peers()...)
		again.Restore(p)
		for _, f := range e.kept {
			if f.Edge == s.Edge {
				if err := again.Reload(f, 0); err != nil {
					w.t.Fatal(err)
				}
			}
		}
		if err := again.Restored(p.Last, p.Life); err != nil {
			w.t.Fatal(err)
		}
		e.senders[i] = again
	}
	w.start(e)
}

func (w *world) ends() []*end { return []*end{w.source, w.sink} }

// taken is how far the slower of the links has got.
func (e *end) taken() link.Seq {
	return min(e.receivers[0].Hwm().Seq, e.receivers[1].Hwm().Seq)
}

// add has the source make frames on both links, as fast as their windows allow.
func (w *world) add(n int) {
	w.due[0], w.due[1] = w.due[0]+n, w.due[1]+n
	w.fill()
}

func (w *world) fill() {
	for i, s := range w.source.senders {
		for ; w.due[i] > 0 && s.WindowLeft() > 0; w.due[i]-- {
			payload := make([]byte, 8+w.r.IntN(2000))
			if w.r.IntN(500) == 0 {
				payload = make([]byte, 1<<20)
			}
			binary.LittleEndian.PutUint64(payload, uint64(s.Last()+1))
			f := s.Add(link.Frame{Kind: link.Data, Payload: payload})
			w.source.kept = append(w.source.kept, f)
			s.Stored(f.Seq, 0)
		}
	}
}

// exchange adds frames, and returns when all there are have been taken and acknowledged.
func (w *world) exchange(n int) {
	w.t.Helper()
	w.add(n)
	w.until("all frames are acknowledged", func() bool {
		for _, s := range w.source.senders {
			if _, frames := s.Backlog(); frames > 0 {
				return false
			}
		}
		return w.due == [2]int{} && w.sink.taken() == w.source.senders[0].Last()
	})
}

// until lets both nodes work until ok. It gives up when no frame has been taken for a minute, so a slow machine is not a failure.
func (w *world) until(what string, ok func() bool) {
	w.t.Helper()
	taken := w.taken()
	for end := time.Now().Add(time.Minute); !ok(); {
		if now := w.taken(); now != taken {
			taken, end = now, time.Now().Add(time.Minute)
		}
		if time.Now().After(end) {
			var state []string
			for i, s := range w.source.senders {
				state = append(state, fmt.Sprintf("%s: %d given out, %d taken, %d to come", s.Edge, s.Last(), w.sink.receivers[i].Hwm().Seq, w.due[i]))
			}
			w.t.Fatalf("not true: %s; %s", what, strings.Join(state, "; "))
		}
		w.run(time.Millisecond)
	}
}

func (w *world) run(d time.Duration) {
	w.t.Helper()
	for until := time.Now().Add(d); ; {
		w.fill()
		for _, e := range w.ends() {
			w.step(e)
		}
		if w.sink.order != nil {
			w.t.Fatal(w.sink.order)
		}
		if time.Now().After(until) {
			return
		}
		time.Sleep(100 * time.Microsecond)
	}
}

// step is a turn of a node's loop, with a disk that is always done at once.
func (w *world) step(e *end) {
	if e.tr == nil {
		return
	}
	now := time.Now()
	for more := true; more; {
		select {
		case ev := <-e.tr.Events():
			e.event(ev, now)
		default:
			more = false
		}
	}
	var acks []link.Ack
	for _, r := range e.receivers {
		r.Stored(r.Hwm())
		if a, ok := r.Ack(e.node.ID, e.id, now, link.DefaultPace); ok {
			acks = append(acks, a)
		}
	}
	if len(acks) > 0 {
		e.tr.Acks(acks)
	}
	for _, s := range e.senders {
		to := s.Peers()[0]
		frames := s.Take(to, 1<<20)
		if h, ok := s.Hello(to, now, link.DefaultPace.Hello); ok {
			frames = append(frames, h)
		}
		if s.Edge == reference {
			w.send(e, s, "", frames)
			continue
		}
		w.send(e, s, to, frames)
	}
}

func (w *world) send(e *end, s *link.Sender, to link.NodeID, frames []link.Frame) {
	if len(frames) == 0 {
		return
	}
	if n := e.tr.Send(s.Edge, to, w.spoilt(frames)); n < len(frames) {
		s.Unsend(s.Peers()[0], frames[n].Seq)
	}
}

// spoilt returns what happens to frames on a disk that forgets bits, or behind a proxy that mixes links up: some have another bit,
// another's content, another number, or the name of another link. Each is a message that the transport carries like any other.
func (w *world) spoilt(frames []link.Frame) []link.Frame {
	if w.damage == 0 {
		return frames
	}
	out := slices.Clone(frames)
	for i := range out {
		f := &out[i]
		if w.r.IntN(w.damage) > 0 || len(f.Payload) == 0 {
			continue
		}
		switch w.r.IntN(5) {
		case 0:
			f.Payload = bytes.Clone(f.Payload)
			f.Payload[w.r.IntN(len(f.Payload))] ^= 1 << w.r.IntN(8)
		case 1:
			f.Payload = bytes.Clone(out[w.r.IntN(len(out))].Payload)
			f.Payload = append(f.Payload, 1)
		case 2:
			if f.Kind != link.Hello {
				f.Seq++
			}
			f.Life++
		case 3:
			f.ID.LogID[w.r.IntN(16)] ^= 1 << w.r.IntN(8)
		case 4:
			other := facts
			if f.Edge == facts {
				other = reference
			}
			f.Edge = other
		}
	}
	return out
}

func (e *end) event(ev link.Event, now time.Time) {
	switch {
	case ev.Frames != nil:
		for i := range ev.Frames {
			e.frame(&ev.Frames[i])
		}
	case ev.Acks != nil:
		for _, a := range ev.Acks {
			for _, s := range e.senders {
				s.Ack(a, now)
			}
		}
	case ev.Connected && ev.Incoming:
		for _, r := range e.receivers {
			if r.Edge == ev.Edge {
				r.Reconnected()
			}
		}
	case ev.Connected:
		for _, s := range e.senders {
			if s.Edge == ev.Edge {
				s.Connected(ev.Node)
			}
		}
	case ev.Heartbeat != nil:
		e.beat = bytes.Clone(ev.Heartbeat)
	}
}

func (e *end) frame(f *link.Frame) {
	for _, r := range e.receivers {
		if r.Edge != f.Edge || r.From != f.From {
			continue
		}
		if !r.Intact(f) {
			r.Dropped(link.Damaged, f.ID)
			e.damaged++
			return
		}
		if f.Kind == link.Hello {
			if g, err := link.DecodeHello(f.Payload); err == nil && g.To == e.node.ID {
				r.Hello(f.ID, g, e.id.LogID)
			}
			return
		}
		if v := r.Check(f); v != link.Take {
			r.Dropped(v, f.ID)
			return
		}
		r.Took(f)
		if n := link.Seq(binary.LittleEndian.Uint64(f.Payload)); n != f.Seq && e.order == nil {
			e.order = fmt.Errorf("frame %d of %s came as number %d", n, f.Edge, f.Seq)
		}
	}
}

// taken returns how many frames the sink has taken on all links.
func (w *world) taken() (all link.Seq) {
	for _, r := range w.sink.receivers {
		all += r.Hwm().Seq
	}
	return all
}
