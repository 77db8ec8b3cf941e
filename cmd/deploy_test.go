package cmd

import (
	"os"
	"path/filepath"
	"testing"

	"posta.dev/posta/topology"
)

// What is rendered is what package topology says, in place of what was there, and the text of the file as it is.
func TestRenderWritesADirectoryForEachHost(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "t.toml")
	text, err := topology.Generate(topology.Variant{Address: "10.0.0.1"})
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
