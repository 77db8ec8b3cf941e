package process

import (
	"syscall"
	"testing"
)

// TestS6_NodesInheritNoDescriptors: what is open in a process, and open in its children, as after `exec 9>lock` in a shell, is not open in
// nodes and medics.
func TestS6_NodesInheritNoDescriptors(t *testing.T) {
	var ends [2]int
	if err := syscall.Pipe(ends[:]); err != nil { // children inherit both ends
		t.Fatal(err)
	}
	defer func() { _ = syscall.Close(ends[0]) }()
	start(t, children(t, t.TempDir(), "polite"), "a-1")
	err := syscall.Close(ends[1])
	if err == nil {
		err = syscall.SetNonblock(ends[0], true)
	}
	if err != nil {
		t.Fatal(err)
	}
	// The pipe ends here only if no child has its other end: otherwise a byte might still come (EAGAIN).
	if n, err := syscall.Read(ends[0], make([]byte, 1)); n != 0 || err != nil {
		t.Errorf("the child has an end of a pipe that it does not own: read %d, %v", n, err)
	}
}
