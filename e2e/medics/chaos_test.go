package medics

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// TestChaos is `posta chaos` beside sessions that run all the time: every answer is checked, and everybody is back in the end.
func TestChaos(t *testing.T) {
	c := up(t, nil)
	l := c.load(50000)
	out, err := exec.Command(os.Args[0], "chaos", "-f", c.topo.File, "--duration", max(*chaosTime, 8*time.Second).String(), "--every", "2s", "--seed", "1", "--patience", "1m").CombinedOutput()
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	t.Logf("%d analyses meanwhile, all answers right; %s", l.End(), lines[len(lines)-1])
}
