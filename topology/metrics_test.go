package topology

import (
	"strings"
	"testing"
)

// TestMetrics_EachProcessHasItsPort: nodes in file order, then medics, each host from its own first port; without the setting there is
// none.
func TestMetrics_EachProcessHasItsPort(t *testing.T) {
	hosts := strings.Replace(twoEngines, `address = "10.0.0.1"`, "address = \"10.0.0.1\"\nmetrics = \"127.0.0.1:9100\"", 1)
	top := parse(t, withHosts(t, hosts))
	got := map[NodeID]string{}
	for _, n := range top.All() {
		if address := top.MetricsAddress(n); address != "" {
			got[n.ID] = address
		}
		if n.Host == "b" && got[n.ID] != "" {
			t.Errorf("%s serves metrics at %s, and its host has none", n.ID, got[n.ID])
		}
	}
	want := map[NodeID]string{"input-1": "127.0.0.1:9100", "joiner-1": "127.0.0.1:9101", "aggregator-1": "127.0.0.1:9102",
		"reducer-1": "127.0.0.1:9103",
		"output-1":  "127.0.0.1:9104", "medic-1": "127.0.0.1:9105", "medic-3": "127.0.0.1:9106"}
	if len(got) != len(want) {
		t.Errorf("%v", got)
	}
	for id, address := range want {
		if got[id] != address {
			t.Errorf("%s serves at %q, want %q", id, got[id], address)
		}
	}
	if top.View().Nodes[0].Metrics != "127.0.0.1:9100" || top.View().Hosts[0].Metrics != "127.0.0.1:9100" {
		t.Errorf("the view has %q", top.View().Nodes[0].Metrics)
	}
}

// TestMetrics_LoopbackIsEachMachinesOwn: 127.0.0.1:9100 on two machines is two places, for metrics and for the console beside them. Two
// hosts that only one machine can reach are on that machine.
func TestMetrics_LoopbackIsEachMachinesOwn(t *testing.T) {
	both := strings.NewReplacer(`address = "10.0.0.1"`, "address = \"10.0.0.1\"\nmetrics = \"127.0.0.1:9100\"", `address = "10.0.0.2"`,
		"address = \"10.0.0.2\"\nmetrics = \"127.0.0.1:9100\"")
	apart := withHosts(t, both.Replace(twoEngines))
	parse(t, apart)
	oneMachine := "\n[hosts.a]\naddress = \"127.0.0.1\"\nports = 5000\nmetrics = \"127.0.0.1:9100\"\n[hosts.b]\naddress = " +
		"\"127.0.0.2\"\nports = 6000\nmetrics = \"127.0.0.1:9100\"\n"
	at := func(console string) *strings.Replacer {
		return strings.NewReplacer(`console = ""`, `console = "`+console+`"`)
	}
	// Medics are on a, b, and a, and host b has two processes: the ports 9100 and 9101.
	parse(t, at("127.0.0.1:9107").Replace(apart))
	for name, text := range map[string]string{
		"127.0.0.1:9100 is taken twice, by the metrics socket of":  withHosts(t, oneMachine),
		"127.0.0.1:9105 is taken twice, by the metrics of medic-1": at("127.0.0.1:9105").Replace(apart),
		"tcp://127.0.0.1:6000 is taken twice, by the metrics socke": withHosts(t,
			strings.Replace(oneMachine, "metrics = \"127.0.0.1:9100\"\n[hosts.b]\naddress = \"127.0.0.2\"",
				"metrics = \"127.0.0.1:6000\"\n[hosts.b]\naddress = \"127.0.0.1\"", 1)),
	} {
		if _, err := Parse("t.toml", []byte(text)); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%q is not said: %v", name, err)
		}
	}
}

// TestS2_OpenMetricsHaveToBeSaid: beyond loopback metrics are refused until the file says that they are for all. Nodes may differ in it
// while sessions run.
func TestS2_OpenMetricsHaveToBeSaid(t *testing.T) {
	closed := strings.Replace(DefaultText(), "[hosts.local]\n", "[hosts.local]\nmetrics = \"0.0.0.0:9100\"\n", 1)
	if _, err := Parse("t.toml", []byte(closed)); err == nil || !strings.Contains(err.Error(), "open_metrics = true") {
		t.Errorf("%v", err)
	}
	open := strings.Replace(closed, "open_metrics = false", "open_metrics = true", 1)
	top, err := Parse("t.toml", []byte(open))
	if err != nil {
		t.Fatal(err)
	}
	if plain := parse(t, DefaultText()); plain.Shape() != top.Shape() || plain.ReadAtStart() == top.ReadAtStart() {
		t.Error("metrics change the shape, or are not read at start")
	}
	if again := parse(t, top.Canonical(nil)); again.MetricsAddress(again.Nodes()[0]) != "0.0.0.0:9100" {
		t.Error(top.Canonical(nil))
	}
}
