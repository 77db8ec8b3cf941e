package zmqx

import (
	"slices"
	"sync"
	"unsafe"
)

const (
	poolBytes   = 16 << 20 // that a socket keeps for later large parts
	poolBuffers = 64       // at most, of any size
)

// bufferPool keeps the memory of large parts that a receiver has handed back. Fresh memory is the most expensive part of
// receiving: allocating, clearing and collecting 1 MiB takes as long as moving it over loopback. Over tcp 256 KiB parts went
// from 1.2 to 1.8 GB/s, over ipc from 1.7 to 5.4 (BenchmarkPushPull beside BenchmarkRecycled). A nil bufferPool has none.
//
// A sync.Pool was rejected: each garbage collection empties it, and it does not distinguish sizes.
type bufferPool struct {
	mu    sync.Mutex // guards what follows
	free  [][]byte   // at most poolBuffers, the last is the one used last
	bytes int        // sum of their capacities; at most poolBytes
}

// get returns memory of the given size, with whatever is in it, or nil.
func (r *bufferPool) get(size int) []byte {
	if r == nil || size < directSize {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := len(r.free) - 1; i >= 0; i-- {
		if c := cap(r.free[i]); c >= size && c/2 <= size { // a small part must not pin a large buffer
			b := r.free[i][:size]
			r.free = slices.Delete(r.free, i, i+1)
			r.bytes -= c
			return b
		}
	}
	return nil
}

// put takes the large parts of a batch. Small ones share memory, and are left to the collector.
func (r *bufferPool) put(batch []Received) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, m := range batch {
		for _, part := range m.Msg {
			if cap(part) >= directSize {
				r.keepLocked(part)
			}
		}
	}
}

// keepLocked makes room by dropping the least recently used buffer, so that sizes that are no longer needed do not stay for
// ever.
func (r *bufferPool) keepLocked(b []byte) {
	if cap(b) > poolBytes {
		return
	}
	for _, f := range r.free {
		if unsafe.SliceData(f) == unsafe.SliceData(b) {
			panic("zmqx: invariant: the same part was recycled twice; a batch may be given back once, by its last user")
		}
	}
	for len(r.free) >= poolBuffers || r.bytes+cap(b) > poolBytes {
		r.bytes -= cap(r.free[0])
		r.free = slices.Delete(r.free, 0, 1)
	}
	r.free = append(r.free, b)
	r.bytes += cap(b)
}
