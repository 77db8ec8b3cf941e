package bench

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

// together is what processes of one program have held: each its own, and the program once, where it is largest. It is never less than
// what there was at any moment, as the peaks need not have come at the same time. The plain sum would count the program, 19 MB here, as
// often as there are processes, and the page cache has it once.
func together(all []memory) (total int64) {
	program := int64(0)
	for _, m := range all {
		total += m.Peak - m.Shared
		program = max(program, m.Shared)
	}
	return total + program
}
