package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"posta.dev/posta/cmd/internal/monitor"
	"posta.dev/posta/medic"
	"posta.dev/posta/nodes/heartbeat"
)

// ErrNotReady is wrapped by the errors of Processes.Ready.
var ErrNotReady = errors.New("the cluster is not ready")

// waiting is the state of one wait for all nodes.
type waiting struct {
	procs *Processes
	pids  map[medic.NodeID]int
	lives map[medic.NodeID]int // how many processes were seen
}

// manyLives is how many processes of a node Ready sees before it gives up. It counts processes that were not heard, or that said that they
// were still recovering. The first ones may have found a port in use that was just being released.
const manyLives = 4

// freshBeat is how old the last heartbeat of a node may be, for the node to count as up.
const freshBeat = 2 * time.Second

func (w *waiting) enough(view []monitor.Status) (bool, error) {
	all := true
	for i := range view {
		s := &view[i]
		pid, err := w.procs.Pid(s.Node.ID)
		if err != nil {
			return false, err
		}
		if pid != 0 && w.pids[s.Node.ID] != pid {
			w.pids[s.Node.ID] = pid
			w.lives[s.Node.ID]++
		}
		if w.lives[s.Node.ID] >= manyLives && (!s.Heard || s.Beat.State == heartbeat.Recovering) {
			return false, fmt.Errorf("%w: node %s dies as soon as it is started: %s", ErrNotReady, s.Node.ID, w.procs.LastWords(s.Node.ID))
		}
		if s.Heard && s.Age <= freshBeat && s.Beat.State == heartbeat.Damaged {
			return false, fmt.Errorf("%w: the log of node %s is damaged: %s", ErrNotReady, s.Node.ID, s.Beat.Trouble)
		}
		all = all && pid != 0 && s.Beat.PID == pid && s.Up(freshBeat)
	}
	return all, nil
}

// missing returns an error that names the nodes that were not ready in time. If the wait ended for another reason, it returns that.
func (w *waiting) missing(view []monitor.Status, cause error) error {
	if !errors.Is(cause, context.DeadlineExceeded) {
		return cause
	}
	var names []string
	for i := range view {
		if s := &view[i]; !s.Up(freshBeat) || s.Beat.PID != w.pids[s.Node.ID] {
			names = append(names, string(s.Node.ID))
		}
	}
	if len(names) == 0 {
		return cause
	}
	return fmt.Errorf("%w: nothing is heard of %s: %s", ErrNotReady, strings.Join(names, ", "), w.procs.LastWords(medic.NodeID(names[0])))
}

// LastWords returns the last line of a node's log, and the log's path.
func (c *Processes) LastWords(node medic.NodeID) string {
	name := c.Log(node)
	last := lastLine(name)
	if last == "" {
		return "it says nothing in " + name
	}
	return last + " (from " + name + ")"
}

// lastLine returns the last non-empty line of a file; "" if there is none.
func lastLine(name string) string {
	f, err := os.Open(name)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	const enough = 4 << 10
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return ""
	}
	b := make([]byte, min(size, enough))
	if _, err := f.ReadAt(b, size-int64(len(b))); err != nil {
		return ""
	}
	text := strings.TrimSpace(string(b))
	return strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:])
}
