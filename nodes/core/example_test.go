package core_test

import (
	"bytes"
	"fmt"
	"log"
	"time"

	"posta.dev/posta/analyses"
	"posta.dev/posta/link"
	"posta.dev/posta/nodes/core"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/topology"
)

// shout is the smallest role: it passes every payload on in capitals, and keeps nothing.
type shout struct{ role.Base }

func (shout) Take(_ session.ID, m role.Message, out role.Emitter) (durable bool, err error) {
	out.Emit(0, role.Message{Stream: m.Stream, Payload: bytes.ToUpper(m.Payload)})
	return false, nil
}

func (shout) Drop(session.ID, role.Outcome) {}

// Example is the main loop of a node in its smallest form. A frame comes in, and its commit is sealed and stored. Only then the core
// acknowledges the frame and sends the frame that it made of it (R3). A real loop repeats these steps, with a log between Seal and Stored,
// and with sockets.
func Example() {
	now := time.Unix(0, 0)
	sender, receiver := link.Identity{LogID: link.LogID{1}, Incarnation: 1}, link.Identity{LogID: link.LogID{3}, Incarnation: 1}
	self := link.Identity{LogID: link.LogID{2}, Incarnation: 1}
	words := &analyses.Analysis{Name: "words", Streams: []analyses.Stream{{Name: "words"}}}
	c, err := core.New(core.Config{
		Self: "parser-1", ID: self, Replica: analyses.Replica{Of: 1}, Known: analyses.Set{words},
		In:    []core.InEdge{{Name: "in", From: []link.NodeID{"input-1"}, Streams: topology.AllStreams}},
		Out:   []core.OutEdge{{Name: "out", To: []link.NodeID{"joiner-1"}, Streams: topology.AllStreams, Route: topology.Any}},
		Roles: []role.Role{shout{}}, Window: 1 << 20, Commit: 1 << 20, Pace: link.DefaultPace,
	})
	if err != nil {
		log.Fatal(err)
	}
	// The receiver is connected and reports that it has nothing so far, so the core may send to it.
	c.Connected("out", "joiner-1")
	c.Output(now)
	c.Ack(link.Ack{Edge: "out", To: "parser-1", Log: self.LogID, Receiver: "joiner-1", ID: receiver}, now)

	// A sender says hello, opens a session, and sends one frame of it.
	id := session.ID{7}
	frame := func(f link.Frame) link.Frame {
		f.Edge, f.From, f.ID = "in", "input-1", sender
		return f.Sealed("parser-1")
	}
	c.Receive([]link.Frame{
		frame(link.Frame{Kind: link.Hello, Payload: link.HelloPayload{To: "parser-1"}.Encode()}),
		frame(link.Frame{Seq: 1, Kind: link.Open, Session: id, Payload: role.Announcement{Analysis: "words"}.Encode()}),
		frame(link.Frame{Seq: 2, Kind: link.Data, Session: id, Payload: []byte("hello")}),
	})
	c.Advance()
	commit := c.Seal() // everything that was taken since the last one
	fmt.Println("before the commit is stored:")
	show(c.Output(now))
	c.Stored(commit, 1)
	fmt.Println("after:")
	show(c.Output(now))

	// Output:
	// before the commit is stored:
	//   acknowledge up to frame 0
	// after:
	//   acknowledge up to frame 2
	//   send frame 1 to joiner-1: open
	//   send frame 2 to joiner-1: data "HELLO"
}

func show(o core.Output) {
	for _, a := range o.Acks {
		fmt.Printf("  acknowledge up to frame %d\n", a.Hwm)
	}
	for _, s := range o.Sends {
		for _, f := range s.Frames {
			fmt.Printf("  send frame %d to %s: %s", f.Seq, s.To, f.Kind)
			if f.Kind == link.Data {
				fmt.Printf(" %q", f.Payload)
			}
			fmt.Println()
		}
	}
}
