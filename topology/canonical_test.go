package topology

import (
	"os"
	"reflect"
	"strings"
	"testing"
)

const twoEngines = `
[hosts.a]
address = "10.0.0.1"
engine = "tcp://10.0.0.1:2376"
engine_ca = "ca.pem"
engine_cert = "cert.pem"
engine_key = "key.pem"
network = "host"
memory = "2GiB"
[hosts.b]
address = "10.0.0.2"
bind = "0.0.0.0"
ports = 6000
bind_ports = 7000
engine = "ssh://ops@b.example"
`

func withHosts(t *testing.T, hosts string) string {
	t.Helper()
	text := DefaultText()
	from, to := strings.Index(text, "[hosts.local]"), strings.Index(text, "# A stage is a step")
	if from < 0 || to < from {
		t.Fatal("the default text has another form")
	}
	return strings.ReplaceAll(text[:from]+hosts+text[to:], `hosts = ["local"]`, "")
}

// Plain leaves out what only posta deploy uses, and nothing else.
func TestPlain_ReadsBack(t *testing.T) {
	for _, text := range []string{DefaultText(), withHosts(t, twoEngines)} {
		top, err := Parse("topology.toml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		again, err := Parse("topology.toml", []byte(top.Canonical(nil)))
		if err != nil {
			t.Fatalf("%v\n%s", err, top.Canonical(nil))
		}
		for i := range top.Hosts {
			top.Hosts[i].Deploy, again.Hosts[i].Deploy = Deploy{}, Deploy{}
		}
		if !reflect.DeepEqual(top, again) {
			t.Fatalf("%+v\nreads back as\n%+v", top, again)
		}
		if strings.Contains(top.Canonical(nil), "engine") || strings.Contains(top.Canonical(nil), "#") {
			t.Fatal(top.Canonical(nil))
		}
	}
}

func TestPlain_HostsOfContainers(t *testing.T) {
	top, err := Parse("topology.toml", []byte(withHosts(t, twoEngines)))
	if err != nil {
		t.Fatal(err)
	}
	text := top.Canonical(func(h Host) Host { h.Bind = "0.0.0.0"; return h })
	if strings.Count(text, `bind = "0.0.0.0"`) != 2 || top.Hosts[0].Bind != "10.0.0.1" {
		t.Fatal(text)
	}
}

// What may differ from node to node for a while is not in the shape.
func TestShape(t *testing.T) {
	for change, same := range map[string]bool{
		"# any comment": true,
		"[limits]\nsessions = 3\nwindow = \"1MiB\"":        true,
		"[medics]\nreplicas = 1":                           true,
		"[limits]\nframe = \"32MiB\"":                      false,
		"[hosts.c]\naddress = \"10.0.0.3\"":                false,
		"[hosts.a.b]":                                      false, // refused
		"[limits]\nframe = \"16MiB\" # as it is otherwise": true,
	} {
		base, _ := os.ReadFile("testdata/base.toml")
		text := strings.Replace(string(base), `address = "127.0.0.1"`, `address = "10.0.0.1"`, 1)
		text = text[:strings.Index(text, "[medics]")]
		one, err := Parse("topology.toml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		other, err := Parse("topology.toml", []byte(text+change+"\n"))
		if err != nil {
			if same {
				t.Errorf("%s: %v", change, err)
			}
			continue
		}
		if got := one.Shape() == other.Shape(); got != same {
			t.Errorf("%s: the shape stays the same: %v", change, got)
		}
	}
}

func TestLoad_FromTheEnvironment(t *testing.T) {
	t.Setenv("THE_TOPOLOGY", DefaultText())
	top, err := LoadWith(EnvPrefix+"THE_TOPOLOGY", Addresses{Inside: InternalAddress})
	if err != nil {
		t.Fatal(err)
	}
	dir, _ := os.Getwd()
	if top.DataDir != dir+"/cluster" || top.Nodes()[1].Sockets.Data.Dial != "tcp://joiner-1:5503" {
		t.Fatalf("%s, %+v", top.DataDir, top.Nodes()[1].Sockets.Data)
	}
	if _, err := Load(EnvPrefix + "NO_TOPOLOGY"); err == nil || !strings.Contains(err.Error(), "NO_TOPOLOGY") {
		t.Fatal(err)
	}
}

// TestReadAtStart_AllButTheClients: what a process reads again does not change it, and everything else does, a broker's password too.
func TestReadAtStart_AllButTheClients(t *testing.T) {
	parsed := func(settings map[string]string, more string) string {
		t.Helper()
		text, err := Generate(Variant{Settings: settings})
		if err != nil {
			t.Fatal(err)
		}
		top, err := Parse("topology.toml", []byte(text+more))
		if err != nil {
			t.Fatal(err)
		}
		return top.ReadAtStart()
	}
	const alice = "\n[clients.alice]\nrole = \"submit\"\nkey = \"ed25519:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\"\n"
	before := parsed(nil, "")
	if parsed(nil, "# a comment\n"+alice) != before {
		t.Error("a client changes it")
	}
	for key, value := range map[string]string{"rabbitmq.url": "amqp://posta:other@127.0.0.1:5672/", "nats.batch": "2KiB",
		"limits.window": "2MiB", "medics.replicas": "1", "security.trust_broker": "true"} {
		if parsed(map[string]string{key: value}, "") == before {
			t.Errorf("%s does not change it", key)
		}
	}
}
