//go:build !linux

package pty

import (
	"errors"
	"os"
	"os/exec"
)

var errNone = errors.New("terminals are made on Linux only")

// Open returns an error: other systems make terminals in other ways.
func Open(width, height int) (controller, tty *os.File, err error) { return nil, nil, errNone }

// Start returns an error, as Open does.
func Start(cmd *exec.Cmd, tty *os.File) error { return errNone }
