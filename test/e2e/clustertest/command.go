package clustertest

import (
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// Command runs a command and returns its standard output. Its error contains the command's error output.
func Command(args ...string) (string, error) {
	out, err := exec.Command(args[0], args[1:]...).Output()
	text := strings.TrimSpace(string(out))
	if exit, ok := err.(*exec.ExitError); ok {
		return text, fmt.Errorf("%s: %w: %s", strings.Join(args, " "), err, exit.Stderr)
	}
	return text, err
}

// Orphan reports whether the process that made something called PREFIX PID, or PREFIX PID-…, is gone: then a killed run
// has left it behind.
func Orphan(name, prefix string) bool {
	rest, ours := strings.CutPrefix(name, prefix)
	if !ours {
		return false
	}
	number, _, _ := strings.Cut(rest, "-")
	pid, err := strconv.Atoi(number)
	return err == nil && syscall.Kill(pid, 0) == syscall.ESRCH
}
