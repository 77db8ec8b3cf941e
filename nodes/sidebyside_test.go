package nodes

import (
	"runtime"
	"sync/atomic"
	"testing"
)

// TestSideBySide: when it returns, each piece of work has been done once, whatever the number of pieces and of cores.
func TestSideBySide(t *testing.T) {
	for _, cores := range []int{1, 2, 5} {
		before := runtime.GOMAXPROCS(cores)
		for n := range 40 {
			done := make([]atomic.Int32, n)
			var works []func()
			for i := range n {
				works = append(works, func() { done[i].Add(1) })
			}
			sideBySide(works)
			for i := range done {
				if got := done[i].Load(); got != 1 {
					t.Errorf("work %d of %d is done %d times", i, n, got)
				}
			}
		}
		runtime.GOMAXPROCS(before)
	}
}

// TestSideBySide_WorkIsDoneAtOnce: pieces of work that wait for each other finish.
func TestSideBySide_WorkIsDoneAtOnce(t *testing.T) {
	before := runtime.GOMAXPROCS(2)
	defer runtime.GOMAXPROCS(before)
	met := make(chan struct{})
	sideBySide([]func(){func() { met <- struct{}{} }, func() { <-met }})
}
