package topology

import (
	"strings"
	"testing"
)

// TestRightRoutings are those that differ from the usual ones and keep every result right.
func TestRightRoutings(t *testing.T) {
	for name, change := range map[string][2]string{
		"reference over PUSH":               {`socket = "pub"`, `socket = "push"`},
		"a session's groups together":       {`key = "group"`, `key = "session"`},
		"results over PUB":                  {"to = \"output\"\nsocket = \"push\"", "to = \"output\"\nsocket = \"pub\""},
		"every default left to the program": {"replicas = 1\nhosts = [\"local\"]\n", ""},
	} {
		text := strings.Replace(DefaultText(), change[0], change[1], 1)
		if text == DefaultText() {
			t.Fatalf("%s: nothing was changed", name)
		}
		if _, err := Parse("x.toml", []byte(text)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestEveryCutOfThePipeline tries all 32 ways to cut the row of roles into stages: each must be possible with the edges
// that its stagePairs ask for, and every pair must ask for edges that it allows.
func TestEveryCutOfThePipeline(t *testing.T) {
	for cut := range 1 << (len(pipeline) - 1) {
		tp := &Topology{Hosts: []Host{{Name: "local", Address: "127.0.0.1", Bind: "127.0.0.1", Ports: 5500, BindPorts: 5500}}, Name: "cut",
			Transport: "zmq", data: "data"}
		for _, s := range settings {
			if err := s.set(tp, s.def); err != nil {
				t.Fatal(err)
			}
		}
		for i, r := range Roles() {
			if i == 0 || cut&(1<<(i-1)) != 0 {
				tp.Stages = append(tp.Stages, Stage{Name: string(r), Replicas: 1, Hosts: []string{"local"}})
			}
			last := &tp.Stages[len(tp.Stages)-1]
			last.Chain = append(last.Chain, r)
		}
		for _, h := range tp.stagePairs() {
			for _, e := range h.edges() {
				if !h.allows(e) {
					t.Errorf("cut %05b: %s is usual and not allowed", cut, e)
				}
				tp.Edges = append(tp.Edges, e)
			}
		}
		again, err := Parse("cut.toml", []byte(tp.Source()))
		if err != nil {
			t.Errorf("cut %05b:\n%v", cut, err)
			continue
		}
		if again.Text() == "" || again.SVG() == "" {
			t.Errorf("cut %05b has no picture", cut)
		}
	}
}

// TestOnlyAllowedRoutingsPass tries every routing on every edge of the default: what passes is what stagePair's table allows.
func TestOnlyAllowedRoutingsPass(t *testing.T) {
	passed := map[string]int{}
	for i := range Default().Edges {
		for _, socket := range []Socket{Push, Pub} {
			for _, routing := range []Edge{{Route: Any}, {Route: All}, {Route: Hash, Key: GroupKey}, {Route: Hash, Key: SessionKey}} {
				tp := Default()
				e := &tp.Edges[i]
				e.Socket, e.Route, e.Key = socket, routing.Route, routing.Key
				if _, err := Parse("x.toml", []byte(tp.Source())); err == nil {
					passed[e.String()]++
				}
			}
		}
	}
	want := []string{
		"input → joiner facts push any", "input → joiner reference push all", "input → joiner reference pub all",
		"joiner → aggregator all push hash group", "joiner → aggregator all push hash session",
		"aggregator → reducer all push hash session", "reducer → output all push all", "reducer → output all pub all",
	}
	for _, w := range want {
		if passed[w] != 1 {
			t.Errorf("%s passed %d times", w, passed[w])
		}
		delete(passed, w)
	}
	for e := range passed {
		t.Errorf("%s passed and is wrong", e)
	}
}
