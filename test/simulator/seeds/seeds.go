// Package seeds runs a simulator over many seeds, on all processors. It is for tests.
package seeds

import (
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"testing"
)

// Each calls run for n seeds from first on, several at a time, and starts no more after the test has failed. A run must have one
// goroutine and share nothing with other runs, because otherwise a seed could not be repeated.
//
// A simulated world has a few megabytes, and most of what it allocates becomes garbage at once: by default the collector would run
// hundreds of times a second.
func Each(t *testing.T, first uint64, n int, run func(seed uint64)) {
	t.Helper()
	defer debug.SetGCPercent(debug.SetGCPercent(800))
	var given atomic.Int64
	var wg sync.WaitGroup
	for range min(n, runtime.GOMAXPROCS(0)) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for !t.Failed() {
				at := given.Add(1) - 1
				if at >= int64(n) {
					return
				}
				run(first + uint64(at))
			}
		}()
	}
	wg.Wait()
}
