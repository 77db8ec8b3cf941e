//go:build !linux

package bench

import (
	"errors"
	"os/exec"
)

// cores says nothing: a process cannot be kept on one here.
func cores() []int { return nil }

func startOn(int, *exec.Cmd) error { return errors.ErrUnsupported }
