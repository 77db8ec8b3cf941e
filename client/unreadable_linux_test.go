package client

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

func TestC1_DirectoryThatMayNotBeRead(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a/trips.csv"), []byte("x\n"))
	for path, mode := range map[string]os.FileMode{filepath.Dir(dir): 0o755, dir: 0o755, filepath.Join(dir, "a"): 0} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	var err error
	asNobody(func() { _, err = found(t, dir) })
	if !errors.Is(err, ErrInput) || !strings.Contains(err.Error(), filepath.Join(dir, "a")) ||
		!strings.Contains(err.Error(), "right to read") {
		t.Errorf("got %v", err)
	}
}

// asNobody does something as another user than root, because root may read every file. Linux lets each thread have a user of its own for
// files.
func asNobody(do func()) {
	if os.Getuid() != 0 {
		do()
		return
	}
	const nobody = 65534
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // and never unlock: the thread ends with the goroutine, and nothing else runs on it as nobody
		_, _, _ = syscall.RawSyscall(syscall.SYS_SETFSUID, nobody, 0, 0)
		do()
	}()
	<-done
}
