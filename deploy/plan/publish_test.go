package plan

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"posta.dev/posta/topology"
)

// withHost is the default topology on a host with these settings.
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

// TestS_PortsArePublishedWhereTheTopologySays: an engine that is given no address publishes at all that the machine has.
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

// TestS6_NoPasswordOfABrokerInAContainer: whoever may ask an engine reads the environment of its containers.
func TestS6_NoPasswordOfABrokerInAContainer(t *testing.T) {
	for _, settings := range []map[string]string{
		{"cluster.transport": topology.ViaRabbitMQ, "rabbitmq.url": "amqp://me:s3cr3t@10.0.0.9/"},
		{"cluster.transport": topology.ViaNATS, "nats.url": "nats://s3cr3t@10.0.0.9"},
		{"cluster.transport": topology.ViaNATS}, // containers would look for it at their own 127.0.0.1
		{"nats.url": "nats://s3cr3t@10.0.0.9"},  // not used, and in the text of the revision
	} {
		text, err := topology.Generate(topology.Variant{Address: "10.0.0.1", Settings: settings})
		if err != nil {
			t.Fatal(err)
		}
		top, err := topology.Parse("t.toml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := FromTopology(top, text, "image", "amd64", nil); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "--render") || strings.Contains(err.Error(), "s3cr3t") {
			t.Errorf("%v: %v", settings, err)
		}
		d, err := FromTopology(top, text, "", "", nil) // to take it down
		if err != nil {
			t.Error(err)
		}
		for _, u := range d.Units {
			if all := fmt.Sprint(u.Spec); strings.Contains(all, "s3cr3t") {
				t.Errorf("%s is made of %s", u.Name, all)
			}
		}
	}
}

// TestS_OnlyMedicsHaveTheEngine: who reaches its socket is root on the host.
func TestS_OnlyMedicsHaveTheEngine(t *testing.T) {
	d, err := FromTopology(withHost(t, fmt.Sprintf("address = %q\nengine_socket = %q", "10.0.0.1", "/run/engine.sock")), "", "image", "amd64", nil)
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
