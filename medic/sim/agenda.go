package sim

import (
	"container/heap"
	"time"
)

var epoch = time.Unix(1_700_000_003, 141_592_653).UTC()

type event struct {
	at time.Duration
	n  uint64
	do func()
}

type agenda []event

func (a agenda) Len() int { return len(a) }
func (a agenda) Less(i, j int) bool {
	return a[i].at < a[j].at || a[i].at == a[j].at && a[i].n < a[j].n
}
func (a agenda) Swap(i, j int) { a[i], a[j] = a[j], a[i] }
func (a *agenda) Push(x any)   { *a = append(*a, x.(event)) }
func (a *agenda) Pop() any {
	old := *a
	e := old[len(old)-1]
	old[len(old)-1] = event{}
	*a = old[:len(old)-1]
	return e
}

// after plans something.
func (w *world) after(d time.Duration, do func()) {
	w.planned++
	heap.Push(&w.agenda, event{w.at + max(0, d), w.planned, do})
}

func (w *world) next() {
	e := heap.Pop(&w.agenda).(event)
	w.at = e.at
	w.events++
	e.do()
}

func (w *world) now() time.Time { return epoch.Add(w.at) }

func (w *world) between(low, high time.Duration) time.Duration {
	return low + time.Duration(w.rand.Int64N(int64(max(1, high-low))))
}

func (w *world) chance(p float64) bool { return p > 0 && w.rand.Float64() < p }

func oneOf[T any](w *world, all ...T) T { return all[w.rand.IntN(len(all))] }
