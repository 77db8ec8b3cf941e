package process

import (
	"errors"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// kernelLog is the kernel's log from a moment on. It is what tells for sure that the kernel killed a process for its memory: to the parent that looks
// like any SIGKILL. Turned down: the number of such kills on the machine (/proc/vmstat) or in the cgroup that nodes share with their medic,
// since any process may be the one that it counts.
type kernelLog struct{ fd int }

// firstPIDs names the first process namespace. The log speaks of its pids, and in another one they are those of other processes.
const firstPIDs = "pid:[4026531836]"

// followKernel begins behind the last record. It returns nil where the log may not be read (to read it takes CAP_SYSLOG, or the sysctl
// kernel.dmesg_restrict=0), or does not speak of our pids: then nobody can say.
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

// killed reads on to the end of the log, and reports whether the kernel says that it has killed a process for its memory. It is called once.
func (k *kernelLog) killed(pid int) bool {
	if k == nil {
		return false
	}
	record := make([]byte, 16<<10) // the kernel's longest has 8 KiB
	for {
		n, err := unix.Read(k.fd, record) // one record for each call
		switch {
		case errors.Is(err, unix.EPIPE), errors.Is(err, unix.EINTR): // EPIPE: records were lost, the next call goes on behind them
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

// killedForMemory is the pid of the process that a record of the kernel's log says was killed for its memory, 0 for none:
//
//	3,1234,987654321,-;Out of memory: Killed process 4711 (posta) total-vm:…
//	3,1235,987654399,-;Memory cgroup out of memory: Killed process 4711 (posta) total-vm:…
//
// The first number is the facility, times 8, and the level. The kernel's own facility is 0, and nobody else can write with it.
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
