package topology

import (
	"strings"
	"testing"
)

// TestMetrics_EachProcessHasItsPort: nodes in file order, then medics, each host from its own first port; without the setting there is none.
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
	want := map[NodeID]string{"input-1": "127.0.0.1:9100", "joiner-1": "127.0.0.1:9101", "aggregator-1": "127.0.0.1:9102", "reducer-1": "127.0.0.1:9103",
		"output-1": "127.0.0.1:9104", "medic-1": "127.0.0.1:9105", "medic-3": "127.0.0.1:9106"}
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

// TestS2_OpenMetricsHaveToBeSaid: beyond loopback metrics are refused until the file says that they are for all. Nodes may differ in it while sessions run.
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
