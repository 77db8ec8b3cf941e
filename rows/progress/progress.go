// Package progress counts what a process gets done, so that whoever watches it can tell work that takes long from work that hangs (N9).
//
// The counter belongs to the process, as its CPU time does. It could have been handed to every table, parser and query instead. That was turned
// down: an analysis makes tables of its own, and those of other programs would not be watched. A process runs one node; where tests run
// several in one process, each vouches for the others, and nobody is stopped there.
package progress

import "sync/atomic"

// Every is how many rows are worth a mark.
const Every = 4096

var marks atomic.Uint64

// Mark says that the process has got something done. It costs one atomic addition.
func Mark() { marks.Add(1) }

// Marks is how often Mark was called since the process began.
func Marks() uint64 { return marks.Load() }

// Rows marks every 4,096 rows. It belongs to one goroutine.
type Rows struct{ n uint32 }

// Row counts a row.
func (r *Rows) Row() {
	if r.n++; r.n%Every == 0 {
		Mark()
	}
}
