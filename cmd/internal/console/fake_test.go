package console

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"posta.dev/posta/cmd/internal/monitor"
	"posta.dev/posta/link"
	"posta.dev/posta/medic/core"
	"posta.dev/posta/nodes/heartbeat"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/test/temp"
	"posta.dev/posta/topology"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// cluster returns a cluster of joiners that work, of which a test spoils what it wants to see.
func cluster(t testing.TB, joiners, sessions int) *Seen {
	t.Helper()
	tp := temp.Parsed(t, topology.Variant{Dir: "/nowhere", IPCDir: "/nowhere/sockets", Replicas: map[string]int{"joiner": joiners}})
	s := &Seen{Topology: tp}
	for _, n := range tp.Nodes() {
		st := monitor.Status{Node: n, Heard: true, Age: 50 * time.Millisecond, Span: 2 * time.Second, InRate: 12e6, OutRate: 4e6}
		st.Beat = heartbeat.Beat{
			Node: link.NodeID(n.ID), ID: link.Identity{Incarnation: 3}, PID: 4711, State: heartbeat.Running, Uptime: time.Hour, BytesIn: 1 << 30,
			LogBytes: 5 << 20, Memory: 77 << 20, Sessions: sessions,
		}
		for _, e := range tp.EdgesFrom(n.Stage) {
			for _, to := range tp.Receivers(e) {
				st.Beat.Links = append(st.Beat.Links, heartbeat.Link{Edge: e.Name(), To: link.NodeID(to.ID), Bytes: 1 << 20})
			}
		}
		s.Nodes = append(s.Nodes, st)
	}
	term := core.Term{Gen: 5, Leader: "medic-2"}
	s.Medics = monitor.Medics{Term: term, Led: true}
	for _, n := range tp.MedicNodes() {
		s.Medics.All = append(s.Medics.All, monitor.Medic{Node: n, Heard: true, Beat: core.Message{Term: term, Leading: n.ID == "medic-2"}})
	}
	at := time.Date(2016, 3, 1, 12, 0, 0, 0, time.UTC)
	s.Medics.Entries = []core.Entry{
		{At: at, Kind: core.Suspected, Node: "joiner-1", Silent: 812 * time.Millisecond, Text: "killed"},
		{At: at.Add(45 * time.Millisecond), Kind: core.Restarted, Node: "joiner-1"},
		{At: at.Add(345 * time.Millisecond), Kind: core.Recovered, Node: "joiner-1", Incarnation: 4},
	}
	for i := range sessions {
		id := session.ID{byte(i >> 8), byte(i), 0xab}
		s.Sessions = append(s.Sessions, protocol.SessionInfo{
			Session: id, Analysis: "bikes", State: session.Running, Node: "input-1", Age: time.Duration(i+1) * time.Second, Bytes: 1 << 20,
		})
	}
	return s
}

// node is a node of a cluster by name.
func (s *Seen) named(t testing.TB, id topology.NodeID) *monitor.Status {
	t.Helper()
	for i := range s.Nodes {
		if s.Nodes[i].Node.ID == id {
			return &s.Nodes[i]
		}
	}
	t.Fatalf("there is no %s", id)
	return nil
}

// serve runs a console of what was seen, and returns its address and the tokens of its links.
func serve(t *testing.T, s *Seen) (address string, tokens <-chan string) {
	t.Helper()
	address, tokens, _ = serveAll(t, func() *Seen { return s })
	return address, tokens
}

// serveAll runs a console of what is seen at each moment. end ends it before the test does.
func serveAll(t *testing.T, now func() *Seen, change ...func(*Config)) (address string, tokens <-chan string, end func()) {
	t.Helper()
	return serveAt(t, "127.0.0.1:0", now, change...)
}

func serveAt(t *testing.T, listen string, now func() *Seen, change ...func(*Config)) (address string, tokens <-chan string, end func()) {
	t.Helper()
	links := make(chan string, 64)
	cfg := Config{
		Topology: now().Topology, Nodes: func() []monitor.Status { return now().Nodes }, Medics: func() monitor.Medics { return now().Medics },
		Trouble:  func() []string { return now().Trouble },
		Sessions: func(context.Context) ([]protocol.SessionInfo, error) { return now().Sessions, nil },
		Announce: func(link string) { links <- link }, Every: 10 * time.Millisecond,
	}
	for _, c := range change {
		c(&cfg)
	}
	server, err := Listen(listen, cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- server.Run(ctx) }()
	end = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(end)
	address = server.listener.Addr().String()
	return address, tokensOf(t, address, links), end
}

func tokensOf(t *testing.T, address string, links <-chan string) <-chan string {
	tokens := make(chan string, 64)
	done := make(chan struct{})
	stop := make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case l := <-links:
				var token string
				if n, err := fmt.Sscanf(l, "http://"+address+"/login?token=%s", &token); n != 1 || len(token) != 43 {
					t.Errorf("the link %q, %v", l, err)
				}
				tokens <- token
			case <-stop:
				return
			}
		}
	}()
	t.Cleanup(func() { close(stop); <-done })
	return tokens
}
