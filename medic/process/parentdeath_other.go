//go:build !linux

package process

import "syscall"

// dieWithParent children are stopped by their parent when it ends in an orderly way; that is all there is on this system.
func dieWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
