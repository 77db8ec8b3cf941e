//go:build !linux

package process

import "syscall"

// dieWithParent does nothing on this system: the parent stops its children only when it ends in an orderly way.
func dieWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// beNicer does nothing on this system: a companion has as much of the processors as its keeper.
func beNicer() error { return nil }
