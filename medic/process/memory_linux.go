package process

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// kernelLog is the kernel's log from a moment on. Only it shows for sure that the kernel killed a process for its memory: the parent just
// sees a SIGKILL. If it may not be read, killCount is used.
type kernelLog struct{ fd int }

// firstPIDs names the initial pid namespace. The log has the pids of that namespace; in another one they belong to other processes.
const firstPIDs = "pid:[4026531836]"

// followKernel begins after the last record. It returns nil if the log may not be read (that takes CAP_SYSLOG, or the sysctl
// kernel.dmesg_restrict=0), or if we are not in the initial pid namespace.
func followKernel() *kernelLog {
	if ns, err := os.Readlink("/proc/self/ns/pid"); err != nil || ns != firstPIDs {
		return nil
	}
	fd, err := unix.Open("/dev/kmsg", unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	if _, err := unix.Seek(fd, 0, unix.SEEK_END); err != nil {
		_ = unix.Close(fd)
		return nil
	}
	return &kernelLog{fd}
}

// killed reads on to the end of the log, and reports whether the kernel says that it has killed a process for its memory. It is called
// once.
func (k *kernelLog) killed(pid int) bool {
	if k == nil {
		return false
	}
	record := make([]byte, 16<<10) // the kernel's longest has 8 KiB
	for {
		n, err := unix.Read(k.fd, record) // one record for each call
		switch {
		case errors.Is(err, unix.EPIPE), errors.Is(err, unix.EINTR): // EPIPE: records were lost, and the next call continues after them
		case err != nil || n == 0:
			return false
		case killedForMemory(string(record[:n])) == pid:
			return true
		}
	}
}

func (k *kernelLog) close() {
	if k != nil {
		_ = unix.Close(k.fd) // it was only read
	}
}

// killedForMemory returns the pid of the process that a record of the kernel's log says was killed for its memory, 0 for none:
//
//	3,1234,987654321,-;Out of memory: Killed process 4711 (posta) total-vm:…
//	3,1235,987654399,-;Memory cgroup out of memory: Killed process 4711 (posta) total-vm:…
//
// The first number is 8 times the facility plus the level. The kernel's own facility is 0, and no other process can write with it.
func killedForMemory(record string) (pid int) {
	head, text, _ := strings.Cut(record, ";")
	first, _, _ := strings.Cut(head, ",")
	if level, err := strconv.Atoi(first); err != nil || level >= 8 {
		return 0
	}
	cause, victim, found := strings.Cut(text, "Killed process ")
	if cause = strings.ToLower(cause); !found || !strings.HasSuffix(cause, "out of memory: ") && cause != "" {
		return 0
	}
	number, _, _ := strings.Cut(victim, " ")
	pid, _ = strconv.Atoi(strings.TrimSuffix(number, ","))
	return pid
}

// killCount counts the processes that the kernel has killed for their memory on this machine; every user may read the counter. The killed
// process may be any process. So if a process that we did not kill died while the number rose, the cause is "perhaps" memory. A session
// fails only after three such deaths in a row. That would be wrong only if something sent the node SIGKILL each time that the kernel killed
// another process.
type killCount struct {
	file        string
	was, before uint64    // the counter at the last two looks with different times
	at          time.Time // time of the later look
}

const (
	vmstat = "/proc/vmstat"
	// killing is how long a killed process may need to end after the counter has risen: it has much memory to free.
	killing = 10 * time.Second
)

// newKillCount returns nil if the kernel has no such counter.
func newKillCount(file string, now time.Time) *killCount {
	n, ok := readKills(file)
	if !ok {
		return nil
	}
	return &killCount{file, n, n, now}
}

// look is called from time to time while the process is alive.
func (k *killCount) look(now time.Time) {
	if k == nil || now.Sub(k.at) < killing {
		return
	}
	if n, ok := readKills(k.file); ok {
		k.before, k.was, k.at = k.was, n, now
	}
}

// risen reports whether something was killed in the last moments.
func (k *killCount) risen() bool {
	if k == nil {
		return false
	}
	n, ok := readKills(k.file)
	return ok && n > k.before
}

func readKills(file string) (n uint64, ok bool) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, false
	}
	_, rest, found := strings.Cut("\n"+string(text), "\noom_kill ")
	number, _, _ := strings.Cut(rest, "\n")
	n, err = strconv.ParseUint(number, 10, 64)
	return n, found && err == nil
}
