package core

import "strings"

const overTCP = "tcp://"

// NamedEndpoint adds the name of the node that is expected at an endpoint: tcp://joiner-1@10.0.0.5:5500. In a cluster with keys no other
// node may answer there. A unix socket needs no name.
func NamedEndpoint(endpoint, node string) string {
	if address, ok := strings.CutPrefix(endpoint, overTCP); ok && !strings.Contains(address, "@") {
		return overTCP + node + "@" + address
	}
	return endpoint
}

// SplitEndpoint is the reverse of NamedEndpoint. The name is empty if there is none.
func SplitEndpoint(named string) (endpoint, node string) {
	address, ok := strings.CutPrefix(named, overTCP)
	if node, address, found := strings.Cut(address, "@"); ok && found {
		return overTCP + address, node
	}
	return named, ""
}
