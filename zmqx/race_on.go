//go:build race

package zmqx

import "sync/atomic"

// sockets orders what is done before a write and what is done after a read, for the race detector: package syscall does the same for
// ordinary system calls. It cannot tell which read gets what was written, so it takes it that each gets all of it.
var sockets atomic.Uint32

func sends()    { sockets.Add(1) }
func received() { sockets.Load() }
