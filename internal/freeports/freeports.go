// Package freeports finds ports of 127.0.0.1 for a cluster that is about to start.
package freeports

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
)

// Address is where the ports are.
const Address = "127.0.0.1"

// All ports are from First to Last. These are below the ports that systems give to clients, so that no client's connection takes a port
// before the nodes do.
const (
	First = 12000
	Last  = 32000
)

// Row returns the first of n consecutive ports on which nobody listens.
func Row(n int) (int, error) {
	for range 100 {
		first := First + rand.IntN(Last-First-n)
		if free(first, n) {
			return first, nil
		}
	}
	return 0, fmt.Errorf("no %d free ports in a row between %d and %d of %s", n, First, Last, Address)
}

func free(first, n int) bool {
	for port := first; port < first+n; port++ {
		l, err := net.Listen("tcp", net.JoinHostPort(Address, strconv.Itoa(port)))
		if err != nil {
			return false
		}
		if err := l.Close(); err != nil {
			return false
		}
	}
	return true
}
