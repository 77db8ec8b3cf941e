package core

import (
	"time"

	"posta.dev/posta/medic"
)

var begin = time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)

const (
	heartbeat    = 100 * time.Millisecond
	suspectAfter = 800 * time.Millisecond
)

// bench is one medic and a clock. What the medic stores is durable at once, unless the test holds it back.
type bench struct {
	*Core
	now  time.Time
	held bool
	out  Output // since the last call of look
}

func newBench(self NodeID, s State) *bench {
	cfg := Config{
		Self: self, ID: Identity{Incarnation: 1, PID: 1}, Reach: []string{"h"},
		Medics: []Member{{"medic-1", "h"}, {"medic-2", "h"}, {"medic-3", "h"}}, Nodes: []Member{{"a-1", "h"}, {"b-1", "h"}},
		Heartbeat: heartbeat, SuspectAfter: suspectAfter, Backoff: medic.Backoff{First: 100 * time.Millisecond, Max: time.Second,
			Healthy: time.Second},
	}
	return &bench{Core: New(cfg, s, begin), now: begin}
}

// pump collects the output that may leave.
func (b *bench) pump() {
	for !b.held && b.Seal() != nil {
		b.Stored(b.now)
	}
	o := b.Output()
	b.out.Messages = append(b.out.Messages, o.Messages...)
	b.out.Orders = append(b.out.Orders, o.Orders...)
	b.out.Refused = append(b.out.Refused, o.Refused...)
	if o.Fence != (Term{}) {
		b.out.Fence = o.Fence
	}
}

// pass moves the clock. Meanwhile every living node and medic is heard.
func (b *bench) pass(d time.Duration, living ...NodeID) {
	for end := b.now.Add(d); b.now.Before(end); {
		b.now = b.now.Add(heartbeat / 4)
		for _, id := range living {
			b.HeardNode(id, Sign{Identity: Identity{LogID: [16]byte{1}, Incarnation: 1, PID: 7}}, b.now)
		}
		b.Tick(b.now)
		b.pump()
	}
}

// say delivers a message of another medic.
func (b *bench) say(from NodeID, m Message) {
	m.From, m.ID = from, Identity{Incarnation: 1, PID: 2}
	b.Receive(m, b.now)
	b.pump()
}

// look returns what has left since its last call.
func (b *bench) look() Output {
	o := b.out
	b.out = Output{}
	return o
}

func (o Output) of(k Kind) (all []Message) {
	for _, m := range o.Messages {
		if m.Kind == k {
			all = append(all, m)
		}
	}
	return all
}
