package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"posta.dev/posta/test/await"
	"posta.dev/posta/test/temp"
	"posta.dev/posta/topology"
)

// cluster is a topology whose nodes are processes. A process that dies without being told to is started again at once, as a supervisor
// would do.
type cluster struct {
	t    *testing.T
	topo *topology.Topology
	dir  string
	wg   sync.WaitGroup

	mu       sync.Mutex
	procs    map[topology.NodeID]*os.Process
	stopping map[topology.NodeID]bool
	exits    map[topology.NodeID][]string // of processes that ended by themselves
	peak     map[topology.NodeID]int64    // largest VmHWM seen, bytes
}

// start generates a topology and starts its nodes. Sockets are in a short directory of their own.
func start(t *testing.T, v topology.Variant) *cluster {
	t.Helper()
	if v.Dir == "" {
		v.Dir = t.TempDir()
	}
	return startAll(t, v.Dir, temp.Topology(t, v))
}

func startAll(t *testing.T, dir string, topo *topology.Topology) *cluster {
	t.Helper()
	c := &cluster{
		t: t, topo: topo, dir: dir, procs: map[topology.NodeID]*os.Process{}, stopping: map[topology.NodeID]bool{},
		exits: map[topology.NodeID][]string{}, peak: map[topology.NodeID]int64{},
	}
	t.Cleanup(c.stopAll)
	for _, n := range topo.Nodes() {
		c.supervise(n.ID)
	}
	return c
}

func (c *cluster) supervise(id topology.NodeID) {
	c.mu.Lock()
	c.stopping[id] = false
	c.mu.Unlock()
	started := make(chan struct{})
	c.wg.Add(1)
	go func() {
		defer c.wg.Done()
		for first := true; ; first = false {
			cmd := c.spawn(id)
			if first {
				close(started)
			}
			if cmd == nil {
				return
			}
			err := cmd.Wait()
			if c.ended(id, cmd, err) {
				return
			}
		}
	}()
	<-started
}

func (c *cluster) spawn(id topology.NodeID) *exec.Cmd {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopping[id] {
		return nil
	}
	log, err := os.OpenFile(filepath.Join(c.dir, string(id)+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		c.t.Error(err)
		return nil
	}
	defer func() { _ = log.Close() }() // the child has its own
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), envNode+"="+string(id), envTopology+"="+c.topo.File)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		c.t.Error(err)
		return nil
	}
	c.procs[id] = cmd.Process
	return cmd
}

// ended notes how a process ended, and reports whether it must not be restarted.
func (c *cluster) ended(id topology.NodeID, cmd *exec.Cmd, err error) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.exits[id]) > maxExits {
		c.stopping[id] = true
	}
	status, _ := cmd.ProcessState.Sys().(syscall.WaitStatus)
	killed := status.Signaled() && status.Signal() == syscall.SIGKILL
	if !killed && (err != nil || !c.stopping[id]) {
		c.exits[id] = append(c.exits[id], fmt.Sprintf("%v", err))
	}
	if c.stopping[id] {
		delete(c.procs, id)
	}
	return c.stopping[id]
}

// maxExits ends the restarts of a node that cannot start: the test has failed by then.
const maxExits = 5

// signal sends a signal to a node's process.
func (c *cluster) signal(id topology.NodeID, s syscall.Signal) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if p := c.procs[id]; p != nil {
		_ = p.Signal(s) // the process may just have died, which most signals are sent to achieve
	}
}

// terminate asks a node to end (SIGTERM) and returns how long it took; its process is not started again.
func (c *cluster) terminate(id topology.NodeID) time.Duration {
	c.mu.Lock()
	c.stopping[id] = true
	p := c.procs[id]
	c.mu.Unlock()
	begin := time.Now()
	if p != nil {
		_ = p.Signal(syscall.SIGTERM)
	}
	c.gone(id)
	return time.Since(begin)
}

