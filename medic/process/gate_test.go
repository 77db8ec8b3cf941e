package process

import (
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"
)

// TestM9_AChildThatNobodyFindsEnds: a parent that is killed after the fork has not written the child's files, or only one of them. The
// child ends without having begun, and the next start is like any other.
func TestM9_AChildThatNobodyFindsEnds(t *testing.T) {
	dir := t.TempDir()
	r := children(t, dir, "gated")
	for what, write := range map[string]func(pid int) error{
		"no file":    func(int) error { return nil },
		"both files": func(pid int) error { return r.record("a-1", pid) }, // but it was not let go
	} {
		pid, gate, err := r.fork("a-1")
		if err == nil {
			err = errors.Join(write(pid), gate.Close()) // as the kernel closes it for a process that is killed
		}
		if err != nil {
			t.Fatal(err)
		}
		var status syscall.WaitStatus
		for {
			if _, err = syscall.Wait4(pid, &status, 0, nil); !errors.Is(err, syscall.EINTR) {
				break
			}
		}
		if err != nil || status.ExitStatus() != 3 {
			t.Errorf("%s: the child ends with %v, %v", what, status.ExitStatus(), err)
		}
		text, err := os.ReadFile(r.Log("a-1"))
		if err != nil || !strings.HasSuffix(string(text), "and so does a medic\n") || strings.Contains(string(text), "ready") {
			t.Errorf("%s: the child says %q, %v", what, text, err)
		}
		if found, err := children(t, dir, "gated").Pid("a-1"); err != nil || found != 0 {
			t.Errorf("%s: a process is found: %d, %v", what, found, err)
		}
	}
	pid := start(t, r, "a-1")
	if found, err := children(t, dir, "gated").Pid("a-1"); err != nil || found != pid {
		t.Errorf("another restarter finds process %d, %v; it is %d", found, err, pid)
	}
}

// A process that no Restarter has started waits for nothing.
func TestAwaitRecordOfAProcessStartedByHand(t *testing.T) {
	if err := AwaitRecord(); err != nil {
		t.Error(err)
	}
	t.Setenv(GateVar, "three")
	if err := AwaitRecord(); err == nil || !strings.Contains(err.Error(), GateVar+"=three") {
		t.Errorf("a gate that is none: %v", err)
	}
}
