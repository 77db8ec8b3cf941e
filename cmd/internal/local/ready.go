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

// waiting is one wait for all nodes to be heard.
type waiting struct {
	procs *Processes
	pids  map[medic.NodeID]int
	lives map[medic.NodeID]int // processes seen
}

// manyLives is how many processes of a node may come and go without work: unheard, or heard to say that they are not ready yet. The first
// ones may have met a port that was just being let go.
const manyLives = 4

// freshBeat is how old the last heartbeat of a node may be that counts as up.
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

// missing is the error for nodes that did not come in time, or the reason why the wait ended.
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

// LastWords is what the log of a node ends with, and where it is.
func (c *Processes) LastWords(node medic.NodeID) string {
	name := c.Log(node)
	last := lastLine(name)
	if last == "" {
		return "it says nothing in " + name
	}
	return last + " (from " + name + ")"
}

// lastLine is the last line of a file that is not empty, "" if there is none.
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
