package bench

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// cpuTime returns the CPU time of all threads of this process, in user space and in the kernel.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0 // it fails only for a bad argument
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// clockTick is the unit of CPU times in /proc: 1/100 s on every Linux that Go runs on.
const clockTick = 10 * time.Millisecond

// cpuTimeOf returns the CPU time of another process, or 0 on a system without /proc.
func cpuTimeOf(pid int) time.Duration {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(b), ") ") // the process name before it may contain anything
	fields := strings.Fields(rest)
	const utime, stime = 11, 12
	if len(fields) <= stime {
		return 0
	}
	user, _ := strconv.ParseInt(fields[utime], 10, 64)
	system, _ := strconv.ParseInt(fields[stime], 10, 64)
	return time.Duration(user+system) * clockTick
}

// writtenBy returns how many bytes a process has written to disks, including those still in the page cache; 0 if the system
// does not report it.
func writtenBy(pid string) int64 {
	n, _ := strconv.ParseInt(lineValue("/proc/"+pid+"/io", "write_bytes"), 10, 64)
	return n
}

// peakOf returns the most memory that a process has held, in bytes (VmHWM). The kernel's ru_maxrss is useless here, because it
// begins with the memory of the process that started this one.
func peakOf(pid string) int64 { return kilobytes(pid, "VmHWM") }

// kilobytes reads a figure from a process's status file and returns it in bytes, or 0 if the system does not report it.
func kilobytes(pid, name string) int64 {
	text := strings.TrimSuffix(lineValue("/proc/"+pid+"/status", name), " kB")
	kb, _ := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	return kb << 10
}
