package medics

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"posta/analyses/bikes/bikesoracle"
	"posta/client"
	"posta/gen"
	"posta/topology"
)

// cluster is what `posta up` has started.
type cluster struct {
	t    *testing.T
	topo *topology.Topology
	dir  string
	ear  *ear
}

// up starts a cluster, and ends it with the test.
func up(t *testing.T, settings map[string]string) *cluster {
	t.Helper()
	sockets, err := os.MkdirTemp("/tmp", "pm")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(sockets) })
	dir := t.TempDir()
	text, err := topology.Generate(topology.Variant{IPCDir: sockets, Settings: settings})
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "topology.toml"), []byte(text), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	c := &cluster{t: t, dir: dir}
	if c.topo, err = topology.Load(filepath.Join(dir, "topology.toml")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.posta("down")
		if t.Failed() {
			c.showLogs()
		}
	})
	c.posta("up")
	c.ear = listen(t, c.topo)
	c.ear.until("a medic leads, and all are heard", func() bool {
		silent := func(n topology.Node) bool { return c.ear.incarnation(n.ID) == 0 }
		return c.ear.leader() != "" && !slices.ContainsFunc(c.topo.All(), silent)
	})
	return c
}

func (c *cluster) posta(args ...string) {
	c.t.Helper()
	out, err := exec.Command(os.Args[0], append(args, "-f", c.topo.File)...).CombinedOutput()
	if err != nil {
		c.t.Errorf("posta %v: %v: %s", args, err, out)
	}
}

func (c *cluster) showLogs() {
	logs, _ := filepath.Glob(filepath.Join(c.topo.DataDir, "log", "*.log"))
	for _, l := range logs {
		b, _ := os.ReadFile(l)
		lines := strings.Split(strings.TrimSpace(string(b)), "\n")
		c.t.Logf("%s:\n%s", filepath.Base(l), strings.Join(lines[max(0, len(lines)-12):], "\n"))
	}
}

// pid is the process that the pid file tells, 0 for none.
func (c *cluster) pid(id topology.NodeID) int {
	b, err := os.ReadFile(filepath.Join(c.topo.DataDir, "pids", string(id)))
	if err != nil {
		return 0
	}
	pid, _ := strconv.Atoi(strings.TrimSpace(string(b)))
	return pid
}

func (c *cluster) signal(id topology.NodeID, s syscall.Signal) (pid int) {
	c.t.Helper()
	pid = c.pid(id)
	if pid == 0 {
		c.t.Fatalf("%s has no process", id)
	}
	if err := syscall.Kill(pid, s); err != nil {
		c.t.Fatalf("%s: %v", id, err)
	}
	return pid
}

// gone says whether a process has ended; a zombie has.
func gone(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return true
	}
	rest := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	return len(rest) == 0 || rest[0] == "Z" || rest[0] == "X"
}

// load runs analyses, two at a time, until the test ends it; each answer has to be the oracle's.
type load struct {
	t    *testing.T
	c    *cluster
	data string
	want []byte
	stop context.CancelFunc
	wg   sync.WaitGroup

	mu   sync.Mutex
	done int
}

func (c *cluster) load(rows int) *load {
	c.t.Helper()
	dir := c.t.TempDir()
	if err := gen.Bikes(gen.OnDisk(dir), rows, 7); err != nil {
		c.t.Fatal(err)
	}
	oracle, err := bikesoracle.Run(dir, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	l := &load{t: c.t, c: c, data: dir, want: queries(c.t, oracle), stop: stop}
	for range 2 {
		l.wg.Add(1)
		go func() {
			defer l.wg.Done()
			for ctx.Err() == nil {
				l.analyse()
			}
		}()
	}
	c.t.Cleanup(func() { stop(); l.wg.Wait() })
	return l
}

// analyse runs to the end even when the load is over: an analysis in flight must finish.
func (l *load) analyse() {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	a, err := client.Run(ctx, client.Config{Entries: append(l.c.topo.EntryPoints(), l.c.topo.Outputs()...), Analysis: "bikes", Dir: l.data})
	if err != nil {
		l.t.Errorf("an analysis failed: %v", err)
		l.stop()
		return
	}
	if got := queries(l.t, a); !bytes.Equal(got, l.want) {
		l.t.Errorf("an answer differs from the oracle's: %.300s", got)
		l.stop()
	}
	l.mu.Lock()
	l.done++
	l.mu.Unlock()
}

// end waits for the analyses in flight and returns how many there were.
func (l *load) end() int {
	l.stop()
	l.wg.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.done
}

// queries is the part of an answer that does not depend on the session.
func queries(t *testing.T, v any) []byte {
	b, err := json.Marshal(v)
	var parts struct{ Queries, Rejected json.RawMessage }
	if err == nil {
		err = json.Unmarshal(b, &parts)
	}
	if err != nil {
		t.Errorf("an answer is no JSON: %v", err)
	}
	return append(append(parts.Queries, '\n'), parts.Rejected...)
}
