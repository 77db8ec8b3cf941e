package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"posta.dev/posta/medic"
	"posta.dev/posta/test/await"
)

func start(t *testing.T, r *Restarter, n medic.NodeID) int {
	t.Helper()
	if err := r.Start(await.Soon(t), n); err != nil {
		t.Fatal(err)
	}
	// The child's output shows that it handles signals by now.
	await.Until(t, string(n)+" speaks", func() bool {
		b, err := os.ReadFile(r.Log(n))
		return err == nil && strings.HasSuffix(string(b), "ready "+string(n)+"\n")
	})
	pid, err := r.Pid(n)
	if err != nil || pid == 0 {
		t.Fatalf("pid %d, %v", pid, err)
	}
	return pid
}

func TestM9_AChildHasAPidFileAndALog(t *testing.T) {
	dir := t.TempDir()
	r := children(t, dir, "polite")
	pid := start(t, r, "a-1")
	b, err := os.ReadFile(filepath.Join(dir, "pids", "a-1"))
	if err != nil || string(b) != strconv.Itoa(pid)+"\n" {
		t.Fatalf("the pid file holds %q, %v; the pid is %d", b, err, pid)
	}
	if err := r.Start(await.Soon(t), "a-1"); !errors.Is(err, medic.ErrRunning) {
		t.Fatalf("a second start gives %v", err)
	}
	if err := r.Terminate(await.Soon(t), "a-1"); err != nil {
		t.Fatal(err)
	}
	if death, err := r.Wait(await.Soon(t), "a-1"); err != nil || death.Cause != "exit status 0" {
		t.Fatalf("it ended with %v, %v", death, err)
	}
	if left, _ := os.ReadDir(filepath.Join(dir, "pids")); len(left) != 0 {
		t.Fatalf("files of the dead are left: %v", left)
	}
	for what, do := range map[string]func() error{
		"terminate": func() error { return r.Terminate(await.Soon(t), "a-1") }, "kill": func() error { return r.Kill(await.Soon(t), "a-1") },
	} {
		if err := do(); err != nil {
			t.Errorf("%s of nobody: %v", what, err)
		}
	}
}

func TestM5_KillWaitsForNoConsent(t *testing.T) {
	r := children(t, t.TempDir(), "deaf")
	pid := start(t, r, "a-1")
	if err := r.Terminate(await.Soon(t), "a-1"); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil { // a hung process
		t.Fatal(err)
	}
	if alive, err := r.Alive(await.Soon(t), "a-1"); !alive || err != nil {
		t.Fatalf("alive %v, %v: it is deaf, not dead", alive, err)
	}
	if err := r.Kill(await.Soon(t), "a-1"); err != nil {
		t.Fatal(err)
	}
	if alive, err := r.Alive(await.Soon(t), "a-1"); alive || err != nil {
		t.Fatalf("alive %v, %v after a kill", alive, err)
	}
	if death, err := r.Wait(await.Soon(t), "a-1"); err != nil || death.Cause != "signal: killed" {
		t.Fatalf("it ended with %v, %v", death, err)
	}
}

func TestADeathFromOutsideIsSeenSoon(t *testing.T) {
	r := children(t, t.TempDir(), "polite")
	pid := start(t, r, "a-1")
	seen := make(chan medic.Death, 1)
	go func() {
		d, err := r.Wait(await.Soon(t), "a-1")
		if err != nil {
			d.Cause = err.Error()
		}
		seen <- d
	}()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if d := <-seen; d.Cause != "signal: killed" {
		t.Fatalf("the death is told as %v", d)
	}
}

func TestWaitEndsWithItsContext(t *testing.T) {
	r := children(t, t.TempDir(), "polite")
	start(t, r, "a-1")
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Millisecond)
	defer cancel()
	if _, err := r.Wait(ctx, "a-1"); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("waiting ended with %v", err)
	}
}

func TestM9_ALaterRestarterFindsTheChildren(t *testing.T) {
	dir := t.TempDir()
	first := children(t, dir, "polite")
	pid := start(t, first, "a-1")
	second := children(t, dir, "polite")
	if got, err := second.Pid("a-1"); got != pid || err != nil {
		t.Fatalf("the second finds process %d, %v; it is %d", got, err, pid)
	}
	if err := second.Start(await.Soon(t), "a-1"); !errors.Is(err, medic.ErrRunning) {
		t.Fatalf("the second starts one more: %v", err)
	}
	if nodes, err := second.Nodes(); !slices.Equal(nodes, []medic.NodeID{"a-1"}) || err != nil {
		t.Fatalf("the second finds %v, %v", nodes, err)
	}
	// The process is a child of the first Restarter, so it stays a zombie until that one reaps it. The second must not
	// wait for that.
	if err := second.Kill(await.Soon(t), "a-1"); err != nil {
		t.Fatal(err)
	}
	if err := second.Start(await.Soon(t), "a-1"); err != nil {
		t.Fatalf("the second cannot start it after its death: %v", err)
	}
}