// kill ends a node (SIGKILL) for good, until supervise.
func (c *cluster) kill(id topology.NodeID) {
	c.mu.Lock()
	c.stopping[id] = true
	p := c.procs[id]
	c.mu.Unlock()
	if p != nil {
		_ = p.Signal(syscall.SIGKILL)
	}
	c.gone(id)
}

// gone waits for the end of a node's process.
func (c *cluster) gone(id topology.NodeID) {
	await.Until(c.t, string(id)+" ends", func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.procs[id] == nil
	})
}

// terminateAll asks all nodes to end at once, and returns how long each took.
func (c *cluster) terminateAll() map[topology.NodeID]time.Duration {
	var mu sync.Mutex
	var wg sync.WaitGroup
	took := map[topology.NodeID]time.Duration{}
	for _, id := range c.ids() {
		wg.Add(1)
		go func() {
			defer wg.Done()
			d := c.terminate(id)
			mu.Lock()
			defer mu.Unlock()
			took[id] = d
		}()
	}
	wg.Wait()
	return took
}

func (c *cluster) superviseAll() {
	for _, id := range c.ids() {
		c.supervise(id)
	}
}

func (c *cluster) stopAll() {
	c.mu.Lock()
	for id := range c.stopping {
		c.stopping[id] = true
	}
	for _, p := range c.procs {
		_ = p.Signal(syscall.SIGCONT)
		_ = p.Signal(syscall.SIGKILL)
	}
	c.mu.Unlock()
	c.wg.Wait()
	if c.t.Failed() {
		c.showLogs()
	}
}

func (c *cluster) showLogs() {
	logs, _ := filepath.Glob(filepath.Join(c.dir, "*.log"))
	for _, l := range logs {
		b, _ := os.ReadFile(l)
		lines := strings.Split(strings.TrimSpace(string(b)), "\n")
		c.t.Logf("%s:\n%s", filepath.Base(l), strings.Join(lines[max(0, len(lines)-15):], "\n"))
	}
}

// noUnexpectedExits fails the test if a process ended by itself: an error, a panic, a crash.
func (c *cluster) noUnexpectedExits() {
	c.t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, all := range c.exits {
		c.t.Errorf("node %s ended by itself %d times, first: %s", id, len(all), all[0])
	}
}

// ids returns the names of all nodes.
func (c *cluster) ids() []topology.NodeID {
	var ids []topology.NodeID
	for _, n := range c.topo.Nodes() {
		ids = append(ids, n.ID)
	}
	return ids
}

// watchMemory samples the peak memory of every process until ctx ends.
func (c *cluster) watchMemory(ctx context.Context) {
	c.wg.Add(1)
	go func() {
		defer c.wg.Done()
		for ctx.Err() == nil {
			c.sampleMemory()
			time.Sleep(100 * time.Millisecond)
		}
	}()
}

func (c *cluster) sampleMemory() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, p := range c.procs {
		if v := procStatus(p.Pid, "VmHWM:"); v > c.peak[id] {
			c.peak[id] = v
		}
	}
}

// procStatus reads a field of /proc/PID/status in bytes.
func procStatus(pid int, field string) int64 {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for _, line := range strings.Split(string(b), "\n") {
		if rest, ok := strings.CutPrefix(line, field); ok {
			kb, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			return kb << 10
		}
	}
	return 0
}

// logBytes returns the size of a node's data directory on disk, without the reserve, whose size never changes (W5).
func (c *cluster) logBytes(id topology.NodeID) int64 {
	n, err := c.topo.Node(id)
	if err != nil {
		c.t.Fatal(err)
	}
	total := int64(0)
	_ = filepath.Walk(n.DataDir, func(_ string, info os.FileInfo, err error) error {
		if err == nil && !info.IsDir() && info.Name() != "reserve" {
			total += info.Size()
		}
		return nil // files appear and disappear while the node runs
	})
	return total
}
