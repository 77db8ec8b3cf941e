package medic

import (
	"fmt"
	"slices"
	"syscall"

	"posta.dev/posta/nodes/postmortem"
)

// Death is how a process ended.
type Death struct {
	Cause string // for people: "exit status 1", "signal: killed"; "" if it is not known
	// Fault: the process crashed. Nobody ended it from outside, and it did not report an error and exit. If it crashes again and again, its
	// work may be the cause.
	Fault  bool
	Memory bool // it was killed because it took too much memory; implies Fault
}

// String returns the cause.
func (d Death) String() string {
	if d.Cause == "" {
		return "cause unknown"
	}
	return d.Cause
}

// Exited returns the death of a process that has ended itself. With 1 it has reported why, and with ExitHung it has left a note.
func Exited(status int) Death {
	return Death{Cause: fmt.Sprintf("exit status %d", status), Fault: status != 0 && status != 1 && status != postmortem.ExitHung}
}

// Signalled returns the death of a process that a signal has ended. A signal that the process itself caused is its fault. SIGKILL comes
// from people, from medics, or from a kernel that is out of memory: see OutOfMemory.
func Signalled(s syscall.Signal) Death {
	own := []syscall.Signal{syscall.SIGSEGV, syscall.SIGBUS, syscall.SIGABRT, syscall.SIGFPE, syscall.SIGILL, syscall.SIGTRAP, syscall.SIGSYS,
		syscall.SIGXCPU}
	return Death{Cause: "signal: " + s.String(), Fault: slices.Contains(own, s)}
}

// OutOfMemory is the death of a process that the kernel has killed for its memory.
func OutOfMemory(cause string) Death { return Death{Cause: cause, Fault: true, Memory: true} }
