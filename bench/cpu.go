package bench

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// cpuTime is what this process has spent on all its threads, in itself and in the kernel.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0 // it has no other error than a bad argument
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// clockTick is the unit of CPU times in /proc: 1/100 s on every Linux that Go runs on.
const clockTick = 10 * time.Millisecond

// cpuTimeOf is that of another process; 0 where the system has no /proc.
func cpuTimeOf(pid int) time.Duration {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(b), ") ") // the name before it may hold anything
	fields := strings.Fields(rest)
	const utime, stime = 11, 12
	if len(fields) <= stime {
		return 0
	}
	user, _ := strconv.ParseInt(fields[utime], 10, 64)
	system, _ := strconv.ParseInt(fields[stime], 10, 64)
	return time.Duration(user+system) * clockTick
}

// writtenBy is the bytes that a process has had written to disks, or that are still on their way there; 0 where the system
// does not tell.
func writtenBy(pid string) int64 {
	n, _ := strconv.ParseInt(lineValue("/proc/"+pid+"/io", "write_bytes"), 10, 64)
	return n
}

// peakOf is the most memory a process has held, in bytes (VmHWM). The kernel's ru_maxrss is no use: it begins with the memory
// of the process that started it.
func peakOf(pid string) int64 { return kilobytes(pid, "VmHWM") }

// kilobytes is a figure of a process' status, in bytes; 0 where the system does not tell.
func kilobytes(pid, name string) int64 {
	text := strings.TrimSuffix(lineValue("/proc/"+pid+"/status", name), " kB")
	kb, _ := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	return kb << 10
}
