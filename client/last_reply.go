package client

import (
	"sync/atomic"
	"time"
)

// ear remembers when something was last heard from the cluster (or from one endpoint of it). A reply that says no is heard
// as well: whoever refuses is alive.
type ear struct {
	start time.Time
	last  atomic.Int64 // nanoseconds after start
}

func newEar() *ear { return &ear{start: time.Now()} }

func (e *ear) heard() { e.last.Store(int64(time.Since(e.start))) }

// silence returns how long nothing was heard, since the ear was made if never.
func (e *ear) silence() time.Duration { return time.Since(e.start) - time.Duration(e.last.Load()) }
