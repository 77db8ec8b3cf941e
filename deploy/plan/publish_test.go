package plan

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"posta.dev/posta/topology"
)

// withHost returns the default topology on a host with these settings.
func withHost(t *testing.T, settings string) *topology.Topology {
	t.Helper()
	before, rest, _ := strings.Cut(topology.DefaultText(), "[hosts.local]")
	_, after, _ := strings.Cut(rest, "# What posta deploy needs")
	top, err := topology.Parse("t.toml", []byte(before+"[hosts.local]\n"+settings+"\n# "+after))
	if err != nil {
		t.Fatal(err)
	}
	return top
}

// TestS_PortsArePublishedWhereTheTopologySays: without an address, an engine would publish ports at all addresses of
// the machine.
func TestS_PortsArePublishedWhereTheTopologySays(t *testing.T) {
	for settings, want := range map[string]string{
		`address = "10.0.0.1"`:                             "10.0.0.1",
		`address = "fd00::1"`:                              "fd00::1",
		`address = "127.0.0.1"`:                            "127.0.0.1",
		`address = "localhost"`:                            "127.0.0.1",
		"address = \"198.51.100.7\"\nbind = \"10.0.0.1\"":  "10.0.0.1",
		"address = \"198.51.100.7\"\nbind = \"0.0.0.0\"":   "0.0.0.0",
		"address = \"posta.example\"\nbind = \"10.0.0.1\"": "10.0.0.1",
		`address = "posta.example"`:                        "",
		`address = "{node}.posta.example"`:                 "",
		"address = \"posta.example\"\nnetwork = \"host\"":  "no port is published",
	} {
		d, err := FromTopology(withHost(t, settings), "", "image", "amd64", nil)
		if want == "" {
			if !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), `host "local" is at`) || !strings.Contains(err.Error(), "write bind") {
				t.Errorf("%s: %v", settings, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", settings, err)
		}
		for _, u := range d.Units {
			if len(u.Spec.Ports) == 0 {
				t.Errorf("%s: %s publishes nothing", settings, u.Name)
			}
			for _, p := range u.Spec.Ports {
				if u.Spec.Network != "" && p.At != want {
					t.Errorf("%s: %s is published at %q, want %s", settings, u.Name, p.At, want)
				}
			}
		}
	}
}

// The console of each medic is published at the loopback address that the topology names, whatever the host's own address is.
func TestTheConsoleIsPublishedOnItsMachine(t *testing.T) {
	for settings, bridged := range map[string]bool{
		`address = "127.0.0.1"`: true, `address = "10.0.0.1"`: true, "address = \"10.0.0.1\"\nnetwork = \"host\"": false,
	} {
		top := withHost(t, settings)
		top.Medics.Console = "127.0.0.1:8080"
		d, err := FromTopology(top, "", "image", "amd64", nil)
		if err != nil {
			t.Fatal(err)
		}
		var ports []string
		for _, u := range d.Units {
			socket := slices.ContainsFunc(u.Spec.Mounts, func(m Mount) bool { return strings.Contains(m.File, "docker.sock") })
			if socket != u.Medic() {
				t.Errorf("%s: %s has the engine's socket: %v", settings, u.Name, socket)
			}
			if u.Role != topology.RoleConsole {
				continue
			}
			if u.Spec.User != topology.NodeUser || len(u.Spec.Ports) != 1 {
				t.Errorf("%s: %s runs as %s and publishes %v", settings, u.Name, u.Spec.User, u.Spec.Ports)
			}
			p := u.Spec.Ports[0]
			ports = append(ports, fmt.Sprintf("%s %s:%d:%d", u.Name, p.At, p.Outside, p.Inside))
			if got := strings.Contains(strings.Join(u.Spec.Command, " "), "--console-bind 0.0.0.0"); got != bridged {
				t.Errorf("%s: %s is started by %q", settings, u.Name, u.Spec.Command)
			}
		}
		if got, want := strings.Join(ports, ", "),
			"medic-1-console 127.0.0.1:8080:8080, medic-2-console 127.0.0.1:8081:8081, medic-3-console 127.0.0.1:8082:8082"; got != want {
			t.Errorf("%s: %s", settings, got)
		}
	}
}

