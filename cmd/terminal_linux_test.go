package cmd

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"posta.dev/posta/test/await"
	"posta.dev/posta/test/ptytest"
)

// inTerminal starts posta in a terminal that answers nothing, whatever a program asks it.
func inTerminal(t *testing.T, args ...string) (*ptytest.Terminal, *exec.Cmd) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := ptytest.Open(t, 80, 24, nil)
	c := exec.Command(self, args...)
	c.Env = append(os.Environ(), "TERM=xterm-256color", "NO_COLOR=", "POSTA_TEST_SELF=1")
	if err := p.Start(c); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill() })
	return p, c
}

// A command asks its terminal nothing: one that does not answer, as some do not, would make each command wait for seconds.
func TestACommandAsksItsTerminalNothing(t *testing.T) {
	p, c := inTerminal(t, "version")
	if err := c.Wait(); err != nil {
		t.Fatal(err)
	}
	await.Until(t, "the version is there", func() bool { return strings.Contains(p.Said(), "\n") })
	if said := p.Said(); !strings.HasPrefix(said, "posta ") || strings.Contains(said, "\x1b") {
		t.Errorf("the terminal hears %q", said)
	}
}
