package cmd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/cmd/internal/reach"
	"posta.dev/posta/topology"
)

func loaded(t *testing.T, change func(text string) string, v topology.Variant) *topology.Topology {
	t.Helper()
	text, err := topology.Generate(v)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "t.toml")
	if err := os.WriteFile(file, []byte(change(text)), 0o600); err != nil {
		t.Fatal(err)
	}
	top, err := topology.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	return top
}

func TestS2_BeyondLoopbackKeysAreDemanded(t *testing.T) {
	plain := func(text string) string { return text }
	set := func(old, now string) func(string) string {
		return func(text string) string { return strings.Replace(text, old, now, 1) }
	}
	far := topology.Variant{Address: "10.0.0.1"}
	broker := topology.Variant{Address: "10.0.0.1", Settings: map[string]string{"cluster.transport": "nats",
		"nats.url": "nats://10.0.0.7:4222"}}
	for name, c := range map[string]struct {
		change func(string) string
		v      topology.Variant
		keys   bool
		want   []string
	}{
		"unix sockets":               {plain, topology.Variant{}, false, nil},
		"loopback":                   {plain, topology.Variant{Address: "127.0.0.1"}, false, nil},
		"another machine":            {plain, far, false, []string{"posta key init", "insecure = true", `host "local" listens at 10.0.0.1`}},
		"another machine, with keys": {plain, far, true, nil},
		"another machine, insecure":  {set("insecure = false", "insecure = true"), far, false, nil},
		"all addresses": {plain, topology.Variant{Address: "127.0.0.1", Bind: "0.0.0.0"}, false,
			[]string{"posta key init", "listens at 0.0.0.0"}},
		"a broker, with keys": {plain, broker, true, []string{"trust_broker = true"}},
		"a broker on loopback, with keys": {plain, topology.Variant{Address: "127.0.0.1", Settings: broker.Settings}, true,
			[]string{"trust_broker = true"}},
		"a broker that is trusted":   {set("trust_broker = false", "trust_broker = true"), broker, true, nil},
		"a broker, and nothing else": {set("insecure = false", "insecure = true"), broker, false, nil},
		"a broker beside it, with keys": {plain, topology.Variant{Address: "127.0.0.1",
			Settings: map[string]string{"cluster.transport": "nats"}}, true, nil},
		"a broker on the own machine": {plain, topology.Variant{Settings: map[string]string{"cluster.transport": "nats"}}, false, nil},
	} {
		top := loaded(t, c.change, c.v)
		if c.keys {
			must(t, "key", "init", "-f", top.File)
		}
		if c.keys { // the machine of a node gets the directory of that node's key, and no other
			if err := os.Rename(filepath.Join(top.KeysDir, "ca"), filepath.Join(t.TempDir(), "ca")); err != nil {
				t.Fatal(err)
			}
		}
		err := reach.CheckExposure(top)
		if (err == nil) != (c.want == nil) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, want := range c.want {
			if exit.Code(err) != exit.Usage || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v; want %q", name, err, want)
			}
		}
	}
}

// TestS2_NothingStartsBeyondLoopbackWithoutKeys: each command that starts nodes, writes files that start them, or talks to them demands
// keys or insecure = true. A client's key does not count as a node's key.
func TestS2_NothingStartsBeyondLoopbackWithoutKeys(t *testing.T) {
	far := loaded(t, func(text string) string { return text }, topology.Variant{Address: "192.0.2.1"})
	calls := [][]string{
		{"node", "joiner-1"}, {"medic", "medic-1"}, {"medic", "medic-1", "--docker"}, {"medic", "medic-1", "--systemd"},
		{"up", "--host", "local"},
		{"deploy"}, {"deploy", "--plan"}, {"deploy", "--render", "systemd", "D"}, {"deploy", "--render", "compose", "D"}, {"topology", "compose"},
	}
	speak := [][]string{{"topology", "check"}, {"status"}, {"sessions"}, {"submit", "bikes", "--data", data(t, "10")}, {"chaos"}}
	refused := func(call []string, wants ...string) {
		t.Helper()
		r := posta(t, append(call, "-f", far.File)...)
		for _, want := range wants {
			if r.code != exit.Usage || !strings.Contains(r.err, want) {
				t.Errorf("posta %v: %d, %s; want %q", call, r.code, r.err, want)
			}
		}
	}
	for _, call := range append(calls, speak...) {
		refused(call, "posta key")
	}
	must(t, "key", "new", "alice", "--role", "submit", "-f", far.File)
	for _, call := range calls {
		refused(call, "posta key init", "insecure = true")
	}
}

// TestS2_EveryCommandWarnsOfInsecure: every command warns once, on standard error, of what a stranger can do.
func TestS2_EveryCommandWarnsOfInsecure(t *testing.T) {
	top := loaded(t, func(text string) string { return strings.Replace(text, "insecure = false", "insecure = true", 1) },
		topology.Variant{Address: "127.0.0.1", Bind: "127.0.0.1"})
	for _, call := range [][]string{
		{"topology", "check"}, {"topology", "show", "--json"}, {"topology", "compose"}, {"status"}, {"down"}, {"sessions", "--patience", "10ms"},
		{"submit", "bikes", "--data", data(t, "10"), "--patience", "10ms"},
		{"chaos", "--duration", "1ms"}, {"deploy", "--render", "nothing", "D"}, {"key", "list"},
	} {
		r := posta(t, append(call, "-f", top.File)...)
		if n := strings.Count(r.err, "warning: insecure = true"); n != 1 || !strings.Contains(r.err, "read and delete answers, add rows") ||
			strings.Contains(r.out, "warning") {
			t.Errorf("posta %v warns %d times: %s", call, n, r.err)
		}
	}
	secure := loaded(t, func(text string) string { return text }, topology.Variant{Address: "127.0.0.1"})
	if r := posta(t, "topology", "check", "-f", secure.File); r.err != "" || r.code != exit.OK {
		t.Errorf("without it: %s", r.err)
	}
}
