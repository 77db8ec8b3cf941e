package brokered

import (
	"context"
	"errors"
	"log/slog"
	"testing"

	"posta.dev/posta/link"
	"posta.dev/posta/topology"
)

// TestR16_WhileTheBrokerIsAway: however long the broker is away, unsent frames take no more memory than a window and a frame for each link,
// and there is one acknowledgement for each link.
func TestR16_WhileTheBrokerIsAway(t *testing.T) {
	topo := topology.Default()
	topo.Hosts[0].Address = "ipc:" + t.TempDir()
	topo.Hosts[0].Bind = topo.Hosts[0].Address
	topo.Limits.Window, topo.Limits.Frame = 256<<10, 64<<10
	n, err := topo.Node("joiner-1")
	if err != nil {
		t.Fatal(err)
	}
	tr, err := New[int](link.TransportConfig{Topology: topo, Node: n, Log: slog.New(slog.DiscardHandler)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tr.Close() }()
	away := func(context.Context, *Outage) error { return errors.New("nobody there") }
	tr.Start(Broker{Name: "a broker", Out: away, In: away})
	const edge = "joiner-aggregator-all"
	for _, size := range []int{1, 1000, 64 << 10} {
		for _, o := range tr.Out {
			o.Clear()
		}
		f := frame(1, size)
		f.Edge = edge
		for range 5000 {
			tr.Send(edge, "aggregator-1", []link.Frame{f})
		}
		for _, o := range tr.Out {
			if most := int(topo.Limits.Window + topo.Limits.Frame); o.bytes > most || len(o.frames)*96 > most {
				t.Errorf("frames of %d bytes: %d of them wait, %d bytes; %d are allowed", size, len(o.frames), o.bytes, most)
			}
		}
	}
	for i := range 20_000 {
		tr.Acks([]link.Ack{{Edge: "input-joiner-facts", To: "input-1", Hwm: link.Seq(i), Receiver: "joiner-1"}})
	}
	if waiting := len(tr.acks.latest); waiting != 1 {
		t.Errorf("%d acknowledgements of one link wait", waiting)
	}
	for _, in := range tr.In {
		for i := range 20_000 { // without a connection no message comes, and earlier messages are forgotten with their connection
			in.delivered(i, nil)
		}
		if in.Reset(); len(in.open)+len(in.settled) > 0 {
			t.Errorf("%d deliveries of a connection that is gone", len(in.open))
		}
	}
}
