package nodes

import (
	"os"
	"runtime"

	"posta.dev/posta/topology"
)

// limitProcessors keeps a node from more processors than it can have: where a machine has more nodes than cores, the Go runtime of
// each of them would wake idle threads that find nothing to do and take the cores from its neighbours, a tenth of all CPU time with seven
// nodes on two cores. Two nodes share a core, since not all are busy at once; a node that parses has them all. GOMAXPROCS in the environment takes
// precedence.
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

// processors is the share of one of so many nodes.
func processors(cores, nodes int) int {
	return max(1, min(cores, 2*cores/max(1, nodes)))
}
