package topology

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

func TestPlacementGoesRoundRobin(t *testing.T) {
	tp := parse(t, twoHosts)
	var got []string
	for _, n := range tp.Nodes() {
		got = append(got, fmt.Sprintf("%s %d/%d %s", n.ID, n.Index, n.Of, n.Host))
	}
	want := []string{
		"way-in-1 1/1 front", "joiner-1 1/3 front", "joiner-2 2/3 back", "joiner-3 3/3 front",
		"fold-1 1/2 back", "fold-2 2/2 back", "output-1 1/2 front", "output-2 2/2 back",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestSockets spells out the documented port order: file order, then data, control, broadcast, client.
func TestSockets(t *testing.T) {
	got := map[NodeID]string{}
	for _, n := range parse(t, twoHosts).Nodes() {
		var s []string
		for _, e := range n.Sockets.List() {
			s = append(s, fmt.Sprintf("%s %s %s", e.Kind, e.Dial, e.Bind))
		}
		got[n.ID] = strings.Join(s, ", ")
	}
	for id, want := range map[NodeID]string{
		"way-in-1": "control tcp://10.0.0.1:5500 tcp://0.0.0.0:5500, client tcp://10.0.0.1:5501 tcp://0.0.0.0:5501",
		"joiner-1": "data tcp://10.0.0.1:5502 tcp://0.0.0.0:5502, control tcp://10.0.0.1:5503 tcp://0.0.0.0:5503",
		"joiner-2": "data tcp://joiner-2.posta.internal:6000 tcp://0.0.0.0:6000, control tcp://joiner-2.posta.internal:6001 tcp://0.0.0.0:6001",
		"fold-1": "data tcp://fold-1.posta.internal:6002 tcp://0.0.0.0:6002, control tcp://fold-1.posta.internal:6003 tcp://0.0.0.0:6003, " +
			"broadcast tcp://fold-1.posta.internal:6004 tcp://0.0.0.0:6004",
		"output-1": "control tcp://10.0.0.1:5506 tcp://0.0.0.0:5506, client tcp://10.0.0.1:5507 tcp://0.0.0.0:5507",
	} {
		if got[id] != want {
			t.Errorf("%s:\ngot  %s\nwant %s", id, got[id], want)
		}
	}
}

func TestUnixSockets(t *testing.T) {
	tp := variant(t, Variant{IPCDir: "/run/posta", Bind: "ipc:/run/behind"})
	n, err := tp.Node("joiner-2")
	if err != nil {
		t.Fatal(err)
	}
	if want := (Endpoint{Dial: "ipc:///run/posta/joiner-2.data", Bind: "ipc:///run/behind/joiner-2.data"}); n.Sockets.Data != want {
		t.Errorf("got %v, want %v", n.Sockets.Data, want)
	}
	if n.Sockets.Client.Exists() || n.Sockets.Broadcast.Exists() {
		t.Error("a joiner has sockets it does not need")
	}
}

func TestVersionSixAddressesAreBracketed(t *testing.T) {
	if got := variant(t, Variant{Address: "::1"}).EntryPoints(); !reflect.DeepEqual(got, []string{"tcp://[::1]:5502"}) {
		t.Errorf("got %q", got)
	}
}

// TestNoAddressTwice holds over every picture and both kinds of host.
func TestNoAddressTwice(t *testing.T) {
	all := map[string]*Topology{"two hosts": parse(t, twoHosts)}
	for name, v := range pictures {
		all[name] = variant(t, v)
	}
	for name, tp := range all {
		seen := map[string]NodeID{}
		for _, n := range tp.Nodes() {
			for _, e := range n.Sockets.List() {
				if other, there := seen[e.Dial]; there {
					t.Errorf("%s: %s belongs to %s and %s", name, e.Dial, other, n.ID)
				}
				seen[e.Dial] = n.ID
			}
		}
	}
}

func TestNodeLookup(t *testing.T) {
	tp := Default()
	n, err := tp.Node("input-1")
	if err != nil {
		t.Fatal(err)
	}
	if n.DataDir != "cluster/input-1" || !n.Holds(Parser) || n.Holds(Joiner) || n.Stage != "input" {
		t.Errorf("got %+v", n)
	}
	_, err = tp.Node("joiner-9")
	if !errors.Is(err, ErrNoNode) || !strings.Contains(err.Error(), `"joiner-1"`) {
		t.Errorf("the error does not help: %v", err)
	}
	if _, err := tp.Node("nothing"); !strings.Contains(err.Error(), `"input-1", "joiner-1", "joiner-2"`) {
		t.Errorf("the error does not list the nodes: %v", err)
	}
}

func TestR12_EndsOfAnEdge(t *testing.T) {
	tp := variant(t, Variant{Replicas: map[string]int{"input": 3}})
	e := tp.EdgesTo("joiner")[0]
	if len(tp.Senders(e)) != 3 || len(tp.Receivers(e)) != 2 || tp.Senders(e)[2].ID != "input-3" {
		t.Errorf("%s: %v to %v", e, tp.Senders(e), tp.Receivers(e))
	}
	if e.Name() != "input-joiner-facts" {
		t.Errorf("name %q", e.Name())
	}
}

func TestLineFollowsThePipelineAndNotTheFile(t *testing.T) {
	parts := strings.SplitAfterN(twoHosts, "[[stage]]", 3)
	moved := strings.Replace(twoHosts, "[[stage]]"+strings.TrimSuffix(parts[1], "[[stage]]"), "", 1) + "\n[[stage]]" +
		strings.TrimSuffix(parts[1], "[[stage]]")
	tp := parse(t, moved)
	if tp.Stages[0].Name == "way-in" {
		t.Fatal("the stage was not moved")
	}
	if line := tp.StagesInOrder(); line[0].Name != "way-in" || line[2].Name != "fold" || line[3].Name != "output" {
		t.Errorf("line %v", line)
	}
}
