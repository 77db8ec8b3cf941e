package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"posta.dev/posta/medic"
)

const birthSuffix = ".birth"

// record is what the files of a node say.
type record struct {
	pid       int // 0: no process
	startTime string
}

func (r *Restarter) pidFile(node medic.NodeID) string { return filepath.Join(r.cfg.Dir, string(node)) }

func (r *Restarter) birthFile(node medic.NodeID) string {
	return filepath.Join(r.cfg.Dir, "."+string(node)+birthSuffix)
}

// record writes both files; the one that counts comes first and is replaced whole. They need no fsync: after a crash of the machine
// the processes are gone as well, and the start time does not fit any more.
func (r *Restarter) record(node medic.NodeID, pid int) error {
	started, err := startTime(pid)
	if err != nil {
		return fmt.Errorf("find out when process %d was started: %w", pid, err)
	}
	err = medic.ReplaceFile(r.birthFile(node), fmt.Sprintf("%d %s\n", pid, started), false)
	return errors.Join(err, medic.ReplaceFile(r.pidFile(node), strconv.Itoa(pid)+"\n", false))
}

// read takes a file that makes no sense for none: it is what a full disk leaves behind.
func (r *Restarter) read(node medic.NodeID) (record, error) {
	b, err := os.ReadFile(r.birthFile(node))
	if errors.Is(err, fs.ErrNotExist) {
		return record{}, nil
	}
	if err != nil {
		return record{}, fmt.Errorf("look for the process of %s: %w", node, err)
	}
	pid, started, ok := strings.Cut(strings.TrimSpace(string(b)), " ")
	n, err := strconv.Atoi(pid)
	if !ok || err != nil || n <= 0 || started == "" {
		return record{}, nil
	}
	return record{n, started}, nil
}

func (r *Restarter) forget(node medic.NodeID) error {
	var errs []error
	for _, name := range []string{r.pidFile(node), r.birthFile(node)} {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
