package nodes

import (
	"os"
	"runtime"
	"time"

	"posta.dev/posta/topology"
)

// limitProcessors limits a node to its share of the machine's processors. On a machine with more nodes than cores, the Go runtime of each
// node would wake idle threads that find nothing to do and take cores from other nodes: a tenth of all CPU time with seven nodes on two
// cores. Two nodes share a core, since not all are busy at once. GOMAXPROCS in the environment takes precedence. While the node is idle,
// the processorShare returned takes less.
//
// A node that parses may use all cores, and has one processor more than there are cores. The runtime often leaves a processor to a
// goroutine that waits for fsync until the disk has answered, and with it the core that could have parsed meanwhile: 0.2 of 1.3 s of a run.
func limitProcessors(t *topology.Topology, n topology.Node) *processorShare {
	if os.Getenv("GOMAXPROCS") != "" {
		return nil
	}
	if n.Holds(topology.Parser) {
		runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + 1)
		return newProcessorShare(runtime.GOMAXPROCS(0), time.Now())
	}
	neighbours := 0
	for _, other := range t.Nodes() {
		if other.Host == n.Host {
			neighbours++
		}
	}
	runtime.GOMAXPROCS(processors(runtime.GOMAXPROCS(0), neighbours))
	return newProcessorShare(runtime.GOMAXPROCS(0), time.Now())
}

// processors returns one node's share of the cores.
func processors(cores, nodes int) int {
	return max(1, min(cores, 2*cores/max(1, nodes)))
}