// TestS6_NoPasswordOfABrokerInAContainer: every user of an engine can read the environment, the labels and the command
// of its containers, and the topology that is kept there. Without keys the password does not travel at all.
func TestS6_NoPasswordOfABrokerInAContainer(t *testing.T) {
	for _, c := range []struct {
		settings map[string]string
		carried  bool // the nodes need the password
		text     string
	}{
		{settings: map[string]string{"cluster.transport": topology.ViaRabbitMQ, "rabbitmq.url": "amqp://me:s3cr3t@10.0.0.9/v",
			"rabbitmq.queue": "quorum"}, carried: true,
			text: `queue = "quorum"`},
		{settings: map[string]string{"cluster.transport": topology.ViaRabbitMQ, "rabbitmq.url": "amqps://rabbit.example/v?password=s3cr3t"},
			carried: true, text: "@rabbit.example/v"},
		{settings: map[string]string{"cluster.transport": topology.ViaNATS, "nats.url": "nats://s3cr3t@10.0.0.9"}, carried: true,
			text: "@10.0.0.9"},
		{settings: map[string]string{"cluster.transport": topology.ViaNATS, "nats.url": "nats://10.0.0.9:4222"}, text: "nats://10.0.0.9:4222"},
		{settings: map[string]string{"nats.url": "nats://s3cr3t@10.0.0.9"}}, // not used
	} {
		top, text := generated(t, c.settings)
		text = "# before: amqp://old:s3cr3t@10.0.0.8/ nats://s3cr3t@10.0.0.8\n" + text
		keys := map[string]string{}
		for _, n := range top.All() {
			keys[string(n.ID)] = "digest"
		}
		if _, err := FromTopology(top, text, "image", "amd64", nil); c.carried != errors.Is(err, ErrRefused) || err != nil &&
			(!strings.Contains(err.Error(), "--render") || strings.Contains(err.Error(), "s3cr3t")) {
			t.Errorf("%v, without keys: %v", c.settings, err)
		}
		for _, image := range []string{"image", ""} { // to make it, and to take it down
			d, err := FromTopology(top, text, image, "amd64", keys)
			if err != nil {
				t.Fatalf("%v: %v", c.settings, err)
			}
			if all := fmt.Sprintf("%+v", d); top.HasBrokerSecret() && strings.Contains(all, "s3cr3t") || image != "" &&
				!strings.Contains(all, c.text) {
				t.Errorf("%v: it is made of %s", c.settings, all)
			}
		}
	}
}

// TestS6_AnotherPasswordNeedsNoNewContainers: the spec of a container names neither the broker's user nor its password.
// Another broker needs new ones.
func TestS6_AnotherPasswordNeedsNoNewContainers(t *testing.T) {
	spec := func(url string) string {
		top, text := generated(t, map[string]string{"cluster.transport": topology.ViaRabbitMQ, "rabbitmq.url": url})
		d, err := FromTopology(top, text, "image", "amd64", map[string]string{"joiner-1": "digest"})
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("%+v %s", d.Units, d.RevisionDigest())
	}
	first := spec("amqp://me:one@10.0.0.9/")
	if spec("amqp://you:two@10.0.0.9/") != first {
		t.Error("another user and password make other containers")
	}
	if spec("amqp://me:one@10.0.0.8/") == first {
		t.Error("another broker makes the same containers")
	}
}

