package nodes

import (
	"os"
	"runtime"
	"runtime/debug"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// TestHeadroomTakesNoMemory: where the runtime puts the headroom over memory that was in use before, it writes zeros to all of it.
func TestHeadroomTakesNoMemory(t *testing.T) {
	t.Setenv("GOGC", "")
	percent := debug.SetGCPercent(100)
	t.Cleanup(func() { debug.SetGCPercent(percent) })
	used := make([]byte, 2*DefaultHeadroom*100/gcPercent)
	for i := range used {
		used[i] = 1
	}
	runtime.KeepAlive(used)
	used = nil
	runtime.GC()
	h := newHeadroom(DefaultHeadroom)
	if got := residentPages(t, h.memory) * os.Getpagesize(); got > 1<<20 {
		t.Errorf("%d MiB of the headroom's %d are in memory", got>>20, len(h.memory)>>20)
	}
	for i := 0; i < len(h.memory); i += 512 {
		if h.memory[i] != 0 {
			t.Fatalf("byte %d is %d", i, h.memory[i])
		}
	}
	h.release()
}

// residentPages returns how many of the whole pages in b are in memory.
func residentPages(t *testing.T, b []byte) (n int) {
	t.Helper()
	size := os.Getpagesize()
	first := -int(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) & (size - 1)
	pages := (len(b) - first) / size
	seen := make([]byte, pages)
	if _, _, e := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(&b[first])), uintptr(pages*size),
		uintptr(unsafe.Pointer(&seen[0]))); e != 0 {
		t.Fatal(e)
	}
	for _, s := range seen {
		n += int(s & 1)
	}
	return n
}
