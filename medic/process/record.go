package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"posta.dev/posta/internal/owned"
	"posta.dev/posta/medic"
)

const birthSuffix = ".birth"

// record is the content of a node's files.
type record struct {
	pid       int // 0: no process
	startTime string
}

func (r *Restarter) pidFile(node medic.NodeID) string { return filepath.Join(r.cfg.Dir, string(node)) }

func (r *Restarter) birthFile(node medic.NodeID) string {
	return filepath.Join(r.cfg.Dir, "."+string(node)+birthSuffix)
}

// record writes both files, first the one that this package reads. They need no fsync: after a crash of the machine the processes are gone,
// too, and no process has the recorded start time.
func (r *Restarter) record(node medic.NodeID, pid int) error {
	started, err := startTime(pid)
	if err != nil {
		return fmt.Errorf("find out when process %d was started: %w", pid, err)
	}
	birth := strings.TrimSpace(fmt.Sprintf("%d %s", pid, started))
	err = r.write(r.birthFile(node), func(name string) error { return medic.WriteSlots(name, birth, false) })
	return errors.Join(err, r.write(r.pidFile(node), func(name string) error { return overwrite(name, strconv.Itoa(pid)) }))
}

// reserve returns the name that a file has while its node has no process. The file is kept so that the next start needs no room on the
// disk.
func (r *Restarter) reserve(name string) string {
	return filepath.Join(r.cfg.Logs, "."+filepath.Base(name)+".reserve")
}

// write writes a file in place: the existing one, or the reserved one, or a new one.
func (r *Restarter) write(name string, write func(name string) error) error {
	if _, err := os.Lstat(name); errors.Is(err, fs.ErrNotExist) {
		reserve := r.reserve(name)
		if _, err := os.Lstat(reserve); err == nil {
			if err := write(reserve); err != nil {
				return err
			}
			return os.Rename(reserve, name)
		}
	}
	return write(name)
}

// overwrite puts the text into a pid file. It needs no room on the disk if the file exists: the file is never empty, so it keeps its block.
func overwrite(name, text string) error {
	line := text + "\n"
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return owned.Write(name, line, false)
	}
	if err != nil {
		return err
	}
	_, err = f.WriteAt([]byte(line), 0)
	if err == nil {
		err = f.Truncate(int64(len(line)))
	}
	return errors.Join(err, f.Close())
}

// read ignores a file without sensible content: a full disk leaves such files behind.
func (r *Restarter) read(node medic.NodeID) (record, error) {
	text, err := medic.ReadSlots(r.birthFile(node))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, medic.ErrBadSlots) {
		return record{}, nil
	}
	if err != nil {
		return record{}, fmt.Errorf("look for the process of %s: %w", node, err)
	}
	pid, started, ok := strings.Cut(text, " ")
	n, err := strconv.Atoi(pid)
	if !ok || err != nil || n <= 0 || started == "" {
		return record{}, nil
	}
	return record{n, started}, nil
}

// forget renames the files to their reserve names, where the next start finds them.
func (r *Restarter) forget(node medic.NodeID) error {
	var errs []error
	for _, name := range []string{r.pidFile(node), r.birthFile(node)} {
		if err := os.Rename(name, r.reserve(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