// TestContainersReachTheirBroker, or the deploy is refused. Containers look up a broker's name in the network's name
// servers.
func TestContainersReachTheirBroker(t *testing.T) {
	units := func(address, url string) ([]Unit, error) {
		text, err := topology.Generate(topology.Variant{Address: address,
			Settings: map[string]string{"cluster.transport": topology.ViaNATS, "nats.url": url}})
		if err != nil {
			t.Fatal(err)
		}
		top, err := topology.Parse("t.toml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		d, err := FromTopology(top, text, "image", "amd64", nil)
		return d.Units, err
	}
	if _, err := units("127.0.0.1", "nats://127.0.0.1"); !errors.Is(err, ErrRefused) || !errors.Is(err, topology.ErrLocalBroker) {
		t.Errorf("containers look for their broker at their own 127.0.0.1: %v", err)
	}
	for url, asks := range map[string]bool{"nats://10.0.0.9": false, "nats://nats.example": true} {
		all, err := units("127.0.0.1", url)
		if err != nil {
			t.Fatal(err)
		}
		for _, u := range all {
			if u.Spec.NoDNS == (asks && !u.Medic()) {
				t.Errorf("%s: %s asks other name servers: %v", url, u.Name, !u.Spec.NoDNS)
			}
		}
	}
}

// generated returns the default topology with these settings, on a host that others reach.
func generated(t *testing.T, settings map[string]string) (*topology.Topology, string) {
	t.Helper()
	text, err := topology.Generate(topology.Variant{Address: "10.0.0.1", Settings: settings})
	if err != nil {
		t.Fatal(err)
	}
	top, err := topology.Parse("t.toml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return top, text
}

// TestS_OnlyMedicsHaveTheEngine: whoever reaches an engine's socket is root on the host.
func TestS_OnlyMedicsHaveTheEngine(t *testing.T) {
	d, err := FromTopology(withHost(t, fmt.Sprintf("address = %q\nengine_socket = %q", "10.0.0.1", "/run/engine.sock")), "", "image", "amd64",
		nil)
	if err != nil {
		t.Fatal(err)
	}
	medics := 0
	for _, u := range d.Units {
		files := 0
		for _, m := range u.Spec.Mounts {
			if m.File != "" {
				files++
			}
		}
		if u.Medic() {
			medics++
		}
		if u.Medic() != (files == 1) || files > 1 {
			t.Errorf("%s has %d files of its host", u.Name, files)
		}
	}
	if medics != 3 {
		t.Errorf("%d medics", medics)
	}
}

// TestS8_InputsSeeTheirHostsRoots, and no other nodes do. In a cluster without keys, the console of a medic sees the roots of an input's
// host. Without roots a container's digest is the same as in versions that had no roots.
func TestS8_InputsSeeTheirHostsRoots(t *testing.T) {
	parsed := withHost(t, "address = \"10.0.0.1\"\nroots = [\"/srv/data\", \"/mnt\"]")
	keyed := map[string]string{}
	for _, n := range parsed.All() {
		keyed[string(n.ID)], keyed[topology.ConsoleName(n)] = "key of "+string(n.ID), "key of "+string(n.ID)
	}
	for _, c := range []struct {
		console string
		keys    map[string]string
		asks    bool
	}{{"", nil, false}, {"127.0.0.1:8080", nil, true}, {"127.0.0.1:8080", keyed, false}} {
		parsed.Medics.Console = c.console
		d, err := FromTopology(parsed, "", "image", "amd64", c.keys)
		if err != nil {
			t.Fatal(err)
		}
		inputs, consoles := 0, 0
		for _, u := range d.Units {
			var seen []string
			for _, m := range u.Spec.Mounts {
				if m.ReadOnly {
					seen = append(seen, m.File+" at "+m.Target)
				}
			}
			want := ""
			switch {
			case u.Role == topology.RoleConsole && c.asks:
				consoles++
				fallthrough
			case holds(u.Chain, topology.Input):
				inputs++
				want = "/srv/data at /srv/data, /mnt at /mnt"
			}
			if got := strings.Join(seen, ", "); got != want {
				t.Errorf("console %q: %s reads %q, want %q", c.console, u.Name, got, want)
			}
		}
		if inputs == consoles || (consoles > 0) != c.asks {
			t.Errorf("console %q: %d inputs and consoles, %d consoles", c.console, inputs, consoles)
		}
	}
	if text, err := json.Marshal(Mount{Volume: "v", Target: "/t"}); err != nil || string(text) != `{"Volume":"v","File":"","Target":"/t"}` {
		t.Errorf("a mount is digested as %s, %v", text, err)
	}
}
