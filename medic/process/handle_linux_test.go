package process

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"posta.dev/posta/test/await"
)

// pidfds returns how many pidfds the process has open.
func pidfds(t *testing.T) (n int) {
	t.Helper()
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if to, err := os.Readlink("/proc/self/fd/" + f.Name()); err == nil && strings.Contains(to, "pidfd") {
			n++
		}
	}
	return n
}

// TestM9_AnAdoptedProcessIsFollowed: a medic keeps one handle for each process that another one has started, sees its end and its
// successor, and keeps none when it is closed.
func TestM9_AnAdoptedProcessIsFollowed(t *testing.T) {
	dir := t.TempDir()
	parent, other := children(t, dir, "polite"), children(t, dir, "polite")
	before := pidfds(t)
	for range 3 {
		pid := start(t, parent, "a-1")
		for range 3 {
			if found, err := other.Pid("a-1"); err != nil || found != pid {
				t.Fatalf("process %d, %v; it is %d", found, err, pid)
			}
		}
		if n := pidfds(t) - before; n != 1 {
			t.Errorf("%d handles are open for one process", n)
		}
		ended := make(chan error, 1)
		go func() {
			_, err := other.Wait(await.Soon(t), "a-1")
			ended <- err
		}()
		if err := parent.Kill(await.Soon(t), "a-1"); err != nil {
			t.Fatal(err)
		}
		if err := <-ended; err != nil {
			t.Fatalf("its end is not seen: %v", err)
		}
		if found, err := other.Pid("a-1"); err != nil || found != 0 {
			t.Fatalf("it has ended, and is process %d, %v", found, err)
		}
	}
	start(t, parent, "a-1")
	if _, err := other.Pid("a-1"); err != nil {
		t.Fatal(err)
	}
	other.letGo()
	if n := pidfds(t) - before; n != 0 {
		t.Errorf("%d handles are left open", n)
	}
}

// TestAwaitEnd: a wait for a living process ends with the context. A wait for a wrong pid ends after a while.
func TestAwaitEnd(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(10*time.Millisecond, cancel)
	for ctx.Err() == nil {
		if err := awaitEnd(ctx, os.Getpid(), time.Hour); err != nil && !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
	if err := awaitEnd(t.Context(), os.Getpid(), time.Hour); err != nil {
		t.Errorf("this process lives, and the wait ends with %v", err)
	}
	if err := awaitEnd(t.Context(), 1<<22+1, time.Millisecond); err != nil { // above the greatest pid_max
		t.Errorf("no process: %v", err)
	}
}
