//go:build !linux

package bench

import (
	"errors"
	"os/exec"
)

// cores returns none: on this system a process cannot be bound to a core.
func cores() []int { return nil }

func startOn(int, *exec.Cmd) error { return errors.ErrUnsupported }
