package topology

import "testing"

func TestWiring_IsWhatSessionsDependOn(t *testing.T) {
	wiring := func(v Variant) string {
		t.Helper()
		text, err := Generate(v)
		if err != nil {
			t.Fatal(err)
		}
		topo, err := Parse("topology.toml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return topo.Wiring()
	}
	base := wiring(Variant{})
	for name, v := range map[string]Variant{
		"sockets":  {IPCDir: "/tmp/s"},
		"address":  {Address: "127.0.0.2", Ports: 7000},
		"settings": {Settings: map[string]string{"limits.window": "1MiB", "medics.replicas": "0"}},
		"name":     {Name: "other", Dir: "elsewhere"},
	} {
		if wiring(v) != base {
			t.Errorf("%s: other wiring, and no session would survive it", name)
		}
	}
	for name, v := range map[string]Variant{
		"joiners": {Replicas: map[string]int{"joiner": 3}},
		"outputs": {Replicas: map[string]int{"output": 2}},
		"parsers": {SplitParsers: true},
	} {
		if wiring(v) == base {
			t.Errorf("%s: the same wiring", name)
		}
	}
}
