package topology

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestServer: the embedded server is a process of the host that its url names, behind all others there, and of no host when the url names
// none.
func TestServer(t *testing.T) {
	two := func(url string, more ...string) *Topology {
		t.Helper()
		text, err := Generate(Variant{Settings: map[string]string{"cluster.transport": ViaNATS, "nats.url": url, "nats.embedded": "true"}})
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i < len(more); i += 2 {
			if !strings.Contains(text, more[i]) {
				t.Fatalf("%q is not in the page", more[i])
			}
			text = strings.ReplaceAll(text, more[i], more[i+1])
		}
		topo, err := Parse("topology.toml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return topo
	}
	spread := []string{
		`address = "127.0.0.1"`, `address = "10.0.0.1"`, `hosts = ["local"]`, `hosts = ["local", "b"]`,
		"[hosts.local]\n", "[hosts.b]\naddress = \"10.0.0.2\"\n\n[hosts.local]\n",
	}
	for _, c := range []struct {
		topo *Topology
		host string // "" for none
	}{
		{two("nats://127.0.0.1:4222"), "local"},
		{two("nats://localhost:4222"), "local"},
		{two("nats://10.0.0.2:4222", spread...), "b"},
		{two("nats://10.0.0.3:4222", spread...), ""},
		{two("nats://10.0.0.3:4222"), ""},
		{two("nats://127.0.0.1:4222", "embedded = true", "embedded = false"), ""},
		{two("nats://127.0.0.1:4222", `transport = "nats"`, `transport = "zmq"`), ""},
	} {
		n, kept := c.topo.Server()
		if kept != (c.host != "") || n.Host != c.host {
			t.Errorf("%s: on host %q, %v, want %q", c.topo.BrokerURL(), n.Host, kept, c.host)
		}
		if !kept {
			continue
		}
		last := 0
		for _, other := range c.topo.All() {
			if other.Host == n.Host {
				last = max(last, port(other.Sockets.List()[len(other.Sockets.List())-1].Dial))
			}
		}
		if got := port(n.Sockets.Control.Dial); got != last+1 || n.DataDir != filepath.Join(c.topo.ServerDir(), "lives") {
			t.Errorf("%s: port %d behind %d, data in %s", c.topo.BrokerURL(), got, last, n.DataDir)
		}
		if v := c.topo.View(); v.Server == nil || v.Server.Host != n.Host {
			t.Errorf("%s: it is shown as %+v", c.topo.BrokerURL(), v.Server)
		}
	}
	if text := two("nats://127.0.0.1:4222").Text(); !strings.Contains(text, "nats://127.0.0.1:4222, embedded, on host local, control 5") {
		t.Error(text)
	}
}
