package cmd

import (
	"strings"
	"testing"

	"posta.dev/posta/cmd/internal/run"
)

// TestARunOnManyCores: its answers are those of a run on few cores.
func TestARunOnManyCores(t *testing.T) {
	dir := data(t, "2000")
	few := parse(t, must(t, "run", "bikes", "--data", dir, "--json").out)
	former := run.Cores
	run.Cores = func() int { return 16 }
	defer func() { run.Cores = former }()
	r := must(t, "run", "bikes", "--data", dir, "--json", "-v")
	same(t, parse(t, r.out), few)
	for _, node := range []string{"input-2", "joiner-2", "aggregator-2"} {
		if !strings.Contains(r.err, node+" started") {
			t.Errorf("there is no %s:\n%s", node, r.err)
		}
	}
}
