package topology

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// Wiring returns a short digest of how stages are joined: their names, chains and replicas, and the edges between them. From these a node
// knows for how many ends it waits, and among how many receivers keys are divided (R12). So a session runs under one wiring from its
// beginning to its end. Hosts, addresses and sockets are not part of it, because they may change during a session: data that moves stays
// the same data.
func (t *Topology) Wiring() string {
	var b strings.Builder
	for _, s := range t.Stages {
		fmt.Fprintf(&b, "stage %q %q %d\n", s.Name, s.Chain, s.Replicas)
	}
	for _, e := range t.Edges {
		fmt.Fprintf(&b, "edge %q %q %q %q %q\n", e.From, e.To, e.Streams, e.Route, e.Key)
	}
	sum := sha256.Sum256([]byte(b.String()))
	return hex.EncodeToString(sum[:4])
}
