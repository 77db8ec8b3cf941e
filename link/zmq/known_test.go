package zmq

import (
	"testing"

	"posta.dev/posta/link"
	"posta.dev/posta/topology"
	"posta.dev/posta/zmqx"
)

// TestR16_WhoIsKnown: the first frame shows that a sender belongs to the topology, and the subscription shows it for a receiver.
func TestR16_WhoIsKnown(t *testing.T) {
	topo := topology.Default()
	node := func(id topology.NodeID) topology.Node {
		n, err := topo.Node(id)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	frame := func(edge string, from link.NodeID) zmqx.Message {
		f := link.Frame{Edge: edge, From: from, Kind: link.Hello, ID: link.Identity{Incarnation: 1, Life: 1}}
		return messages(nil, []link.Frame{f})[0]
	}
	senders, _ := (&Transport{cfg: link.TransportConfig{Topology: topo, Node: node("aggregator-1")}}).senders()
	known := known(senders)
	for name, c := range map[string]struct {
		m    zmqx.Message
		want bool
	}{
		"a sender":           {frame("joiner-aggregator-all", "joiner-1"), true},
		"nobody's name":      {frame("joiner-aggregator-all", "stranger-1"), false},
		"an edge elsewhere":  {frame("parser-joiner-facts", "joiner-1"), false},
		"rubbish":            {zmqx.Message{{1}, {2}}, false},
		"too many parts":     {append(frame("joiner-aggregator-all", "joiner-1"), nil), false},
		"a part is missing":  {frame("joiner-aggregator-all", "joiner-1")[:1], false},
		"nothing in the way": {zmqx.Message{nil, nil}, false},
	} {
		if got := known(c.m); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	pub := &Transport{pubEdges: map[string]bool{"a-b-c": true}}
	for topic, want := range map[string]bool{"a-b-c\x00": true, "a-b-c": false, "": false, "a-b-d\x00": false} {
		if got := pub.subscribes(zmqx.Message{append([]byte{1}, topic...)}); got != want {
			t.Errorf("%q: %v", topic, got)
		}
	}
}
