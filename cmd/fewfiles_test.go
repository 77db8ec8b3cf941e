package cmd

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// `posta topology check` reports a limit of open files that is too low for the topology. It succeeds nevertheless: the
// nodes may run elsewhere.
func TestTopologyCheck_FewFileDescriptors(t *testing.T) {
	for limit, want := range map[string]bool{"30": true, "4096": false} {
		cmd := exec.Command("sh", "-c", "ulimit -n "+limit+"; exec "+os.Args[0]+" topology check ../topology.toml")
		var said bytes.Buffer
		cmd.Stderr = &said
		if err := cmd.Run(); err != nil {
			t.Errorf("%v: %s", err, said.String())
		}
		if got := strings.Contains(said.String(), "file descriptors, and a process may have "+limit+" here"); got != want {
			t.Errorf("with %s it says %q", limit, said.String())
		}
	}
}
