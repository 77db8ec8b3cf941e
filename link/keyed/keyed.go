// Package keyed is what the sockets of nodes and medics have in common where processes have keys (S3): whom a socket admits, and what becomes of
// messages in another's name. A cluster whose sockets are all unix sockets has no keys, and nothing of this changes it.
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

// TLS is what a socket speaks: TLS with the keys of its process, or plain ZMTP (nil) when keys is nil.
func TLS(keys *security.Keys, kind security.Kind, admit func(security.Identity) error) zmqx.TLS {
	if keys == nil {
		return nil
	}
	return keys.Socket(kind, admit)
}

// Only admits these nodes and medics to a socket.
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

// Listeners admits to a control socket all members of the cluster, and clients that may see its status.
func Listeners(t *topology.Topology) func(security.Identity) error {
	member := Only(t.All())
	return func(id security.Identity) error {
		if id.Role == security.Watch || id.Role == security.Operate {
			return nil
		}
		return member(id)
	}
}

// refusalEvery is the pause between two lines about refused messages.
const refusalEvery = 10 * time.Second

// Refusals counts the messages of a transport that were thrown away before anybody believed them, and logs one of them now and then. Its methods may
// be called from any goroutine.
type Refusals struct {
	Log   *slog.Logger
	count atomic.Uint64
	next  atomic.Int64 // when the next line may be written, in nanoseconds since 1970
}

// Count is how many there were.
func (r *Refusals) Count() uint64 { return r.count.Load() }

// Add counts a message, and what was wrong with it.
func (r *Refusals) Add(err error) {
	count, now, next := r.count.Add(1), time.Now(), r.next.Load()
	if now.UnixNano() < next || !r.next.CompareAndSwap(next, now.Add(refusalEvery).UnixNano()) {
		return
	}
	r.Log.Warn("a message that no node sends was thrown away", "so far", count, "err", err)
}
