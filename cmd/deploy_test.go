package cmd

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"posta.dev/posta/topology"
)

// TestRenderWritesADirectoryForEachHost: the command writes the files that package topology renders, replaces former files, and copies the
// topology file unchanged.
func TestRenderWritesADirectoryForEachHost(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "t.toml")
	text, err := topology.Generate(topology.Variant{Address: "10.0.0.1", Settings: map[string]string{"security.insecure": "true"}})
	if err != nil {
		t.Fatal(err)
	}
	text = "# mine\n" + text
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "rendered")
	for kind, names := range map[string][]string{
		"systemd": {"INSTALL.md", "etc/systemd/system/posta-posta-joiner-1.service", "var/lib/posta/posta/topology.toml"},
		"compose": {"INSTALL.md", "docker-compose.yaml", ".env", "topology.toml"},
	} {
		must(t, "deploy", "--render", kind, "-f", file, filepath.Join(out, kind))
		first := digest(t, filepath.Join(out, kind))
		must(t, "deploy", "--render", kind, "-f", file, filepath.Join(out, kind))
		if digest(t, filepath.Join(out, kind)) != first {
			t.Errorf("%s: the same topology writes other files", kind)
		}
		for _, name := range names {
			b, err := os.ReadFile(filepath.Join(out, kind, "local", filepath.FromSlash(name)))
			if err != nil {
				t.Error(err)
			}
			if filepath.Base(name) == "topology.toml" && string(b) != text {
				t.Errorf("%s: the topology is another one", kind)
			}
		}
	}
}

// TestS6_ARenderedPasswordIsForItsUserAlone: only its user can read the file, even if an earlier version left it readable for everybody.
func TestS6_ARenderedPasswordIsForItsUserAlone(t *testing.T) {
	dir := t.TempDir()
	file, out := filepath.Join(dir, "t.toml"), filepath.Join(dir, "rendered")
	for _, secret := range []bool{false, true} {
		mode, settings := os.FileMode(0o644), map[string]string{"security.insecure": "true", "cluster.transport": topology.ViaNATS,
			"nats.url": "nats://10.0.0.9:4222"}
		if secret {
			mode = 0o600
			settings["nats.url"] = "nats://s3cr3t@10.0.0.9:4222"
		}
		text, err := topology.Generate(topology.Variant{Address: "10.0.0.1", Settings: settings})
		if err == nil {
			err = os.WriteFile(file, []byte(text), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		for kind, name := range map[string]string{"systemd": "var/lib/posta/posta/topology.toml", "compose": "topology.toml"} {
			top := filepath.Join(out, kind, "local")
			path := filepath.Join(top, filepath.FromSlash(name))
			if secret {
				if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, nil, 0o644)); err != nil {
					t.Fatal(err)
				}
			}
			must(t, "deploy", "--render", kind, "-f", file, filepath.Join(out, kind))
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != mode&^umask() {
				t.Errorf("%s has the mode %v, %v; it has a secret: %v", path, info.Mode(), err, secret)
			}
			err := filepath.WalkDir(top, func(at string, d fs.DirEntry, err error) error {
				if err != nil || d.IsDir() || at == path {
					return err
				}
				if b, err := os.ReadFile(at); err != nil || strings.Contains(string(b), "s3cr3t") {
					t.Errorf("%s has the secret, or cannot be read: %v", at, err)
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		}
	}
	if b, err := os.ReadFile(filepath.Join(out, "systemd", "local", "INSTALL.md")); err != nil ||
		!strings.Contains(string(b), "chgrp posta /var/lib/posta/posta/topology.toml") {
		t.Errorf("INSTALL.md does not say how the nodes can read it: %v", err)
	}
}

func umask() os.FileMode {
	m := syscall.Umask(0)
	syscall.Umask(m)
	return os.FileMode(m)
}
