package medics

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"posta.dev/posta/test/e2e/clustertest"
)

// TestChaos is `posta chaos` beside sessions of all four analyses that run all the time: every answer is checked, and everybody is back in the end.
func TestChaos(t *testing.T) {
	c := up(t, nil)
	l := clustertest.Begin(t, c.topo, clustertest.EveryAnalysis(t, 50000)...)
	out, err := exec.Command(os.Args[0], "chaos", "-f", c.topo.File, "--duration", max(*chaosTime, 8*time.Second).String(), "--every", "2s", "--seed", "1", "--patience", "1m").CombinedOutput()
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	all := l.End()
	for _, name := range []string{"bikes", "flights", "movies", "memes"} {
		if l.Of(name) == 0 {
			t.Errorf("no run of %s has ended", name)
		}
	}
	t.Logf("%d analyses meanwhile, all answers right; %s", all, lines[len(lines)-1])
}
