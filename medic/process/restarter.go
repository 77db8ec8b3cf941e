package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"posta.dev/posta/internal/owned"
	"posta.dev/posta/medic"
	"posta.dev/posta/topology"
)

// Config says how nodes are started.
type Config struct {
	Dir           string                           // directory of the pid files; New creates it
	Logs          string                           // directory of the log files; New creates it
	Command       func(node medic.NodeID) []string // the program and its arguments
	Env           []string                         // nil: Environment of this process
	DieWithParent bool                             // children die with this process
}

// Restarter starts nodes as child processes. Several Restarters, in several processes, may use one directory if they hold a common lock
// when they start and kill (package host); looking needs no lock.
type Restarter struct {
	cfg     Config
	logSize topology.Size // of one log file
	thread  *forkThread   // nil unless DieWithParent is set

	mu       sync.Mutex
	children map[medic.NodeID]*child  // the last child started here, by node
	adopted  map[medic.NodeID]*handle // processes that another process has started, by node; empty if the system has no handles
}

// New creates the directories. The caller must close the restarter.
func New(cfg Config) (*Restarter, error) {
	for _, dir := range []string{cfg.Dir, cfg.Logs} {
		if err := owned.Tree(dir); err != nil {
			return nil, fmt.Errorf("make a directory for processes: %w", err)
		}
	}
	if err := keepInherited(); err != nil {
		return nil, err
	}
	logSize, err := LogSize()
	if err != nil {
		return nil, err
	}
	r := &Restarter{cfg: cfg, logSize: logSize, children: map[medic.NodeID]*child{}, adopted: map[medic.NodeID]*handle{}}
	if cfg.DieWithParent {
		r.thread = newForkThread()
	}
	return r, nil
}

// Close releases the processes. They continue to run unless they are tied to this one, so the caller stops tied processes first.
func (r *Restarter) Close() error {
	if r.thread != nil {
		r.thread.close()
	}
	r.letGo()
	return nil
}

// letGo closes what is open for living processes.
func (r *Restarter) letGo() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for node, h := range r.adopted {
		h.close()
		delete(r.adopted, node)
	}
	for _, c := range r.children {
		c.letGo()
	}
}

// Log returns the file with a node's output. The previous log file is next to it: see LogSize.
func (r *Restarter) Log(node medic.NodeID) string {
	return filepath.Join(r.cfg.Logs, string(node)+".log")
}

// Start implements medic.Restarter.
func (r *Restarter) Start(ctx context.Context, node medic.NodeID) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch alive, err := r.aliveLocked(node); {
	case err != nil:
		return err
	case alive:
		return fmt.Errorf("start %s: %w", node, medic.ErrRunning)
	}
	c := &child{kernel: followKernel()}
	if c.kernel == nil {
		c.kills = newKillCount(vmstat, time.Now())
	}
	pid, gate, err := r.fork(node)
	if c.pid = pid; err != nil {
		c.letGo()
		return fmt.Errorf("start %s: %w", node, err)
	}
	r.children[node] = c
	if err := r.recordAndOpen(node, c.pid, gate); err != nil {
		// Without its files no later restarter would find the process, so it must not live.
		_ = syscall.Kill(c.pid, syscall.SIGKILL)
		return fmt.Errorf("start %s: %w", node, err)
	}
	return nil
}

// fork starts the process as our child, and keeps nothing open for it but the gate at which it waits (AwaitRecord).
func (r *Restarter) fork(node medic.NodeID) (pid int, gate *os.File, err error) {
	log, err := openLog(r.Log(node), r.logSize)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = log.Close() }()
	waits, gate, err := os.Pipe()
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = waits.Close() }()
	argv := r.cfg.Command(node)
	cmd := exec.Command(argv[0], argv[1:]...)
	env := r.cfg.Env
	if env == nil {
		env = Environment()
	}
	cmd.ExtraFiles = []*os.File{waits} // descriptor 3, after the standard ones
	cmd.Env = append(slices.Clone(env), logFileVar+"="+r.Log(node), GateVar+"=3")
	cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = log, log, detached()
	start := cmd.Start
	if r.thread != nil {
		cmd.SysProcAttr = dieWithParent()
		start = func() error { return r.thread.do(cmd.Start) }
	}
	if err := start(); err != nil {
		return 0, nil, errors.Join(err, gate.Close())
	}
	pid = cmd.Process.Pid
	if err := cmd.Process.Release(); err != nil { // it is reaped by reapLocked
		return 0, nil, errors.Join(err, gate.Close())
	}
	return pid, gate, nil
}

// Terminate implements medic.Restarter.
func (r *Restarter) Terminate(ctx context.Context, node medic.NodeID) error {
	return r.Signal(ctx, node, syscall.SIGTERM)
}

// Kill implements medic.Restarter.
func (r *Restarter) Kill(ctx context.Context, node medic.NodeID) error {
	if err := r.Signal(ctx, node, syscall.SIGKILL); err != nil {
		return err
	}
	if _, err := r.Wait(ctx, node); err != nil {
		return fmt.Errorf("kill %s: %w: %w", node, medic.ErrStillThere, err)
	}
	return nil
}

// Signal sends a signal to the node's process, and never to another one. It is not an error if there is no process.
func (r *Restarter) Signal(ctx context.Context, node medic.NodeID, sig os.Signal) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	pid, err := r.pidLocked(node)
	if err != nil || pid == 0 {
		return err
	}
	// The handle always means the same process. So it is opened first, and the start time is checked afterwards.
	p, err := os.FindProcess(pid)
	if err != nil {
		return nil // gone meanwhile
	}
	defer func() { _ = p.Release() }()
	if again, err := r.pidLocked(node); err != nil || again != pid {
		return err
	}
	if c := r.children[node]; c != nil && c.pid == pid && sig == os.Kill {
		c.struck = true
	}
	if err := p.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("send %v to %s, process %d: %w", sig, node, pid, err)
	}
	return nil
}

// Alive implements medic.Restarter.
func (r *Restarter) Alive(ctx context.Context, node medic.NodeID) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.aliveLocked(node)
}

// Pid returns the node's process, 0 if it has none.
func (r *Restarter) Pid(node medic.NodeID) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.pidLocked(node)
}

// How often Wait looks if the system does not report ends: looking costs one system call for our own child, and two reads of files for
// another process.
const (
	pollChild   = 10 * time.Millisecond
	pollAdopted = 50 * time.Millisecond
)

// Wait implements medic.Restarter.
func (r *Restarter) Wait(ctx context.Context, node medic.NodeID) (medic.Death, error) {
	for {
		pid, c, err := r.look(node)
		if err != nil || pid == 0 {
			return c.death, err
		}
		every := pollChild
		if c.pid == 0 || c.ended {
			every = pollAdopted
		}
		if err := awaitEnd(ctx, pid, every); err != nil {
			return medic.Death{}, err
		}
	}
}

// look also returns the node's last child of this process; zero if it had none.
func (r *Restarter) look(node medic.NodeID) (pid int, c child, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	pid, err = r.pidLocked(node)
	if last := r.children[node]; last != nil {
		c = *last
	}
	return pid, c, err
}

func (r *Restarter) aliveLocked(node medic.NodeID) (bool, error) {
	pid, err := r.pidLocked(node)
	return pid != 0, err
}
