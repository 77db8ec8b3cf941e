package process

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"posta.dev/posta/test/await"
)

// companion is what a Companion keeps in these tests. It notes its process, and then says or is silent.
func companion(dir, how string) {
	if err := os.WriteFile(filepath.Join(dir, strconv.Itoa(os.Getpid())), nil, 0o600); err != nil {
		os.Exit(3)
	}
	switch how {
	case "silent":
		time.Sleep(time.Hour)
	case "loud":
		for range 50_000 {
			_, _ = os.Stderr.WriteString(strings.Repeat("x", 100) + "\n")
		}
	}
	for {
		_, _ = os.Stdout.WriteString(".\n")
		time.Sleep(10 * time.Millisecond)
	}
}

// keeper keeps a companion and waits to be killed.
func keeper(dir string) {
	c := companionIn(dir, "well", time.Hour)
	c.Run(context.Background())
}

func companionIn(dir, how string, silence time.Duration) *Companion {
	return &Companion{
		Name: "friend", Command: []string{os.Args[0], dir, how}, Env: []string{roleVar + "=companion"}, Silence: silence, Pause: time.Millisecond,
		Log: slog.New(slog.DiscardHandler),
	}
}

// lives returns the processes that have run.
func lives(t *testing.T, dir string) (pids []int) {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if pid, err := strconv.Atoi(f.Name()); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// gone reports whether a process has ended. One that was adopted may stay a zombie as long as who adopted it pleases.
func gone(pid int) bool {
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return syscall.Kill(pid, 0) != nil
	}
	_, state, _ := strings.Cut(string(stat), ") ")
	return strings.HasPrefix(state, "Z")
}

// keep runs a companion until the test ends.
func keep(t *testing.T, c *Companion) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Add(1)
	go func() {
		defer running.Done()
		c.Run(ctx)
	}()
	stop = sync.OnceFunc(func() {
		cancel()
		running.Wait()
	})
	t.Cleanup(stop)
	return stop
}

// A companion that is killed is started again, one that stands still is killed first, and all of them end with Run.
func TestACompanionIsStartedAgain(t *testing.T) {
	for how, hit := range map[string]syscall.Signal{"well": syscall.SIGKILL, "silent": 0, "stopped": syscall.SIGSTOP} {
		t.Run(how, func(t *testing.T) {
			dir := t.TempDir()
			silence := time.Hour
			if how != "well" {
				silence = 2 * time.Second
			}
			stop := keep(t, companionIn(dir, how, silence))
			await.Until(t, "it runs", func() bool { return len(lives(t, dir)) > 0 })
			if hit != 0 {
				if err := syscall.Kill(lives(t, dir)[0], hit); err != nil {
					t.Fatal(err)
				}
			}
			await.Until(t, "another one runs", func() bool { return len(lives(t, dir)) > 1 })
			stop()
			for _, pid := range lives(t, dir) {
				if !gone(pid) {
					t.Errorf("process %d is still there", pid)
				}
			}
		})
	}
}

// What a companion writes to its log is bounded, never holds it up, and is named.
func TestACompanionMayBeLoud(t *testing.T) {
	dir := t.TempDir()
	var said bytes.Buffer
	c := companionIn(dir, "loud", time.Minute)
	c.Log = slog.New(slog.NewTextHandler(&said, nil))
	beaten := make(chan struct{})
	c.beat = sync.OnceFunc(func() { close(beaten) })
	stop := keep(t, c)
	<-beaten // it has written everything before it says its first word
	stop()
	if n := strings.Count(said.String(), "friend: xxx"); n != maxSaid || said.Len() > 200*maxSaid {
		t.Errorf("%d lines, %d bytes", n, said.Len())
	}
}

// A companion is nicer than the process that keeps it, and goes with it.
func TestACompanionGoesWithItsKeeper(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Log("only Linux ties children to their parents")
		return
	}
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0], dir)
	cmd.Env = append(os.Environ(), roleVar+"=keeper")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var pids []int
	await.Until(t, "it runs", func() bool { pids = lives(t, dir); return len(pids) > 0 })
	mine, its := niceOf(t, cmd.Process.Pid), niceOf(t, pids[0])
	if its != min(mine+10, 19) {
		t.Errorf("it has the niceness %d, and its keeper %d", its, mine)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	await.Until(t, "it goes with its keeper", func() bool { return gone(pids[0]) })
}

// niceOf returns the niceness of a process. The thread that forks a companion is nicer, and may be the first thread, whose niceness is also
// shown as that of the process; so this is the least one of all threads.
func niceOf(t *testing.T, pid int) int {
	t.Helper()
	threads, err := filepath.Glob(filepath.Join("/proc", strconv.Itoa(pid), "task", "*", "stat"))
	if err != nil || len(threads) == 0 {
		t.Fatal(threads, err)
	}
	least := 20
	for _, name := range threads {
		b, err := os.ReadFile(name)
		if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
			continue // the thread has ended
		}
		if err != nil {
			t.Fatal(err)
		}
		_, rest, _ := strings.Cut(string(b), ") ")
		nice, err := strconv.Atoi(strings.Fields(rest)[16])
		if err != nil {
			t.Fatal(err)
		}
		least = min(least, nice)
	}
	return least
}
