package topology

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// TestComposeFileIsInStep keeps the committed compose file what the committed topology says.
func TestComposeFileIsInStep(t *testing.T) {
	const file = "../docker-compose.yaml"
	tp, err := LoadWith("../topology.toml", Addresses{Local: Published})
	if err != nil {
		t.Fatal(err)
	}
	again := "posta topology compose --out docker-compose.yaml"
	want, err := tp.Compose(Compose{Again: again})
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != want {
		t.Errorf("docker-compose.yaml is not what topology.toml says (%v); write it with `%s`", err, again)
	}
}

// published parses a text as it is seen where the containers of local hosts are published.
func published(t *testing.T, src string) *Topology {
	t.Helper()
	tp, err := parseAs("topology.toml", []byte(src), Addresses{Local: Published})
	if err != nil {
		t.Fatal(err)
	}
	return tp
}

func compose(t *testing.T, tp *Topology, c Compose) string {
	t.Helper()
	text, err := tp.Compose(c)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestComposeFollowsTheTopology(t *testing.T) {
	tp := variant(t, Variant{
		Name: "2026-11-01", Dir: "/var/lib/it's $5", SplitParsers: true, Address: "127.0.0.1", Ports: 7000, BindPorts: 6000,
		Replicas: map[string]int{"input": 2, "output": 2}, Settings: map[string]string{"limits.drain": "1500ms", "medics.replicas": "1"},
	})
	text := compose(t, tp, Compose{Image: "registry.example/posta:1", File: "../etc/t.toml", Again: "make it"})
	for _, want := range []string{
		"#   make it\n", `image: "registry.example/posta:1"`, "stop_grace_period: 3500ms\n", `posta.cluster: "2026-11-01"`,
		`{type: bind, source: "../etc/t.toml", target: /posta/topology.toml, read_only: true}`,
		`{type: volume, source: input-2, target: "/var/lib/it's $$5/input-2"}`,
		`{type: volume, source: fence, target: "/var/lib/it's $$5/fence"}`,
		"\n  parser-2:\n", "\n    - output-2\n", `command: [medic, medic-1, --docker, --address, "{node}"]`,
		`- "127.0.0.1:7001:6001"`, // published where clients look for it, from where the node listens
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is missing in\n%s", want, text)
		}
	}
	if strings.Contains(text, "medic-2") || strings.Contains(text, "0.0.0.0") {
		t.Errorf("it holds what it must not:\n%s", text)
	}
	for _, n := range tp.nodesOf("joiner") {
		if strings.Contains(text, strings.TrimPrefix(n.Sockets.Data.Bind, "tcp://127.0.0.1:")+`"`) {
			t.Errorf("the data socket of %s is published", n.ID)
		}
	}
}

func TestComposeMedicsReachAllHostsOfTheMachine(t *testing.T) {
	src := strings.Replace(DefaultText(), "[hosts.local]", "[hosts.other]\nports = 7000\n[hosts.local]", 1)
	src = strings.Replace(src, `["local"]`, `["other"]`, 1)
	if text := compose(t, published(t, src), Compose{}); !strings.Contains(text, `"{node}", --host, "other", --host, "local"]`) {
		t.Errorf("who helps the host that has no medic?\n%s", text)
	}
}

func TestComposeWithoutMedics(t *testing.T) {
	text := compose(t, variant(t, Variant{Address: "127.0.0.1", Settings: map[string]string{"medics.replicas": "0"}}), Compose{})
	if strings.Contains(text, "*medic") || strings.Contains(text, "docker.sock:") || strings.Contains(text, "fence") {
		t.Errorf("nobody needs the engine's socket:\n%s", text)
	}
}

// The console of each medic is a container without the engine's socket. It is published on the machine itself, and served where published
// ports lead.
func TestComposePublishesTheConsole(t *testing.T) {
	with := strings.Replace(DefaultText(), `console = ""`, `console = "127.0.0.1:8080"`, 1)
	text := compose(t, published(t, with), Compose{})
	for _, want := range []string{`- "127.0.0.1:8080:8080"`, `- "127.0.0.1:8082:8082"`,
		`command: [console, --of, medic-2, --alone, --console-bind, 0.0.0.0]`,
		"      - {type: volume, source: medic-2-console, target: \"/posta/cluster/medic-2-console\"}\n      - {type: volume, source: " +
			"consoles, target: \"/posta/cluster/console\"}\n\n",
		"/own/6, /own/console/0, /own/console/1, /own/console/2, /own/consoles]"} {
		if strings.Count(text, want) != 1 {
			t.Errorf("%q is there %d times:\n%s", want, strings.Count(text, want), text)
		}
	}
	if without := compose(t, published(t, DefaultText()), Compose{}); strings.Contains(without, "8080") ||
		strings.Contains(without, "console") {
		t.Error("a console that nobody serves is published")
	}
}

