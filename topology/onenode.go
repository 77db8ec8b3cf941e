package topology

import (
	"fmt"
)

// OneNode returns the topology of a single node, which holds all roles and reads files below the roots. Its host has an address that nobody
// listens on: such a node has no sockets.
//
// Its groups move to files later than those of other nodes. It answers questions over little data, so there are seldom more groups, and the
// files of its groups begin in memory as its log does: moving a million groups there and back took a third of a question's CPU time, and
// saved nothing.
func OneNode(roots []string) (*Topology, error) {
	text := fmt.Sprintf(`[cluster]
name = "in-process"
[hosts.local]
address = "ipc:/in-process"
[[stage]]
name = "input"
chain = %s
[data]
roots = %s
[medics]
replicas = 0 # whoever runs the node starts it again
heartbeat = "1s"
suspect_after = "3s"
[limits]
tables = "128MiB"
`, tomlList(words(pipeline)), tomlList(roots))
	return Parse("the topology of one node", []byte(text))
}
