package client

import (
	"sync/atomic"
	"time"
)

// lastReply remembers when something was last heard from the cluster (or from one endpoint of it). A refusal counts
// as well: a node that refuses is alive.
type lastReply struct {
	start time.Time
	last  atomic.Int64 // nanoseconds after start
}

func newLastReply() *lastReply { return &lastReply{start: time.Now()} }

func (e *lastReply) heard() { e.last.Store(int64(time.Since(e.start))) }

// silence returns how long nothing was heard, since lastReply was made if never.
func (e *lastReply) silence() time.Duration {
	return time.Since(e.start) - time.Duration(e.last.Load())
}
