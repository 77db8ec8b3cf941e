// Package keyed holds what the sockets of nodes and medics share if processes have keys (S3): which peers a socket admits, and what happens
// to messages in another node's name. A cluster whose sockets are all unix sockets has no keys and is not affected.
package keyed

import (
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"posta.dev/posta/security"
	"posta.dev/posta/topology"
	"posta.dev/posta/zmqx"
)

// TLS returns a socket's TLS with the keys of its process; nil, which means plain ZMTP, if keys is nil.
func TLS(keys *security.Keys, kind security.Kind, admit func(security.Identity) error) zmqx.TLS {
	if keys == nil {
		return nil
	}
	return keys.Socket(kind, admit)
}

// Only admits only these nodes and medics to a socket.
func Only(members []topology.Node) func(security.Identity) error {
	may := map[security.Identity]bool{}
	for _, n := range members {
		may[n.Identity()] = true
	}
	return func(id security.Identity) error {
		if !may[id] {
			return fmt.Errorf("the topology gives %s nothing to do here", id)
		}
		return nil
	}
}

// Listeners admits all members of the cluster to a control socket, and clients that may see its status.
func Listeners(t *topology.Topology) func(security.Identity) error {
	member := Only(t.All())
	return func(id security.Identity) error {
		if id.Role == security.Watch || id.Role == security.Operate {
			return nil
		}
		return member(id)
	}
}

// refusalEvery is the shortest pause between two log lines about refused messages.
const refusalEvery = 10 * time.Second

// Refusals counts the messages of a transport that were dropped as invalid, and logs one of them from time to time.
// Any goroutine may call its methods.
type Refusals struct {
	Log   *slog.Logger
	count atomic.Uint64
	next  atomic.Int64 // when the next line may be logged, in nanoseconds since 1970
}

// Count returns the number of messages.
func (r *Refusals) Count() uint64 { return r.count.Load() }

// Add counts a message; err says what was wrong with it.
func (r *Refusals) Add(err error) {
	count, now, next := r.count.Add(1), time.Now(), r.next.Load()
	if now.UnixNano() < next || !r.next.CompareAndSwap(next, now.Add(refusalEvery).UnixNano()) {
		return
	}
	r.Log.Warn("a message that no node sends was thrown away", "so far", count, "err", err)
}
