// Package progress counts the work that a process completes, so that a watcher can distinguish slow work from work that hangs
// (N9).
//
// The counter belongs to the process, as its CPU time does. Rejected: passing it to every table, parser and query, because an
// analysis makes its own tables, and those of other programs would not be watched. A process runs one node. If tests run
// several nodes in one process, the progress of one counts for all, and no node is stopped there.
package progress

import "sync/atomic"

// Every is how many rows make a mark.
const Every = 4096

var marks atomic.Uint64

// Mark reports that the process has completed some work. It costs one atomic addition.
func Mark() { marks.Add(1) }

// Marks returns how often Mark was called since the process began.
func Marks() uint64 { return marks.Load() }

// Rows makes a mark every 4,096 rows. It belongs to one goroutine.
type Rows struct{ n uint32 }

// Row counts a row, and reports whether it made a mark.
func (r *Rows) Row() bool {
	if r.n++; r.n%Every != 0 {
		return false
	}
	Mark()
	return true
}

// Add counts n rows, at most Every of them.
func (r *Rows) Add(n int) {
	before := r.n / Every
	if r.n += uint32(n); r.n/Every != before {
		Mark()
	}
}