// A name that YAML would take for something else stays a name.
func TestComposeQuotesNames(t *testing.T) {
	src := strings.ReplaceAll(DefaultText(), `"joiner"`, `"2026-11"`)
	src = strings.ReplaceAll(src, `chain = ["2026-11"]`, `chain = ["joiner"]`)
	src = strings.ReplaceAll(strings.ReplaceAll(src, "[hosts.local]", "[hosts.no]"), `["local"]`, `["no"]`)
	text := compose(t, published(t, src), Compose{})
	for _, want := range []string{"\n  \"2026-11-1\":\n", "posta.node: \"2026-11-1\"\n", "posta.host: \"no\"\n", "    - \"2026-11-2\"\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
}

func TestComposeIsForOneMachine(t *testing.T) {
	for want, tp := range map[string]*Topology{
		`host "front" is at 10.0.0.1`: parse(t, twoHosts),
		"IPv4 only":                   variant(t, Variant{Address: "::1"}),
		"unix sockets":                variant(t, Variant{IPCDir: "/run/posta"}),
		"is at posta.example":         variant(t, Variant{Address: "posta.example"}),
	} {
		if _, err := tp.Compose(Compose{}); !errors.Is(err, errNotOneMachine) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want one with %s", err, want)
		}
	}
	compose(t, variant(t, Variant{Address: "{node}"}), Compose{})
	if text := compose(t, variant(t, Variant{Address: "127.0.0.3"}), Compose{}); !strings.Contains(text, `- "127.0.0.3:5500:5500"`) {
		t.Errorf("it is not published where clients look for it:\n%s", text)
	}
}

// To a container 127.0.0.1 is itself, and names that only others know need their name servers.
func TestComposeReachesTheBroker(t *testing.T) {
	at := func(url string) *Topology {
		return variant(t, Variant{Address: "127.0.0.1", Settings: map[string]string{"cluster.transport": "rabbitmq", "rabbitmq.url": url}})
	}
	for _, url := range []string{"amqp://guest:secret@127.0.0.1:5672/", "amqp://localhost", "amqp://[::1]/"} {
		if _, err := at(url).Compose(Compose{}); !errors.Is(err, ErrLocalBroker) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", url, err)
		}
	}
	for url, asks := range map[string]bool{"amqp://10.0.0.7/": false, "amqp://rabbit.example/": true} {
		if text := compose(t, at(url), Compose{}); strings.Contains(text, "dns:") == asks {
			t.Errorf("%s:\n%s", url, text)
		}
	}
	variant(t, Variant{Address: "10.0.0.1", Settings: map[string]string{"cluster.transport": "rabbitmq"}}) // one machine, and its broker
	if text := compose(t, published(t, DefaultText()), Compose{}); !strings.Contains(text, "dns:") {
		t.Errorf("no broker, and strangers are asked for names:\n%s", text)
	}
}

// Seen from inside, nodes dial each other's names, and clients what the file says.
func TestInsideOneFileServesBoth(t *testing.T) {
	file := filepath.Join(t.TempDir(), "t.toml")
	src, err := Generate(Variant{Address: "127.0.0.1", Ports: 7000, BindPorts: 6000, Bind: "127.0.0.2"})
	if err == nil {
		err = os.WriteFile(file, []byte(src), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	outside, err := Load(file)
	if err != nil {
		t.Fatal(err)
	}
	inside, err := LoadWith(file, Addresses{Inside: InternalAddress})
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(inside.EntryPoints(), outside.EntryPoints()) || !reflect.DeepEqual(inside.Outputs(), outside.Outputs()) {
		t.Errorf("clients are told %v and %v, and the file says %v and %v", inside.EntryPoints(), inside.Outputs(), outside.EntryPoints(),
			outside.Outputs())
	}
	n, err := inside.Node("joiner-2")
	if err != nil {
		t.Fatal(err)
	}
	if want := (Endpoint{Dial: "tcp://joiner-2:6005", Bind: "tcp://0.0.0.0:6005"}); n.Sockets.Data != want {
		t.Errorf("data %v, want %v", n.Sockets.Data, want)
	}
	m, err := inside.Medic("medic-3")
	if err != nil {
		t.Fatal(err)
	}
	if want := (Endpoint{Dial: "tcp://medic-3:6018", Bind: "tcp://0.0.0.0:6018"}); m.Sockets.Control != want {
		t.Errorf("medic %v, want %v", m.Sockets.Control, want)
	}
	at, err := LoadWith(file, Addresses{Inside: "172.30.0.9"})
	if err != nil {
		t.Fatal(err)
	}
	if n, _ := at.Node("joiner-2"); n.Sockets.Data != (Endpoint{Dial: "tcp://172.30.0.9:6005", Bind: "tcp://172.30.0.9:6005"}) {
		t.Errorf("data at an address without a name: %v", n.Sockets.Data)
	}
}

func TestInsideRefuses(t *testing.T) {
	for address, want := range map[string]string{
		"{node}": "", "10.0.0.1": "", "{node}.posta": "",
		"{node}:5500": "holds a port", "0.0.0.0": "nobody can dial", "tcp://x": "holds a protocol", "ipc:/run": "do not reach",
		"{nod}": "neither",
	} {
		if err := CheckInternal(address); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", address, err, want)
		}
	}
	file := filepath.Join(t.TempDir(), "t.toml")
	src, err := Generate(Variant{IPCDir: "/run/posta"})
	if err == nil {
		err = os.WriteFile(file, []byte(src), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	var all Errors
	if _, err := LoadWith(file, Addresses{Inside: "{node}"}); !errors.As(err, &all) || all[0].Pos.Line < 2 ||
		!strings.Contains(err.Error(), "do not reach") {
		t.Errorf("unix sockets inside: %v", err)
	}
}
