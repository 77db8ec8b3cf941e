package nodes

import (
	"os"
	"runtime"

	"posta.dev/posta/topology"
)

// limitProcessors limits a node to its share of the machine's processors. On a machine with more nodes than cores, the Go runtime of each node would
// wake idle threads that find nothing to do and take cores from other nodes: a tenth of all CPU time with seven nodes on two cores. Two nodes share a
// core, since not all are busy at once. A node that parses may use all cores. GOMAXPROCS in the environment takes precedence.
func limitProcessors(t *topology.Topology, n topology.Node) {
	if os.Getenv("GOMAXPROCS") != "" || n.Holds(topology.Parser) {
		return
	}
	neighbours := 0
	for _, other := range t.Nodes() {
		if other.Host == n.Host {
			neighbours++
		}
	}
	runtime.GOMAXPROCS(processors(runtime.GOMAXPROCS(0), neighbours))
}

// processors returns one node's share of the cores.
func processors(cores, nodes int) int {
	return max(1, min(cores, 2*cores/max(1, nodes)))
}
