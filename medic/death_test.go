package medic

import (
	"syscall"
	"testing"
)

// TestN9_WhoseFaultADeathIs: a death is not counted against the node's sessions if people or medics killed the process,
// or if it ended with an error that it reported.
func TestN9_WhoseFaultADeathIs(t *testing.T) {
	for _, c := range []struct {
		d     Death
		fault bool
	}{
		{Exited(0), false}, {Exited(1), false}, {Exited(70), false}, {Exited(2), true}, {Exited(9), true},
		{Signalled(syscall.SIGKILL), false}, {Signalled(syscall.SIGTERM), false}, {Signalled(syscall.SIGSEGV), true},
		{Signalled(syscall.SIGABRT), true},
		{OutOfMemory("killed"), true}, {Death{}, false},
	} {
		if c.d.Fault != c.fault || c.d.Memory && !c.d.Fault {
			t.Errorf("%v: %+v", c.d, c.d)
		}
	}
}
