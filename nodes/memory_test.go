package nodes

import (
	"runtime"
	"syscall"
	"testing"
	"time"
)

// TestLimitLeavesRoom: the limit is always well above the live data, or the collector would run without end.
func TestLimitLeavesRoom(t *testing.T) {
	for live := int64(0); live < 8<<30; live += 7 << 20 {
		l := limitFor(live)
		if l < leastLimit || l < live+live/4 || l > 2*live+leastLimit+step {
			t.Fatalf("%d bytes live: limit %d", live, l)
		}
		if l < limitFor(max(0, live-1<<20)) {
			t.Fatalf("%d bytes live: the limit falls as the state grows", live)
		}
	}
}

// TestMemoryUsed: the measure counts memory that the node has touched, not memory that it has only allocated. It is read once a second.
func TestMemoryUsed(t *testing.T) {
	if runtime.GOOS != "linux" {
		return // this system has no such measure
	}
	var m memoryUsed
	now := time.Now()
	// not from Go's heap, whose memory may have been touched before
	untouched, err := syscall.Mmap(-1, 0, 1<<30, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Munmap(untouched)
	before := m.at(now)
	large := make([]byte, 64<<20)
	for i := 0; i < len(large); i += 4096 {
		large[i] = 1
	}
	if got := m.at(now.Add(time.Second - 1)); got != before {
		t.Errorf("it is measured again within a second: %d, then %d", before, got)
	}
	if got := m.at(now.Add(time.Second)); got < 60<<20 || got > 900<<20 {
		t.Errorf("with 64 MiB in use it is %d, and was %d", got, before)
	}
	runtime.KeepAlive(large)
}
