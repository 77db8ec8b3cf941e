package clustertest

import (
	"fmt"
	"math/rand/v2"
	"net"
	"testing"
)

// FreePorts is the first of a row of ports that nobody on this machine has now. They are below those that systems give to clients.
func FreePorts(t *testing.T, row int) int {
	t.Helper()
	for range 100 {
		first := 12000 + rand.IntN(18000)
		free := true
		for p := first; p < first+row && free; p++ {
			l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", p))
			if free = err == nil; free {
				_ = l.Close()
			}
		}
		if free {
			return first
		}
	}
	t.Fatalf("no row of %d free ports", row)
	return 0
}
