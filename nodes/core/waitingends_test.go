package core

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"posta.dev/posta/link"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol/session"
)

// named is an adder that notes, with its name, which ends and pages it is asked for.
type named struct {
	*adder
	name  string
	calls *[]string
}

func (n named) note(what string, id session.ID) {
	*n.calls = append(*n.calls, n.name+" "+what+" "+nameOf(id))
}

// Take takes a page of the role before as one word, since an adder's snapshot divides its words by spaces.
func (n named) Take(id session.ID, m role.Message, out role.Emitter) (bool, error) {
	m.Payload = bytes.ReplaceAll(m.Payload, []byte(" "), []byte("_"))
	return n.adder.Take(id, m, out)
}

func (n named) End(id session.ID, stream int, out role.Emitter) (bool, error) {
	n.note(fmt.Sprint("end", stream), id)
	return n.adder.End(id, stream, out)
}

func (n named) More(id session.ID, out role.Emitter) (bool, error) {
	n.note("more", id)
	return n.adder.More(id, out)
}

// endsThatWait is a node with a chain of two adders, and a session whose streams both end. It emits more than a window or a commit holds.
func endsThatWait(t *testing.T, window, commit int) (d *driver, calls *[]string) {
	d, calls = newDriver(t, 1, "hash"), &[]string{}
	own := d.cfg
	d.cfg = func() Config {
		cfg := own()
		cfg.Window, cfg.Commit = window, commit
		cfg.Roles = []role.Role{named{newAdder(), "first", calls}, named{newAdder(), "second", calls}}
		return cfg
	}
	c, err := New(d.cfg())
	if err != nil {
		t.Fatal(err)
	}
	d.c = c
	hear(c, link.Frame{Edge: "in", From: "a-1", ID: theirs, Kind: link.Hello, Payload: link.HelloPayload{To: "me-1"}.Encode()})
	d.says("s", link.Open, 0, announcement("", nil))
	d.says("t", link.Open, 0, announcement("", nil))
	for _, word := range strings.Fields("a b c d e f g h i") {
		d.says("s", link.Data, 0, strings.Repeat(word, 600))
		d.onward()
	}
	d.says("s", link.End, 1, "")
	d.says("s", link.End, 0, "")
	d.says("t", link.Data, 1, ">0"+strings.Repeat("x", 900)) // it fills a window, so that the first role waits
	return d, calls
}

// onward acknowledges what has left, and commits.
func (d *driver) onward() {
	for _, o := range d.c.outboxes {
		d.c.Ack(link.Ack{Edge: o.edge, To: "me-1", Log: logOf("mine"), Hwm: o.Last(), Receiver: o.Peers()[0], ID: theirs}, d.now)
	}
	d.commit()
}

// rest lets a core go on until session s has left it, and returns what its roles are asked for, and which numbers its outboxes come to. The
// driver is then as before.
func (d *driver) rest(c *Core, calls *[]string) string {
	was, disk := d.c, d.disk
	d.c, d.disk, *calls = c, slices.Clone(disk), nil
	for n := 0; c.sessions[sessionOf("s")] != nil && n < 100; n++ {
		d.onward()
	}
	what := fmt.Sprint(*calls, " ", len(c.sessions), " sessions")
	for _, o := range c.outboxes {
		what += fmt.Sprintf(", %s to %s: %d", o.edge, o.to, o.Last())
	}
	d.c, d.disk = was, disk
	return what
}

// TestR12_EndsThatWaitGoOnAfterAStart: whatever an end waits for, and wherever recovery reads of it, a node that starts again asks the same
// roles for the same ends and pages as one that did not. It passes each end on once, and lets the session go.
func TestR12_EndsThatWaitGoOnAfterAStart(t *testing.T) {
	seen := map[string]int{}
	for _, limits := range [][2]int{{800, 100_000}, {1 << 20, 700}} {
		starts := 0
		for crash := 0; ; crash++ {
			run := func(start func(d *driver) *Core) string {
				d, calls := endsThatWait(t, limits[0], limits[1])
				for range crash {
					d.onward()
				}
				d.commit()
				s := d.c.sessions[sessionOf("s")]
				switch {
				case s == nil:
					return ""
				case s.ending != nil:
					seen[fmt.Sprint("at role ", s.ending.role)]++
				case s.nextEnd() >= 0:
					seen["before an end"]++
				}
				return d.rest(start(d), calls)
			}
			want := run(func(d *driver) *Core { return d.c })
			if want == "" {
				break
			}
			for from, start := range map[string]func(*driver) *Core{
				"a snapshot":       func(d *driver) *Core { return d.restarted(d.c.Snapshot(), link.LogIndex(len(d.disk)), d.analysed()) },
				"records":          func(d *driver) *Core { return d.restarted(nil, 0, NewLogAnalysis(nil)) },
				"analysed records": func(d *driver) *Core { return d.restarted(nil, 0, d.analysed()) },
			} {
				if got := run(func(d *driver) *Core { c := start(d); d.again(c); return c }); got != want {
					t.Fatalf("after %d commits, from %s: a node that starts again does\n%s, want\n%s", crash, from, got, want)
				}
			}
			starts++
		}
		if starts < 3 {
			t.Errorf("limits %v: %d starts", limits, starts)
		}
	}
	for _, what := range []string{"at role 0", "at role 1", "before an end"} {
		if seen[what] == 0 {
			t.Errorf("no end waits %s: %v", what, seen)
		}
	}
}

// again sends a core that was restarted what the former one had not taken yet.
func (d *driver) again(c *Core) {
	for _, l := range d.c.inOrder {
		for k := l.head; k < len(l.queue); k++ {
			c.Receive([]link.Frame{l.queue[k].Frame})
		}
	}
}
