package process

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"

	"posta.dev/posta/medic"
)

// child is a process that this one has started, and reaps.
type child struct {
	pid    int
	kernel *kernelLog // since before the child was started; nil once it has ended
	ended  bool
	death  medic.Death
}

// pidLocked is the node's living process: our own child, or one whose start time the file tells. 0 if there is none.
func (r *Restarter) pidLocked(node medic.NodeID) (int, error) {
	if c := r.children[node]; c != nil {
		r.reapLocked(node, c)
		if !c.ended {
			return c.pid, nil
		}
	}
	// Another Restarter over the same directory may have started another since.
	rec, err := r.read(node)
	if err != nil || rec.pid == 0 {
		return 0, err
	}
	started, err := startTime(rec.pid)
	if err != nil {
		return 0, fmt.Errorf("look for process %d of %s: %w", rec.pid, node, err)
	}
	if started != rec.startTime {
		return 0, nil // the files stay: removing them here could remove those of a process that is just being started
	}
	return rec.pid, nil
}

// reapLocked asks the system whether a child has ended. Until then its pid cannot be anybody else's.
func (r *Restarter) reapLocked(node medic.NodeID, c *child) {
	if c.ended {
		return
	}
	var status syscall.WaitStatus
	got, err := syscall.Wait4(c.pid, &status, syscall.WNOHANG, nil)
	switch {
	case got == c.pid:
		c.ended, c.death = true, death(status, c.pid, c.kernel)
	case errors.Is(err, syscall.ECHILD): // it was reaped elsewhere
		c.ended = true
	default:
		return
	}
	c.letGo()
	if rec, err := r.read(node); err == nil && rec.pid == c.pid {
		_ = r.forget(node) // a file that stays behind is found out by its start time
	}
}

// letGo closes what is only asked when the child ends.
func (c *child) letGo() {
	c.kernel.close()
	c.kernel = nil
}

// death is how a child ended. One that the kernel kills for memory ends with SIGKILL like any that is killed. Only what the kernel says of this very
// process tells them apart; where it says nothing, or may not be heard, the child was killed, and its memory is not blamed.
func death(s syscall.WaitStatus, pid int, kernel *kernelLog) medic.Death {
	switch {
	case !s.Signaled():
		return medic.Exited(s.ExitStatus())
	case s.Signal() == syscall.SIGKILL && kernel.killed(pid):
		return medic.OutOfMemory("killed by the kernel for its memory")
	}
	return medic.Signalled(s.Signal())
}

// Nodes is the nodes that have a process, sorted: also those that a Restarter before this one has started.
func (r *Restarter) Nodes() ([]medic.NodeID, error) {
	files, err := os.ReadDir(r.cfg.Dir)
	if err != nil {
		return nil, fmt.Errorf("look for processes: %w", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	var alive []medic.NodeID
	for _, f := range files {
		name, isBirth := strings.CutSuffix(f.Name(), birthSuffix)
		name, hidden := strings.CutPrefix(name, ".")
		if !isBirth || !hidden {
			continue
		}
		pid, err := r.pidLocked(medic.NodeID(name))
		if err != nil {
			return nil, err
		}
		if pid != 0 {
			alive = append(alive, medic.NodeID(name))
		}
	}
	return alive, nil
}
