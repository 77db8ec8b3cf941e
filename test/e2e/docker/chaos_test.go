//go:build docker

package docker

import (
	"strings"
	"testing"
	"time"

	"posta.dev/posta/test/e2e/clustertest"
)

// TestChaos is `posta chaos --docker` beside sessions that run all the time: every answer is checked, and everybody is back in the end.
func TestChaos(t *testing.T) {
	c := up(t)
	l := c.load(30000)
	out, err := clustertest.Command(posta, "chaos", "--docker", "-f", c.topo.File, "--duration", max(*chaosTime, 12*time.Second).String(),
		"--every", "3s", "--seed", "1", "--patience", "1m")
	lines := strings.Split(out, "\n")
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	t.Logf("%d analyses meanwhile, all answers right; %s", l.End(), lines[len(lines)-1])
}
