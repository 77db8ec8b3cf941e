package bench

import (
	"strconv"
	"time"
)

// usage is what processes have cost until now.
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

// since is what has been spent after before. Memory is the most until now.
func (u usage) since(before usage) usage {
	return usage{cpu: u.cpu - before.cpu, written: u.written - before.written, held: u.held}
}

// peak is the sum of the processes' peaks, in bytes.
func (u usage) peak() (total int64) {
	for _, m := range u.held {
		total += m.Peak
	}
	return total
}

// memory is the most that a process has held, in bytes.
type memory struct {
	Peak   int64 `json:"peak"`   // of all (VmHWM)
	Shared int64 `json:"shared"` // of it, pages of files (RssFile): those of the program are the same in all processes that run it
}

func memoryOf(pid string) memory {
	m := memory{Peak: peakOf(pid), Shared: kilobytes(pid, "RssFile")}
	m.Shared = min(m.Shared, m.Peak)
	return m
}

// totalMemory is what processes of one program have held: each its own, and the program once, where it is largest. It is never less than
// what there was at any moment, as the peaks need not have come at the same time. The plain sum would count the program, 19 MB here, as
// often as there are processes, and the page cache has it once.
func totalMemory(all []memory) (total int64) {
	program := int64(0)
	for _, m := range all {
		total += m.Peak - m.Shared
		program = max(program, m.Shared)
	}
	return total + program
}
