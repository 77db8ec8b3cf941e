//go:build !linux

package process

import "syscall"

// dieWithParent does nothing on this system: the parent stops its children only when it ends in an orderly way.
func dieWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// beNicer does nothing on this system: a companion has the same priority as its keeper.
func beNicer() error { return nil }
