package wallclock

import (
	"fmt"
	"os"
	"sync/atomic"
	"syscall"
	"unsafe"
)

// clockGettime is what the runtime calls to read a clock. The runtime keeps this name open to other packages.
//
//go:linkname clockGettime runtime.vdsoClockgettimeSym
var clockGettime uintptr

// offset points to the seconds that jumpingClock adds. Only the assembly reads through it.
//
//lint:ignore U1000 the assembly reads it
var offset unsafe.Pointer

// jumpingClockPC is where jumpingClock begins. Go code cannot take the address of a function that follows C's calling convention.
func jumpingClockPC() uintptr

// Follow makes this process's wall clock follow the file, until the process ends. The file is made if it is not there: then the clock is
// right until somebody sets it.
func Follow(file string) error {
	f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("wallclock: follow %s: %w", file, err)
	}
	defer func() { _ = f.Close() }()
	if err := syscall.Fallocate(int(f.Fd()), 0, 0, fileSize); err != nil { // keeps what is there; reading beyond the end would be SIGBUS
		return fmt.Errorf("wallclock: follow %s: %w", file, err)
	}
	page, err := syscall.Mmap(int(f.Fd()), 0, fileSize, syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return fmt.Errorf("wallclock: follow %s: %w", file, err)
	}
	offset = unsafe.Pointer(unsafe.SliceData(page)) // before the runtime may call what reads through it
	atomic.StoreUintptr(&clockGettime, jumpingClockPC())
	return nil
}
