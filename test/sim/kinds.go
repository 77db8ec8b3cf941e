package sim

import (
	"math/rand/v2"
	"time"
)

// extremes sets some limits to an end of their ranges, or to the last harmless value.
func (l *layout) extremes(r *rand.Rand, large bool) {
	one := func(all ...int) int { return all[r.IntN(len(all))] }
	for range 1 + r.IntN(3) {
		switch r.IntN(5) {
		case 0:
			l.commit = one(1, 64<<10, 256<<20)
		case 1:
			if !large {
				l.window = one(200, 64<<10, 1<<30) // with a smaller window, a session takes longer than a run
			}
		case 2:
			l.memory = one(1, 300, 3000, 1<<40)
		case 3:
			l.limits.Sessions = one(1, 1024)
		case 4:
			if !large {
				l.frame = one(l.frame, 64<<10, 16<<20)
			}
		}
	}
}

// drawKinds decides which of the later kinds of fault a seed has, each with its own probability. It draws from its own
// source of chance, so that a new kind does not change the runs of seeds without it: the tables of deliberate bugs and
// of found bugs name such seeds.
func (f *faults) drawKinds(w *world) {
	kind := func(n uint64, p float64) (*rand.Rand, bool) {
		r := rand.New(rand.NewPCG(w.Seed, n))
		return r, r.Float64() < p
	}
	if r, ok := kind(1, 0.2); ok {
		f.clockJumps = time.Duration(50+r.IntN(2000)) * time.Millisecond
	}
	if r, ok := kind(2, 0.15); ok {
		f.largeRows = 1 + r.IntN(3)
	}
	if r, ok := kind(4, 0.2); ok {
		f.slowBatch = []float64{0.001, 0.01}[r.IntN(2)]
	}
	if r, ok := kind(3, 0.2); ok {
		f.atTheEnds = r
	}
	if r, ok := kind(4, 0.15); ok {
		f.fullQueues = r
	}
	_, f.again = kind(20, 0.2)
	if r, ok := kind(21, 0.15); ok {
		f.owners = r
		if r, ok := kind(25, 0.5); ok {
			f.sharedMemory = []int{500, 1500, 5000}[r.IntN(3)]
		}
	}
	_, f.dozes = kind(24, 0.5)
	_, f.meddling = kind(22, 0.2)
}
