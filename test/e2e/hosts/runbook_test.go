//go:build docker && linux

package hosts

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"posta.dev/posta/internal/gen"
	"posta.dev/posta/test/e2e/hosts/rack"
)

// TestRunbook does what docs/operations.md says, in its order, line by line, on three machines.
func TestRunbook(t *testing.T) {
	r := rack.New(t, 3, rack.Options{})
	c := &cluster{t: t, rack: r, name: "posta", dir: t.TempDir(), keyed: true}
	must(t, gen.Bikes(gen.OnDisk(filepath.Join(c.dir, "data")), 2000, 7))
	c.newProgram("posta-new")
	c.write(2, onBoth)
	t.Cleanup(c.showLogs)
	// What a page cannot write into a file is written here, before the commands below that heading.
	before := map[string]func(){"Adding a host, or more replicas": func() {
		c.clients = c.lineOf("ops")
		c.write(3, onAll)
	}}
	ran := 0
	for _, s := range runbook(t) {
		if f := before[s.heading]; f != nil {
			f()
			delete(before, s.heading)
		}
		for _, line := range s.lines {
			c.sh(s.heading, line)
			ran++
		}
	}
	if ran < 20 || len(before) > 0 {
		t.Errorf("%d commands in the runbook, and no heading %v; has its form changed?", ran, before)
	}
}

// lineOf returns the line of [clients] that a command has written for a client.
func (c *cluster) lineOf(name string) string {
	c.t.Helper()
	text, err := os.ReadFile(c.topo.File)
	must(c.t, err)
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, name+" = ") {
			return line
		}
	}
	c.t.Fatalf("%s has no line in the topology", name)
	return ""
}

type section struct {
	heading string
	lines   []string // of a block marked sh
}

// runbook finds what is to be run.
func runbook(t *testing.T) (all []section) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "operations.md"))
	must(t, err)
	heading, inside, shell := "", false, false
	for _, line := range strings.Split(string(text), "\n") {
		language, fence := strings.CutPrefix(line, "```")
		switch {
		case fence && !inside:
			if inside, shell = true, language == "sh"; shell {
				all = append(all, section{heading: heading})
			}
		case fence:
			inside = false
		case inside && shell:
			last := &all[len(all)-1]
			last.lines = append(last.lines, line)
		case !inside && strings.HasPrefix(line, "## "):
			heading = strings.TrimPrefix(line, "## ")
		}
	}
	return all
}

// sh runs a line where the topology is. The page's machines are ours.
func (c *cluster) sh(heading, line string) {
	c.t.Helper()
	for i, h := range c.rack.Hosts {
		line = strings.ReplaceAll(line, fmt.Sprintf("ssh://root@10.0.0.%d", i+1), h.Engine())
	}
	cmd := exec.Command("bash", "-euo", "pipefail", "-c", line)
	cmd.Dir = c.dir
	cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(posta)+":"+os.Getenv("PATH"))
	if out, err := cmd.CombinedOutput(); err != nil {
		c.t.Fatalf("%s: %s: %v: %s", heading, line, err, out)
	}
}
