package topology

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRenderings compares what is rendered for two hosts with files that are to be read: -update writes them.
func TestRenderings(t *testing.T) {
	src, err := os.ReadFile("testdata/rendered/topology.toml")
	if err != nil {
		t.Fatal(err)
	}
	tp := parse(t, string(src))
	systemd, err := tp.Systemd(Systemd{}, string(src))
	if err != nil {
		t.Fatal(err)
	}
	compose, err := tp.ComposeHosts(Compose{Again: "posta deploy --render compose DIR"}, string(src))
	if err != nil {
		t.Fatal(err)
	}
	goldenFiles(t, "testdata/rendered/systemd", systemd)
	goldenFiles(t, "testdata/rendered/compose", compose)
}

// goldenFiles compares files with those in a directory, which has no others.
func goldenFiles(t *testing.T, dir string, files []File) {
	t.Helper()
	if *update {
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
	}
	wanted := map[string]bool{}
	for _, f := range files {
		if filepath.Base(f.Name) == "topology.toml" {
			continue // the text that was given; checked below
		}
		name := filepath.Join(dir, f.Name)
		wanted[name] = true
		if *update {
			if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(f.Text), 0o644)); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(name); err != nil || string(got) != f.Text {
			t.Errorf("%s is not what is rendered (%v); look at the difference after go test ./topology -run TestRenderings -update", name, err)
		}
	}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !wanted[path] {
			t.Errorf("%s is not rendered any more", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func find(t *testing.T, files []File, name string) string {
	t.Helper()
	for _, f := range files {
		if f.Name == name {
			return f.Text
		}
	}
	t.Fatalf("no file %s", name)
	return ""
}

// The text that hosts get is the one that was read, to the last byte: every process has to derive the same addresses from it.
func TestRenderedTopologyIsTheText(t *testing.T) {
	text, err := Generate(Variant{Address: "10.0.0.1"})
	if err != nil {
		t.Fatal(err)
	}
	tp := parse(t, text)
	systemd, err := tp.Systemd(Systemd{}, text)
	if err != nil {
		t.Fatal(err)
	}
	compose, err := tp.ComposeHosts(Compose{}, text)
	if err != nil {
		t.Fatal(err)
	}
	if find(t, systemd, "local/var/lib/posta/posta/topology.toml") != text || find(t, compose, "local/topology.toml") != text {
		t.Error("it is another text")
	}
}

// Wherever the data is, its directory is there and may be written before the process starts.
func TestSystemdFindsItsData(t *testing.T) {
	for dir, want := range map[string][]string{
		"data":         {"StateDirectory=posta/c/data/joiner-1\n"},
		"../shared":    {"StateDirectory=posta/shared/joiner-1\n"},
		"/var/lib/p x": {`StateDirectory="p x/joiner-1"` + "\n"},
		"/srv/100%/it's": {`ReadWritePaths=-"/srv/100%%/it's/joiner-1"` + "\n",
			`ExecStartPre=+/usr/bin/install -d -m 0700 -o posta -g posta "/srv/100%%/it's/joiner-1"` + "\n"},
		"/srv/$5": {"ReadWritePaths=-/srv/$5/joiner-1\n", "-g posta /srv/$$5/joiner-1\n"},
	} {
		files, err := variant(t, Variant{Name: "c", Dir: dir, Address: "10.0.0.1"}).Systemd(Systemd{}, "")
		if err != nil {
			t.Fatal(err)
		}
		unit := find(t, files, "local/etc/systemd/system/posta-c-joiner-1.service")
		for _, line := range want {
			if !strings.Contains(unit, line) {
				t.Errorf("data in %s: no %q in\n%s", dir, line, unit)
			}
		}
	}
}

func TestSystemdSettings(t *testing.T) {
	files, err := variant(t, Variant{Address: "10.0.0.1", Settings: map[string]string{"limits.drain": "1500ms",
		"medics.replicas": "0"}}).Systemd(Systemd{Program: "/opt/posta", User: "who"}, "")
	if err != nil {
		t.Fatal(err)
	}
	unit := find(t, files, "local/etc/systemd/system/posta-posta-joiner-1.service")
	for _, line := range []string{"TimeoutStopSec=3500ms\n", "ExecStart=/opt/posta node joiner-1 -f ", "User=who\n", "Restart=no\n"} {
		if !strings.Contains(unit, line) {
			t.Errorf("no %q in\n%s", line, unit)
		}
	}
	for _, f := range files {
		if strings.Contains(f.Name, "medic") || strings.HasSuffix(f.Name, ".service") && strings.Contains(f.Text, "medic-") {
			t.Errorf("%s is about medics, and there is none", f.Name)
		}
	}
}

func TestRenderingsRefuse(t *testing.T) {
	for want, tp := range map[string]*Topology{
		"has no address":              Default(),
		"has unix sockets":            variant(t, Variant{IPCDir: "/run/posta"}),
		"for a network of containers": variant(t, Variant{Address: "{node}"}),
	} {
		_, err := tp.Systemd(Systemd{}, "")
		_, err2 := tp.ComposeHosts(Compose{}, "")
		for _, e := range []error{err, err2} {
			if !errors.Is(e, errNotPerHost) || !strings.Contains(e.Error(), want) {
				t.Errorf("%v, want one with %q", e, want)
			}
		}
	}
}

// TestS6_RenderedKeys: each node and medic is told its own key directory and no other; without keys nothing names one.
func TestS6_RenderedKeys(t *testing.T) {
	src, err := os.ReadFile("testdata/rendered/topology.toml")
	if err != nil {
		t.Fatal(err)
	}
	tp := parse(t, string(src))
	systemd, err := tp.Systemd(Systemd{Keys: true}, string(src))
	if err != nil {
		t.Fatal(err)
	}
	compose, err := tp.ComposeHosts(Compose{Keys: true}, string(src))
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range tp.All() {
		unit := find(t, systemd, n.Host+"/etc/systemd/system/"+tp.Unit(n.ID))
		if !strings.Contains(unit, " --keys /"+tp.SystemdKeys(n)+" -f ") || strings.Count(unit, "keys") != 2 {
			t.Errorf("%s is not told its keys, or others:\n%s", n.ID, unit)
		}
		_, service, _ := strings.Cut(find(t, compose, n.Host+"/docker-compose.yaml"), "\n  "+string(n.ID)+":\n")
		service, _, _ = strings.Cut(service, "\n\n")
		for _, line := range []string{`, --keys, "/posta/keys"`, `- {type: bind, source: "./` + ComposeKeys(n) +
			`", target: "/posta/keys", read_only: true}`} {
			if strings.Count(service, line) != 1 {
				t.Errorf("no %q in\n%s", line, service)
			}
		}
	}
	for _, host := range []string{"a", "b"} {
		if note := find(t, systemd, host+"/INSTALL.md"); !strings.Contains(note, "chown -R posta: /"+tp.systemdKeys()+"/node\n") ||
			!strings.Contains(note, "--signal=HUP") {
			t.Errorf("host %s is not told what to do with keys:\n%s", host, note)
		}
		if note := find(t, compose, host+"/INSTALL.md"); !strings.Contains(note, "kill -s HUP") ||
			!strings.Contains(note, "chown -R 65532:65532 keys/node\n") {
			t.Errorf("host %s is not told what to do with keys:\n%s", host, note)
		}
	}
	one := variant(t, Variant{Address: "127.0.0.1"})
	text, err := one.Compose(Compose{Keys: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range one.All() {
		if !strings.Contains(text, string(n.ID)) || strings.Count(text, `--keys, "/posta/cluster/`+string(n.ID)+`/keys"`) != 1 {
			t.Errorf("%s is not told its keys:\n%s", n.ID, text)
		}
	}
	if plain, err := one.Compose(Compose{}); err != nil || strings.Contains(plain, "keys") {
		t.Errorf("without keys: %v, %s", err, plain)
	}
}
