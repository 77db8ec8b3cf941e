package process

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"posta.dev/posta/medic"
	"posta.dev/posta/test/await"
)

// records returns the kernel's log with these records.
func records(t *testing.T, all ...string) *kernelLog {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0) // one record for each read
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Close(fds[1]) })
	for _, r := range all {
		if _, err := unix.Write(fds[1], []byte(r)); err != nil {
			t.Fatal(err)
		}
	}
	k := &kernelLog{fds[0]}
	t.Cleanup(k.close)
	return k
}

// TestN9_OnlyTheProcessItselfCounts: a killed node has used up its memory if the kernel's log says so about its pid. A
// record about another process does not count, and without any record the node was simply killed.
func TestN9_OnlyTheProcessItselfCounts(t *testing.T) {
	const (
		noise   = "6,539,4926626210,-;veth31204d4: entered promiscuous mode\n SUBSYSTEM=net\n"
		machine = "3,540,4926626310,-;Out of memory: Killed process 4711 (posta) total-vm:1024kB, anon-rss:512kB, file-rss:0kB, " +
			"shmem-rss:0kB, UID:0\n"
		group = "3,2625,4629266390,-;Memory cgroup out of memory: Killed process 4711 (python3) total-vm:118968kB, anon-rss:19328kB, " +
			"file-rss:6628kB, shmem-rss:0kB, UID:0 pgtables:100kB oom_score_adj:0\n"
		old     = "3,542,4926626330,-;Killed process 4711 (posta) total-vm:1024kB, anon-rss:512kB\n"
		chosen  = "3,543,4926626340,-;Out of memory: Kill process 4711 (posta) score 900 or sacrifice child\n"
		forged  = "12,544,4926626350,-;Out of memory: Killed process 4711 (posta) total-vm:1024kB\n"
		quoted  = "6,545,4926626360,-;posta says: Killed process 4711 (posta)\n"
		rubbish = "Killed process 4711"
	)
	of := func(record, pid string) string { return strings.ReplaceAll(record, "4711", pid) }
	for name, c := range map[string]struct {
		log    *kernelLog
		memory bool
	}{
		"the machine was out of memory":     {records(t, noise, machine, noise), true},
		"its cgroup was out of memory":      {records(t, group), true},
		"an old kernel":                     {records(t, chosen, old), true},
		"another first":                     {records(t, of(machine, "4712"), of(group, "471"), machine), true},
		"another process was killed for it": {records(t, of(machine, "47110"), of(group, "471")), false},
		"it was chosen, and let live":       {records(t, chosen), false},
		"somebody else says so":             {records(t, forged, quoted, rubbish, noise), false},
		"nothing is said":                   {records(t), false},
		"nobody can say":                    {nil, false},
	} {
		d := death(syscall.WaitStatus(syscall.SIGKILL), &child{pid: 4711, kernel: c.log})
		if d.Memory != c.memory || d.Fault != c.memory || strings.Contains(d.Cause, "memory") != c.memory {
			t.Errorf("%s: %+v", name, d)
		}
	}
	if d := death(syscall.WaitStatus(syscall.SIGSEGV), &child{pid: 4711, kernel: records(t, machine)}); d != medic.Signalled(syscall.SIGSEGV) {
		t.Errorf("it crashed by itself: %+v", d)
	}
}

