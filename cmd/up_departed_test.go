package cmd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"posta.dev/posta/test/temp"
	"posta.dev/posta/topology"
)

// TestUpSetsAsideNodesThatLeftTheTopology: joiners are removed and added again over the existing data. Each answer is right, and a joiner
// that comes back starts empty.
func TestUpSetsAsideNodesThatLeftTheTopology(t *testing.T) {
	k := newTestCluster(t)
	dir := data(t, "20000")
	want := expected(t, dir)
	v := topology.Variant{IPCDir: temp.Sockets(t), Settings: map[string]string{"limits.drain": "4s"}}
	for i, joiners := range []int{3, 1, 3} {
		v.Replicas = map[string]int{"joiner": joiners}
		k.write(v)
		r := k.must("up")
		if left := strings.Count(r.err, "has left the topology"); left != []int{0, 2, 0}[i] {
			t.Errorf("with %d joiners %d of the last time are said to have left: %s", joiners, left, r.err)
		}
		if i == 0 {
			mark(t, filepath.Join(k.dir, "cluster", "joiner-3"))
		}
		for range 2 {
			same(t, parse(t, k.must("submit", "bikes", "--data", dir, "--json").out), want)
		}
		k.must("down")
	}
	for where, there := range map[string]bool{"joiner-3": false, "left/joiner-3": true} {
		if _, err := os.Stat(filepath.Join(k.dir, "cluster", where, "mark")); (err == nil) != there {
			t.Errorf("the first data of joiner-3 is in %s: %v", where, err == nil)
		}
	}
}

func mark(t *testing.T, dir string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "mark"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
}
