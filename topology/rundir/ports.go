package rundir

import (
	"fmt"

	"posta.dev/posta/internal/freeports"
	"posta.dev/posta/topology"
)

// freePorts finds consecutive free ports for all nodes and medics of a cluster, and returns the first one.
func freePorts(v topology.Variant) (int, error) {
	v.Address, v.Ports = freeports.Address, freeports.First
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
	first, err := freeports.Row(n)
	if err != nil {
		return 0, fmt.Errorf("%w; use --sockets ipc", err)
	}
	return first, nil
}