// TestN9_WhereTheKernelsLogMayNotBeRead, a killed node was perhaps killed for its memory: if some process was, in the
// node's last moments, and if its medic did not kill it.
func TestN9_WhereTheKernelsLogMayNotBeRead(t *testing.T) {
	begin := time.Unix(1_700_000_000, 0)
	for name, c := range map[string]struct {
		seconds []int // times of reads of the counter
		counts  []int // then, the last one when it has ended
		struck  bool
		signal  syscall.Signal
		memory  bool
	}{
		"something was killed at once":       {nil, []int{3, 4}, false, syscall.SIGKILL, true},
		"while it ended":                     {[]int{30, 60, 61}, []int{3, 3, 3, 4, 4}, false, syscall.SIGKILL, true},
		"while it lived":                     {[]int{30, 60, 90}, []int{3, 4, 4, 4, 4}, false, syscall.SIGKILL, false},
		"nothing was killed":                 {[]int{30, 60}, []int{3, 3, 3, 3}, false, syscall.SIGKILL, false},
		"its medic has killed it":            {nil, []int{3, 4}, true, syscall.SIGKILL, false},
		"another signal":                     {nil, []int{3, 4}, false, syscall.SIGTERM, false},
		"nobody counts":                      {nil, []int{-1, 4}, false, syscall.SIGKILL, false},
		"nobody counts any more":             {nil, []int{3, -1}, false, syscall.SIGKILL, false},
		"not all looks are as far as others": {[]int{1, 2, 3, 11}, []int{3, 4, 4, 4, 4, 4}, false, syscall.SIGKILL, true},
	} {
		file := filepath.Join(t.TempDir(), "vmstat")
		count := func(i int) {
			text := fmt.Sprintf("nr_free_pages 7\noom_kill %d\nnuma_hit 12\n", c.counts[i])
			if c.counts[i] < 0 {
				text = "nr_free_pages 7\n"
			}
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		count(0)
		node := &child{pid: 4711, kills: newKillCount(file, begin), struck: c.struck}
		for i, s := range c.seconds {
			count(i + 1)
			node.kills.look(begin.Add(time.Duration(s) * time.Second))
		}
		count(len(c.counts) - 1)
		d := death(syscall.WaitStatus(c.signal), node)
		if d.Memory != c.memory || d.Fault != c.memory || strings.Contains(d.Cause, "perhaps for its memory") != c.memory {
			t.Errorf("%s: %+v", name, d)
		}
	}
	if _, ok := readKills(vmstat); !ok {
		t.Errorf("%s does not say how many were killed", vmstat)
	}
}

// TestN9_AMedicKnowsWhomItKills: a process that the medic itself kills is not taken for one that has used up its
// memory.
func TestN9_AMedicKnowsWhomItKills(t *testing.T) {
	r := children(t, t.TempDir(), "polite")
	if err := r.Start(await.Soon(t), "a"); err != nil {
		t.Fatal(err)
	}
	c := r.children["a"]
	if err := r.Kill(await.Soon(t), "a"); err != nil || !c.struck {
		t.Fatalf("it was killed: %v, %v", c.struck, err)
	}
}

// TestN9_TheKernelsLogIsClosed: a medic that starts nodes again and again keeps one open file for each living node,
// and closes it when the node ends.
func TestN9_TheKernelsLogIsClosed(t *testing.T) {
	open := func() (n int) {
		files, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if to, err := os.Readlink("/proc/self/fd/" + f.Name()); err == nil && to == "/dev/kmsg" {
				n++
			}
		}
		return n
	}
	before := open()
	r := children(t, t.TempDir(), "polite")
	for range 3 {
		if err := r.Start(await.Soon(t), "a"); err != nil {
			t.Fatal(err)
		}
		if n := open() - before; n > 1 {
			t.Fatalf("%d are open for one node", n)
		}
		if err := r.Kill(await.Soon(t), "a"); err != nil {
			t.Fatal(err)
		}
		if d, err := r.Wait(await.Soon(t), "a"); err != nil || d != medic.Signalled(syscall.SIGKILL) {
			t.Fatalf("a node that a medic killed: %+v, %v", d, err)
		}
		if n := open() - before; n != 0 {
			t.Fatalf("%d are open for no node", n)
		}
	}
	if err := r.Start(await.Soon(t), "a"); err != nil {
		t.Fatal(err)
	}
	r.letGo()
	if n := open() - before; n != 0 {
		t.Errorf("it is closed, and %d are open", n)
	}
}
