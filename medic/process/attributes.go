package process

import "syscall"

// detached gives a child its own session: it has no terminal, gets no Ctrl-C, and does not end with its parent.
func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
