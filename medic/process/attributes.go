package process

import "syscall"

// detached gives a child a session of its own: no terminal, no Ctrl-C, no end with its parent.
func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
