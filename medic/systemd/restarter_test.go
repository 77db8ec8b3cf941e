package systemd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"posta.dev/posta/medic"
)

// dirVar makes the test's program a systemctl whose state is files in a directory: PID is the process of the one unit,
// CODE and STATUS say how the last one ended, AGAIN exists if the unit restarts by itself, HANG if systemctl does not
// answer.
const dirVar = "POSTA_FAKE_SYSTEMCTL"

func TestMain(m *testing.M) {
	if dir := os.Getenv(dirVar); dir != "" {
		if err := systemctl(dir, os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

const unitName = "posta-c-joiner-1.service"

func systemctl(dir string, args []string) error {
	if exists(dir, "HANG") {
		time.Sleep(time.Minute)
	}
	verb, unit := args[0], args[len(args)-1]
	if unit != unitName {
		if verb == "show" {
			fmt.Print("LoadState=not-found\nMainPID=0\n")
			return nil
		}
		return fmt.Errorf("unit %s not loaded", unit)
	}
	pid := process(dir)
	switch verb {
	case "show":
		fmt.Printf("LoadState=loaded\nMainPID=%d\nResult=exit-code\nExecMainCode=%s\nExecMainStatus=%s\n", pid, text(dir, "CODE"),
			text(dir, "STATUS"))
		return nil
	case "start":
		if exists(dir, "REFUSE") {
			return errors.New("job failed")
		}
		if pid != 0 {
			return nil
		}
		return begin(dir)
	case "kill":
		if pid == 0 {
			return errors.New("no process to kill")
		}
		signal := map[string]syscall.Signal{"SIGKILL": syscall.SIGKILL, "SIGTERM": syscall.SIGTERM,
			"SIGSTOP": syscall.SIGSTOP}[strings.TrimPrefix(args[2], "--signal=")]
		if args[1] != "--kill-who=main" || signal == 0 {
			return fmt.Errorf("systemctl %v", args)
		}
		if err := syscall.Kill(pid, signal); err != nil {
			return err
		}
		if exists(dir, "AGAIN") {
			return begin(dir)
		}
		return nil
	}
	return fmt.Errorf("systemctl %v", args)
}

// begin starts the unit's process, which becomes an orphan when this process ends.
func begin(dir string) error {
	cmd := exec.Command("sleep", "60")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "PID"), []byte(strconv.Itoa(cmd.Process.Pid)), 0o600)
}

// process returns the pid of the unit's process, 0 if it has ended.
func process(dir string) int {
	pid, _ := strconv.Atoi(text(dir, "PID"))
	if stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err != nil || strings.Contains(string(stat), ") Z ") {
		return 0
	}
	return pid
}

func text(dir, name string) string {
	b, _ := os.ReadFile(filepath.Join(dir, name))
	return string(b)
}

func exists(dir, name string) bool {
	_, err := os.Stat(filepath.Join(dir, name))
	return err == nil
}

type fake struct {
	t   *testing.T
	dir string
	*Restarter
}

func newFake(t *testing.T) *fake {
	f := &fake{t: t, dir: t.TempDir()}
	t.Setenv(dirVar, f.dir)
	f.Restarter = New(Config{Program: []string{os.Args[0]}, Unit: func(id medic.NodeID) string { return "posta-c-" + string(id) + ".service" },
		Call: 2 * time.Minute}) // a machine that stands still for seconds makes no call fail
	t.Cleanup(func() {
		if pid := process(f.dir); pid != 0 {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	})
	return f
}

func (f *fake) set(name, value string) {
	f.t.Helper()
	if err := os.WriteFile(filepath.Join(f.dir, name), []byte(value), 0o600); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fake) alive() bool {
	f.t.Helper()
	for {
		alive, err := f.Alive(f.t.Context(), "joiner-1")
		if errors.Is(err, context.DeadlineExceeded) && f.t.Context().Err() == nil {
			continue // the machine stood still for longer than a call may take
		}
		if err != nil {
			f.t.Fatal(err)
		}
		return alive
	}
}

func TestStartKillWait(t *testing.T) {
	f := newFake(t)
	ctx := t.Context()
	if f.alive() {
		t.Fatal("it is alive before it is started")
	}
	if err := f.Kill(ctx, "joiner-1"); err != nil {
		t.Errorf("kill nothing: %v", err)
	}
	if err := f.Start(ctx, "joiner-1"); err != nil || !f.alive() {
		t.Fatal(err)
	}
	if err := f.Start(ctx, "joiner-1"); !errors.Is(err, medic.ErrRunning) {
		t.Errorf("start it twice: %v", err)
	}
	u, err := f.look(ctx, "joiner-1")
	if err != nil || f.signal(ctx, "joiner-1", u, "SIGSTOP") != nil {
		t.Error(err)
	}
	if err := f.Kill(ctx, "joiner-1"); err != nil || f.alive() {
		t.Errorf("M5: what hangs is killed: %v", err)
	}
	f.set("CODE", "2")
	f.set("STATUS", "9")
	if death, err := f.Wait(ctx, "joiner-1"); err != nil || death.Cause != "signal: killed" {
		t.Errorf("it ended by %v, %v", death, err)
	}
	f.set("CODE", "1")
	if death, err := f.Wait(ctx, "joiner-1"); err != nil || death.Cause != "exit status 9" {
		t.Errorf("it ended by %v, %v", death, err)
	}
}

func TestTerminateAsksAndDoesNotWait(t *testing.T) {
	f := newFake(t)
	if err := f.Terminate(t.Context(), "joiner-1"); err != nil {
		t.Errorf("terminate nothing: %v", err)
	}
	if err := f.Start(t.Context(), "joiner-1"); err != nil {
		t.Fatal(err)
	}
	if err := f.Terminate(t.Context(), "joiner-1"); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Wait(t.Context(), "joiner-1"); err != nil || f.alive() {
		t.Errorf("it was told to end: %v", err)
	}
}

// deaf is a systemctl over a directory whose calls may hang. With the file deaf-VERB the call is not carried out, with
// mute-VERB it is carried out and not answered. It is a shell script, because a shell starts faster than a Go program,
// so deadlines can be short.
const deaf = `cd "$0" && verb=$1
if [ -e deaf-$verb ]; then exec sleep 60; fi
case $verb in
start) echo 7 >PID ;;
kill) echo 0 >PID ;;
show) echo LoadState=loaded; echo MainPID=$(cat PID) ;;
esac
if [ -e mute-$verb ]; then exec sleep 60; fi`

// TestACallWithoutAnswerIsNotTheOrder: one lost answer costs the time of one call, and not the whole time of the order.
// If the call was carried out, the restarter sees that; otherwise it repeats the call.
func TestACallWithoutAnswerIsNotTheOrder(t *testing.T) {
	dir := t.TempDir()
	f := &fake{t: t, dir: dir}
	f.Restarter = New(Config{Program: []string{"sh", "-c", deaf, dir}, Unit: func(medic.NodeID) string { return unitName }, Call: time.Second})
	f.set("PID", "0")
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()

	f.set("mute-start", "")
	if err := f.Start(ctx, "joiner-1"); err != nil || !f.alive() {
		t.Fatalf("a start whose answer is lost: %v", err)
	}
	f.set("mute-kill", "")
	if err := f.Kill(ctx, "joiner-1"); err != nil || f.alive() {
		t.Fatalf("a kill whose answer is lost: %v", err)
	}
	f.set("deaf-show", "")
	if _, err := f.Alive(ctx, "joiner-1"); !errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil {
		t.Fatalf("a look that is not answered: %v", err)
	}
	f.heal("deaf-show")
	if _, err := f.Wait(ctx, "joiner-1"); err != nil {
		t.Fatalf("a wait whose first look is not answered: %v", err)
	}
	f.set("deaf-start", "")
	f.heal("deaf-start")
	if err := f.Start(ctx, "joiner-1"); err != nil || !f.alive() {
		t.Fatalf("a start that is not heard at first: %v", err)
	}
}

// heal ends a fault after a call has met it.
func (f *fake) heal(fault string) {
	timer := time.AfterFunc(f.cfg.Call/2, func() { _ = os.Remove(filepath.Join(f.dir, fault)) })
	f.t.Cleanup(func() { timer.Stop() })
}

// A unit that systemd itself restarts is killed only once.
func TestM5_ALaterLifeIsNotKilled(t *testing.T) {
	f := newFake(t)
	if err := f.Start(t.Context(), "joiner-1"); err != nil {
		t.Fatal(err)
	}
	f.set("AGAIN", "")
	first := process(f.dir)
	if err := f.Kill(t.Context(), "joiner-1"); err != nil {
		t.Fatal(err)
	}
	if now := process(f.dir); now == first || now == 0 {
		t.Errorf("the process was %d and is %d", first, now)
	}
	if err := f.Start(t.Context(), "joiner-1"); !errors.Is(err, medic.ErrRunning) {
		t.Errorf("start it after that: %v", err)
	}
}

func TestErrorsSayWhatToDo(t *testing.T) {
	f := newFake(t)
	err := f.Start(t.Context(), "nobody-1")
	if !errors.Is(err, ErrNoUnit) || !strings.Contains(err.Error(), "posta-c-nobody-1.service") ||
		!strings.Contains(err.Error(), "daemon-reload") {
		t.Errorf("start who has no unit: %v", err)
	}
	if alive, err := f.Alive(t.Context(), "nobody-1"); alive || err != nil {
		t.Errorf("who has no unit is alive: %v, %v", alive, err)
	}
	f.set("REFUSE", "")
	if err := f.Start(t.Context(), "joiner-1"); err == nil || !strings.Contains(err.Error(), "journalctl -u "+unitName) {
		t.Errorf("a start that fails: %v", err)
	}
	f.set("HANG", "")
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := f.Kill(ctx, "joiner-1"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a systemd that does not answer: %v", err)
	}
	lost := New(Config{Program: []string{"/nonexistent/systemctl"}, Unit: func(medic.NodeID) string { return unitName }})
	if _, err := lost.Alive(t.Context(), "joiner-1"); err == nil {
		t.Error("without systemctl there is no error")
	}
}
