package reach

import (
	"errors"
	"fmt"
	"time"

	"posta.dev/posta/medic"
	"posta.dev/posta/topology"
)

// ReadyTime limits the wait for a cluster. A node that reads a long log back needs time; a node that hangs must not make its user wait for
// ever.
const ReadyTime = time.Minute

// StopErrors returns what went wrong when nodes were stopped. A node that had to be killed is not an error: its data is on disk.
func StopErrors(all []medic.Stopped) error {
	var errs []error
	for _, s := range all {
		if s.Err != nil {
			errs = append(errs, fmt.Errorf("stop %s: %w", s.Node, s.Err))
		}
	}
	return errors.Join(errs...)
}

// NodeOrMedic returns a node or a medic of the topology.
func NodeOrMedic(t *topology.Topology, id medic.NodeID) (topology.Node, error) {
	n, err := t.Node(id)
	if err != nil {
		return t.Medic(id)
	}
	return n, nil
}
