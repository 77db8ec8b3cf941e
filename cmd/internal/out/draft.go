package out

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// draft is a file that is being written, beside its final place. Its process holds a lock on it. The kernel drops the lock when the process
// ends, however it ends, so a draft without a lock belongs to no process.
type draft struct {
	*os.File
	name string // name of the final file
	done bool   // whether it has its final name
}

const (
	draftPattern = ".posta-*.draft"
	// tries bounds how often a draft is begun again. Just before a draft is locked, the sweep of another process may consider it a draft of a
	// dead process and remove it.
	tries = 100
)

var errNoDraft = errors.New("another process removes each draft as soon as it is made")

// newDraft begins a file. The draft keeps the permissions of the file that it will replace.
func newDraft(name string) (*draft, error) {
	perm := fs.FileMode(0o644)
	info, err := os.Stat(name)
	if err == nil {
		perm = info.Mode().Perm()
	}
	d, err := lockedFile(filepath.Dir(name), perm)
	if err != nil {
		return nil, err
	}
	d.name = name
	if info != nil {
		if err := d.Chmod(perm); err != nil {
			d.discard()
			return nil, err
		}
	}
	return d, nil
}

// lockedFile makes a draft that no sweep removes.
func lockedFile(dir string, perm fs.FileMode) (*draft, error) {
	for range tries {
		path := filepath.Join(dir, ".posta-"+rand.Text()+".draft")
		f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, perm)
		if err != nil {
			var why *fs.PathError
			if errors.As(err, &why) {
				err = &fs.PathError{Op: "create a file in", Path: dir, Err: why.Err} // the draft's own name would tell users nothing
			}
			return nil, err
		}
		d := &draft{File: f}
		locked, err := lock(f)
		switch {
		case err != nil && !hasNoLocks(err):
			d.discard()
			return nil, fmt.Errorf("lock %s: %w", path, err)
		case err != nil, locked && isAt(f, path):
			return d, nil
		}
		d.discard()
	}
	return nil, errNoDraft
}

// lock takes a file for this process, or reports that another process has it.
func lock(f *os.File) (bool, error) {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.EWOULDBLOCK):
			return false, nil
		default:
			return err == nil, err
		}
	}
}

// hasNoLocks reports whether the error means that the file system has no locks. On such a file system sweeps remove nothing, so a draft is
// safe without a lock.
func hasNoLocks(err error) bool {
	return errors.Is(err, syscall.ENOTSUP) || errors.Is(err, syscall.EOPNOTSUPP) || errors.Is(err, syscall.ENOLCK) ||
		errors.Is(err, syscall.ENOSYS)
}

// isAt reports whether a file still has its name.
func isAt(f *os.File, path string) bool {
	mine, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Lstat(path)
	return err == nil && os.SameFile(mine, there)
}

// rename gives the draft its final name. The lock ends when the file is closed.
func (d *draft) rename() error {
	if err := os.Rename(d.Name(), d.name); err != nil {
		return err
	}
	d.done = true
	return d.Close()
}

// discard ends a draft. It does not remove one that has its final name.
func (d *draft) discard() {
	if !d.done {
		_ = os.Remove(d.Name()) // if this fails, the next sweep removes it
		_ = d.Close()
	}
}

// drafts are files that get their names together.
type drafts []*draft

// add writes a draft, and returns when its content is on the disk.
func (all *drafts) add(name string, write func(*draft) error) error {
	d, err := newDraft(name)
	if err != nil {
		return err
	}
	*all = append(*all, d)
	if err := write(d); err != nil {
		return err
	}
	return d.Sync()
}

// publish gives drafts their names, and returns when the names are on the disk.
func (all *drafts) publish() error {
	dirs := map[string]bool{}
	for _, d := range *all {
		if err := d.rename(); err != nil {
			return err
		}
		dirs[filepath.Dir(d.name)] = true
	}
	var errs []error
	for dir := range dirs {
		errs = append(errs, syncDir(dir))
	}
	return errors.Join(errs...)
}

func (all *drafts) discard() {
	for _, d := range *all {
		d.discard()
	}
}

func syncDir(dir string) (err error) {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return f.Sync()
}

// probe checks that files can be written in a directory, and removes the drafts of dead processes. what names the file to be written, for
// errors.
func probe(dir, what string) error {
	d, err := lockedFile(dir, 0o600)
	if err != nil {
		return fmt.Errorf("%w; give another place for %s", err, what)
	}
	d.discard()
	sweep(dir)
	return nil
}

// sweep removes drafts whose processes are dead. It ignores drafts that it cannot remove: they do not prevent writing answers.
func sweep(dir string) {
	found, _ := os.ReadDir(dir)
	for _, e := range found {
		if is, err := filepath.Match(draftPattern, e.Name()); err != nil || !is || !e.Type().IsRegular() {
			continue
		}
		path := filepath.Join(dir, e.Name())
		f, err := os.OpenFile(path, os.O_WRONLY|syscall.O_NONBLOCK, 0)
		if err != nil {
			continue
		}
		if dead, err := lock(f); dead && err == nil && isAt(f, path) {
			_ = os.Remove(path)
		}
		_ = f.Close()
	}
}
