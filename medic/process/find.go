package process

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"

	"posta.dev/posta/medic"
)

// child is a process that this process has started, and reaps.
type child struct {
	pid    int
	kernel *kernelLog // opened before the child was started; nil once the child has ended, and if the log may not be read
	kills  *killCount // used if there is no kernelLog
	struck bool       // we have sent it SIGKILL
	ended  bool
	death  medic.Death
}

// pidLocked returns the node's living process: our own child, or one whose start time is in the file. 0 if there is none.
func (r *Restarter) pidLocked(node medic.NodeID) (int, error) {
	if c := r.children[node]; c != nil {
		r.reapLocked(node, c)
		if !c.ended {
			return c.pid, nil
		}
	}
	if h := r.adopted[node]; h != nil {
		if !h.ended() {
			// no other process is started while this one is alive; reading the files each time would take half of a medic's processor time
			return h.pid, nil
		}
		h.close()
		delete(r.adopted, node)
	}
	// Another Restarter over the same directory may have started one since.
	rec, err := r.read(node)
	if err != nil || rec.pid == 0 {
		return 0, err
	}
	h := openHandle(rec.pid) // opened before the start time is compared, so that the handle is of the process with that start time
	started, err := startTime(rec.pid)
	if err != nil || started != rec.startTime {
		h.close()
		if err != nil {
			err = fmt.Errorf("look for process %d of %s: %w", rec.pid, node, err)
		}
		return 0, err // the files stay: removing them could remove those of a process that is just being started
	}
	if h != nil {
		r.adopted[node] = h
	}
	return rec.pid, nil
}

// reapLocked asks the system whether a child has ended. Before it is reaped no other process can get its pid.
func (r *Restarter) reapLocked(node medic.NodeID, c *child) {
	if c.ended {
		return
	}
	var status syscall.WaitStatus
	got, err := syscall.Wait4(c.pid, &status, syscall.WNOHANG, nil)
	switch {
	case got == c.pid:
		c.ended, c.death = true, death(status, c)
	case errors.Is(err, syscall.ECHILD): // it was reaped elsewhere
		c.ended = true
	default:
		c.kills.look(time.Now())
		return
	}
	c.letGo()
	if rec, err := r.read(node); err == nil && rec.pid == c.pid {
		_ = r.forget(node) // a file that stays is recognised as outdated by its start time
	}
}

// letGo closes what is only needed to explain the child's end.
func (c *child) letGo() {
	c.kernel.close()
	c.kernel = nil
}

// death is how a child ended. A child that the kernel kills for its memory ends with SIGKILL, like any killed process. Only the kernel's
// log about this process tells them apart for sure. If the log may not be read, memory counts as the cause if we did not kill the child and
// the kernel killed some process for memory at that time.
func death(s syscall.WaitStatus, c *child) medic.Death {
	switch {
	case !s.Signaled():
		return medic.Exited(s.ExitStatus())
	case s.Signal() == syscall.SIGKILL && c.kernel.killed(c.pid):
		return medic.OutOfMemory("killed by the kernel for its memory")
	case s.Signal() == syscall.SIGKILL && !c.struck && c.kills.risen():
		return medic.OutOfMemory("killed (signal 9), perhaps for its memory: the kernel killed some process of the machine for that at the " +
			"same time, and its medic may not read which")
	}
	return medic.Signalled(s.Signal())
}

// Nodes returns the nodes that have a process, sorted, including those that an earlier Restarter has started.
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
