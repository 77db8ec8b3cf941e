//go:build !linux

package process

import "time"

// kernelLog does not exist here: this system does not report which process was killed for its memory.
type kernelLog struct{}

func followKernel() *kernelLog         { return nil }
func (*kernelLog) killed(pid int) bool { return false }
func (*kernelLog) close()              {}

// killCount is empty here as well: this system has no such counter.
type killCount struct{}

const vmstat = ""

func newKillCount(string, time.Time) *killCount { return nil }
func (*killCount) look(time.Time)               {}
func (*killCount) risen() bool                  { return false }
