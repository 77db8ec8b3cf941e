package medics

import (
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"posta.dev/posta/test/e2e/clustertest"
	"posta.dev/posta/topology"
)

// TestChaos injects everything that disks, clocks and processes do to a cluster, several faults at once, while small sessions of all
// analyses run one after the other. Each session has the oracle's answer. Or, only if a node lost its data, it names that node within
// seconds. Medics restart only what a fault has hit.
func TestChaos(t *testing.T) {
	seed := *chaosSeed
	if seed == 0 {
		seed = rand.Uint64() >> 32
	}
	s := newStorm(t, seed)
	settings := map[string]string{"limits.segment": "1MiB", "limits.snapshot": "1MiB"} // snapshots and cuts all the time
	maps.Copy(settings, underLoad())
	c := newCluster(t, t.TempDir(), topology.Variant{Replicas: map[string]int{"input": 2, "output": 2}, Settings: settings})
	s.prepare(c.topo)
	c.up()
	s.attach(c)
	jobs := append(clustertest.EveryAnalysis(t, 3000), clustertest.Statements(t, 1500)...)
	load := beginSessions(t, c.topo, jobs)
	s.rage(max(*chaosTime, 8*time.Second), 2*time.Second)
	ends := load.finish()
	c.Settle()
	v := s.judge(ends, c.Sightings())
	t.Logf("-chaos-seed %d\n%v", seed, v)
	for what, all := range map[string][]string{"wrong answers": v.wrong, "hung": v.hung, "failed, and nothing permits it": v.unpermitted,
		"healthy and killed": v.unexplained} {
		if len(all) > 0 {
			t.Errorf("%s:\n%s", what, strings.Join(all, "\n"))
		}
	}
	again := clustertest.Begin(t, c.topo, jobs...)
	again.More(1) // all is over
	again.End()
}

// TestChaosCommand is `posta chaos` beside sessions of all four analyses and of SQL that run all the time: every answer
// is checked, and all nodes and medics are back in the end. Without -chaos or -race TestChaos covers the code below the
// command.
func TestChaosCommand(t *testing.T) {
	if *chaosTime == 0 && !raced {
		t.Log("nothing to do without -chaos or -race")
		return
	}
	c := up(t, nil)
	l := clustertest.Begin(t, c.topo, append(clustertest.EveryAnalysis(t, 50000), clustertest.Statements(t, 20000)...)...)
	out, err := exec.Command(os.Args[0], "chaos", "-f", c.topo.File, "--duration", max(*chaosTime, 8*time.Second).String(), "--every", "2s",
		"--seed", "1", "--patience", "1m").CombinedOutput()
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	all := l.End()
	for _, name := range []string{"bikes", "flights", "movies", "memes", "sql"} {
		if l.Of(name) == 0 {
			t.Errorf("no run of %s has ended", name)
		}
	}
	t.Logf("%d analyses meanwhile, all answers right; %s", all, lines[len(lines)-1])
}
