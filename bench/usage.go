package bench

import (
	"strconv"
	"time"
)

// usage is what processes have used so far.
type usage struct {
	cpu     time.Duration
	written int64    // bytes, to the disk
	held    []memory // of each process
}

func usageOf(pids ...int) (u usage) {
	for _, pid := range pids {
		id := strconv.Itoa(pid)
		u.cpu += cpuTimeOf(pid)
		u.written += writtenBy(id)
		u.held = append(u.held, memoryOf(id))
	}
	return u
}

// since returns the usage after before. Memory is the peak so far.
func (u usage) since(before usage) usage {
	return usage{cpu: u.cpu - before.cpu, written: u.written - before.written, held: u.held}
}

// peak returns the sum of the processes' peaks, in bytes.
func (u usage) peak() (total int64) {
	for _, m := range u.held {
		total += m.Peak
	}
	return total
}

// memory is the most that a process has held, in bytes.
type memory struct {
	Peak   int64 `json:"peak"`   // of all (VmHWM)
	Shared int64 `json:"shared"` // part of Peak: pages of files (RssFile); those of the program are the same in all processes that run it
}

func memoryOf(pid string) memory {
	m := memory{Peak: peakOf(pid), Shared: kilobytes(pid, "RssFile")}
	m.Shared = min(m.Shared, m.Peak)
	return m
}

// totalMemory returns the memory of several processes of one program: each process's own memory, and once the largest count
// of the program's pages. It is an upper bound, because the peaks may come at different times. A plain sum would count the
// program's pages, 19 MB, once per process, although the page cache holds them once.
func totalMemory(all []memory) (total int64) {
	program := int64(0)
	for _, m := range all {
		total += m.Peak - m.Shared
		program = max(program, m.Shared)
	}
	return total + program
}
