package wal

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

const holdDirEnv = "POSTA_WAL_TEST_HOLD"

// holdLock is the other process: it opens the log, reports that, and holds it until its input ends.
func holdLock(dir string) {
	if _, err := Open(dir, Options{}); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("held")
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(0)
}

// TestN4_LockHeldByAnotherProcess runs the test binary again as the process that holds the lock. Open is refused, and succeeds after that
// process is killed.
func TestN4_LockHeldByAnotherProcess(t *testing.T) {
	dir := t.TempDir()
	holder := exec.Command(os.Args[0], "-test.run=^$")
	holder.Env = append(os.Environ(), holdDirEnv+"="+dir)
	in, err := holder.StdinPipe()
	must(t, err)
	out, err := holder.StdoutPipe()
	must(t, err)
	must(t, holder.Start())
	defer in.Close()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || line != "held\n" {
		t.Fatalf("the holder says %q, %v", line, err)
	}
	pid := strconv.Itoa(holder.Process.Pid)
	_, err = Open(dir, Options{})
	if !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), pid) {
		t.Fatalf("want ErrLocked naming %s, got %v", pid, err)
	}
	if _, err := Repair(dir); !errors.Is(err, ErrLocked) {
		t.Fatalf("repair of a locked log: %v", err)
	}
	r, err := Verify(dir)
	if err != nil || r.Holder != pid || !r.OK() {
		t.Fatalf("verify of a locked log: %+v, %v", r, err)
	}
	must(t, holder.Process.Kill())
	_ = holder.Wait()
	l, err := Open(dir, Options{})
	must(t, err)
	if got := l.Identity().Incarnation; got != 2 {
		t.Fatalf("incarnation %d after the holder's, want 2", got)
	}
	must(t, l.Close())
}

// TestN4_LockHeldByThisProcess: two logs of one process exclude each other too.
func TestN4_LockHeldByThisProcess(t *testing.T) {
	dir := t.TempDir()
	l, err := Open(dir, Options{})
	must(t, err)
	if _, err := Open(dir, Options{}); !errors.Is(err, ErrLocked) {
		t.Fatalf("want ErrLocked, got %v", err)
	}
	must(t, l.Close())
	l, err = Open(dir, Options{})
	must(t, err)
	must(t, l.Close())
}
