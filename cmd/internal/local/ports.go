package local

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"

	"posta.dev/posta/topology"
)

// freePorts finds a row of ports that nobody listens on. They are below those that systems give to clients, so that no connection
// takes one before the nodes do.
func freePorts(v topology.Variant) (int, error) {
	v.Address, v.Ports = loopback, firstPort
	text, err := topology.Generate(v)
	if err != nil {
		return 0, err
	}
	t, err := topology.Parse("topology", []byte(text))
	if err != nil {
		return 0, err
	}
	n := 0
	for _, node := range t.All() {
		n += len(node.Sockets.List())
	}
	for range 100 {
		first := firstPort + rand.IntN(lastPort-firstPort-n)
		if allFree(first, n) {
			return first, nil
		}
	}
	return 0, fmt.Errorf("no %d free ports in a row between %d and %d; use --sockets ipc", n, firstPort, lastPort)
}

// loopback is where the nodes of a run without unix sockets listen.
const loopback = "127.0.0.1"

const (
	firstPort = 20000
	lastPort  = 32000
)

func allFree(first, n int) bool {
	for port := first; port < first+n; port++ {
		l, err := net.Listen("tcp", net.JoinHostPort(loopback, strconv.Itoa(port)))
		if err != nil {
			return false
		}
		if err := l.Close(); err != nil {
			return false
		}
	}
	return true
}
