// Package temp makes what a test needs of the disk for a cluster on this machine.
package temp

import (
	"os"
	"path/filepath"
	"testing"

	"posta.dev/posta/topology"
)

// Sockets returns a folder for unix sockets, which is gone after the test. The path of a socket has about a hundred bytes at most, and
// that of t.TempDir may be longer.
func Sockets(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "p")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// Topology writes a variant of the default topology and loads it. What the variant does not say are folders that are gone after the test.
func Topology(t testing.TB, v topology.Variant) *topology.Topology {
	t.Helper()
	if v.Dir == "" {
		v.Dir = t.TempDir()
	}
	if v.IPCDir == "" && v.Address == "" {
		v.IPCDir = Sockets(t)
	}
	text, err := topology.Generate(v)
	if err != nil {
		t.Fatal(err)
	}
	return Loaded(t, filepath.Join(v.Dir, "topology.toml"), text)
}

// Loaded writes a topology to a file and loads it.
func Loaded(t testing.TB, file, text string) *topology.Topology {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	top, err := topology.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	return top
}

// Parsed returns a variant of the default topology, of which there is no file.
func Parsed(t testing.TB, v topology.Variant) *topology.Topology {
	t.Helper()
	text, err := topology.Generate(v)
	if err != nil {
		t.Fatal(err)
	}
	top, err := topology.Parse("topology.toml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return top
}