// After a reboot, or long after a crash, the pid in the file may belong to another process.
func TestM9_APidOfAnotherProcessIsNotTouched(t *testing.T) {
	dir := t.TempDir()
	bystander := exec.Command(os.Args[0], "bystander")
	bystander.Env = append(os.Environ(), roleVar+"=polite")
	if err := bystander.Start(); err != nil {
		t.Fatal(err)
	}
	over := make(chan error, 1)
	go func() { over <- bystander.Wait() }()
	defer func() {
		_ = bystander.Process.Kill()
		<-over
	}()
	r := children(t, dir, "polite")
	pid := bystander.Process.Pid
	stale := fmt.Sprintf("%d %s\n", pid, "1@another-boot")
	if err := errors.Join(os.WriteFile(r.birthFile("a-1"), []byte(stale), 0o644),
		os.WriteFile(r.pidFile("a-1"), []byte(strconv.Itoa(pid)), 0o644)); err != nil {
		t.Fatal(err)
	}
	if alive, err := r.Alive(await.Soon(t), "a-1"); alive || err != nil {
		t.Fatalf("a stranger is taken for the node: %v, %v", alive, err)
	}
	if err := errors.Join(os.WriteFile(r.birthFile("a-1"), []byte(stale), 0o644), r.Kill(await.Soon(t), "a-1"),
		r.Terminate(await.Soon(t), "a-1")); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-over:
		t.Fatalf("the stranger was killed: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	start(t, r, "a-1")
}

func TestUnreadablePidFilesNameNoProcess(t *testing.T) {
	r := children(t, t.TempDir(), "polite")
	for _, text := range []string{"", "\n", "x y", "12", "-3 1@b", "0 1@b", "99999999999999999999 1@b", strings.Repeat("7", 5000)} {
		if err := os.WriteFile(r.birthFile("a-1"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if pid, err := r.Pid("a-1"); pid != 0 || err != nil {
			t.Errorf("file %.20q: pid %d, %v", text, pid, err)
		}
	}
}

func TestAProgramThatIsNotThere(t *testing.T) {
	r := children(t, t.TempDir(), "polite")
	r.cfg.Command = func(medic.NodeID) []string { return []string{"/no/such/program"} }
	if err := r.Start(await.Soon(t), "a-1"); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "a-1") {
		t.Fatalf("the error is %v", err)
	}
	if alive, err := r.Alive(await.Soon(t), "a-1"); alive || err != nil {
		t.Fatalf("alive %v, %v", alive, err)
	}
}

func TestBirthIsTheSameEveryTimeAndNobodysTwice(t *testing.T) {
	mine, err := startTime(os.Getpid())
	if err != nil || mine == "" {
		t.Fatalf("%q, %v", mine, err)
	}
	if again, _ := startTime(os.Getpid()); again != mine {
		t.Fatalf("born at %q and at %q", mine, again)
	}
	if none, err := startTime(1 << 30); none != "" || err != nil {
		t.Fatalf("a process that is not there: %q, %v", none, err)
	}
}

// The supervisor over real processes: kill -9 again and again, and a program that ends at once.
func TestM5_SupervisedProcessesComeBack(t *testing.T) {
	r := children(t, t.TempDir(), "polite")
	events := make(chan medic.Event, 100)
	stop := supervise(t, r, events)
	var last int
	for i := range 4 {
		e := event(t, events, medic.Started)
		if e.Start != i+1 {
			t.Fatalf("start number %d, want %d", e.Start, i+1)
		}
		pid, err := r.Pid("a-1")
		if err != nil || pid == 0 || pid == last {
			t.Fatalf("start %d: pid %d, %v", i+1, pid, err)
		}
		last = pid
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		if e := event(t, events, medic.Died); e.Cause != "signal: killed" {
			t.Fatalf("death %d: %+v", i+1, e)
		}
	}
	stop()
}

func TestM5_ACrashLoopOfProcessesBacksOff(t *testing.T) {
	r := children(t, t.TempDir(), "broken")
	events := make(chan medic.Event, 1000)
	stop := supervise(t, r, events)
	var waited time.Duration
	for i := range 5 {
		e := event(t, events, medic.Died)
		if e.Cause != "exit status 7" || e.InARow != i+1 || i > 1 && e.Wait <= waited {
			t.Fatalf("death %d: %+v after a wait of %v", i+1, e, waited)
		}
		waited = e.Wait
	}
	stop()
}

func supervise(t *testing.T, r *Restarter, events chan medic.Event) (stop func()) {
	s := medic.Supervisor{Restarter: r, Nodes: []medic.NodeID{"a-1"}, Report: func(e medic.Event) { events <- e },
		Backoff: medic.Backoff{First: 5 * time.Millisecond, Healthy: time.Hour}}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); s.Run(ctx) }()
	stop = func() { cancel(); <-done }
	t.Cleanup(stop)
	return stop
}

func event(t *testing.T, events <-chan medic.Event, what medic.EventKind) medic.Event {
	t.Helper()
	for {
		select {
		case e := <-events:
			if e.Kind == what {
				return e
			}
		case <-time.After(2 * time.Minute):
			t.Fatalf("nothing %s", what)
		}
	}
}
