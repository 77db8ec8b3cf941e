package owned

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Write replaces a file, or makes one, with this text. Readers see the old text or the new one, never a part. If durable is set, the
// file is on the disk when Write returns; otherwise it may be empty after a crash of the machine. If Write fails, as on a full disk,
// it leaves no other file behind.
func Write(name, text string, durable bool) error {
	f, err := createBeside(name + ".tmp")
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if err == nil && durable {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(name+".tmp", name)
	}
	if err != nil {
		_ = os.Remove(name + ".tmp")
		return err
	}
	if !durable {
		return nil
	}
	return SyncDir(filepath.Dir(name))
}

// createBeside makes a new temporary file. An existing one was left by a crash, or somebody put it there so that this process writes
// elsewhere. So it is removed and never opened. The name is always the same, because random names would leave one more file after each
// crash.
func createBeside(name string) (f *os.File, err error) {
	for range 10 { // two processes that write the same file remove each other's temporary file
		f, err = os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY|syscall.O_NOFOLLOW, FileMode)
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("remove what is in the way: %w", err)
		}
	}
	return nil, err
}

// SyncDir makes the names in a directory durable.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
