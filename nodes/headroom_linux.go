package nodes

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// giveBack returns the pages of memory that holds only zeros to the system. It reads as zeros afterwards, too, because a page that is
// touched again is a new one. Without this the headroom may take all of its memory from the start: where the runtime puts it over addresses
// that were in use before, it writes zeros to all of it.
func giveBack(memory []byte) {
	size := uintptr(unix.Getpagesize())
	first := (size - uintptr(unsafe.Pointer(unsafe.SliceData(memory)))%size) % size
	whole := uintptr(len(memory)) - min(first, uintptr(len(memory)))
	if whole -= whole % size; whole > 0 {
		_ = unix.Madvise(memory[first:first+whole], unix.MADV_DONTNEED) // without it the process only takes more memory
	}
}
