package e2e

import (
	"fmt"
	"math/rand/v2"

	"posta.dev/posta/topology"
)

// loopback returns a topology over TCP. Its nodes use an address that no other test uses (127.0.0.0/8 has 16 million, all of this machine),
// so its ports are free.
func loopback() topology.Variant {
	return topology.Variant{
		Address: fmt.Sprintf("127.%d.%d.%d", 1+rand.IntN(250), rand.IntN(250), 2+rand.IntN(250)), Ports: 20_000 + rand.IntN(10_000),
	}
}
