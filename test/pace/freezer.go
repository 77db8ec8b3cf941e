//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	// One process in eight stands still at a time: a cluster of ten processes then rarely has all of them running.
	frozenAtOnce = 8
	leastFreeze  = 100 * time.Millisecond
	mostFreeze   = 1500 * time.Millisecond
)

// freezer stops processes that descend from this one. Each slot is a control group, which holds one process at a time.
type freezer struct {
	parent string // the control group of this process, to which a process returns
	slots  []string
}

// newFreezer makes n slots. End removes them.
func newFreezer(n int) (*freezer, error) {
	root, err := unified()
	if err != nil {
		return nil, err
	}
	f := &freezer{parent: root}
	for i := range n {
		slot := filepath.Join(root, fmt.Sprintf("pace-%d-%d", os.Getpid(), i))
		if err := os.Mkdir(slot, 0o755); err != nil {
			f.end()
			return nil, fmt.Errorf("make a control group (this needs root): %w", err)
		}
		f.slots = append(f.slots, slot)
	}
	return f, nil
}

// unified finds where control groups of version 2 are mounted.
func unified() (string, error) {
	mounts, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(mounts)) {
		if f := strings.Fields(line); len(f) > 2 && f[2] == "cgroup2" {
			return f[1], nil
		}
	}
	return "", errors.New("no control groups of version 2 are mounted (mount -t cgroup2 none DIR)")
}

// run stops processes until ctx ends, and lets all go on before it returns.
func (f *freezer) run(ctx context.Context) {
	var wg sync.WaitGroup
	free := make(chan string, len(f.slots))
	for _, s := range f.slots {
		free <- s
	}
	for ctx.Err() == nil {
		children := descendants(os.Getpid())
		if standing := len(f.slots) - len(free); len(children) == 0 || standing >= max(1, len(children)/frozenAtOnce) || len(free) == 0 {
			pause(ctx, 10*time.Millisecond)
			continue
		}
		pid, slot := children[rand.IntN(len(children))], <-free
		wg.Go(func() {
			freeze(ctx, f.parent, slot, pid, leastFreeze+rand.N(mostFreeze-leastFreeze))
			free <- slot
		})
	}
	wg.Wait()
}

// freeze stops one process for some time. A process that has ended meanwhile is no error: writing its number fails then.
func freeze(ctx context.Context, parent, slot string, pid int, d time.Duration) {
	set := func(dir, file, value string) error { return os.WriteFile(filepath.Join(dir, file), []byte(value), 0) }
	if set(slot, "cgroup.procs", strconv.Itoa(pid)) != nil {
		return
	}
	_ = set(slot, "cgroup.freeze", "1")
	pause(ctx, d)
	_ = set(slot, "cgroup.freeze", "0")
	// Children that the process has started since are in the slot, too.
	procs, _ := os.ReadFile(filepath.Join(slot, "cgroup.procs"))
	for _, p := range strings.Fields(string(procs)) {
		_ = set(parent, "cgroup.procs", p)
	}
}

func (f *freezer) end() {
	for _, s := range f.slots {
		_ = os.Remove(s)
	}
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// adopt makes this process the parent of descendants whose own parent has ended, so that detached nodes are found, too.
func adopt() error {
	const setChildSubreaper = 36
	if _, _, e := syscall.RawSyscall(syscall.SYS_PRCTL, setChildSubreaper, 1, 0); e != 0 {
		return fmt.Errorf("become the parent of detached processes: %w", e)
	}
	return nil
}

// descendants lists the processes below one.
func descendants(of int) []int {
	children := map[int][]int{}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		b, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		// The name, in parentheses, may contain spaces and parentheses.
		after := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
		if len(after) < 2 || after[0] == "Z" {
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		ppid, _ := strconv.Atoi(after[1])
		children[ppid] = append(children[ppid], pid)
	}
	var all []int
	for next := children[of]; len(next) > 0; {
		pid := next[0]
		all, next = append(all, pid), append(next[1:], children[pid]...)
	}
	return all
}
