// Package chain makes the product's roles for a node, for the shell of package nodes and for the simulator.
package chain

import (
	"fmt"

	"posta.dev/posta/nodes/aggregator"
	"posta.dev/posta/nodes/gateway"
	"posta.dev/posta/nodes/input"
	"posta.dev/posta/nodes/internal/joiner"
	"posta.dev/posta/nodes/internal/parser"
	"posta.dev/posta/nodes/internal/reducer"
	"posta.dev/posta/nodes/output"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/topology"
)

// New returns the roles of a chain, in pipeline order.
func New(chain []topology.Role, about gateway.About) ([]role.Role, error) {
	roles := make([]role.Role, len(chain))
	for i, r := range chain {
		switch r {
		case topology.Input:
			roles[i] = input.New(about)
		case topology.Parser:
			roles[i] = parser.New()
		case topology.Joiner:
			roles[i] = joiner.New()
		case topology.Aggregator:
			roles[i] = aggregator.New()
		case topology.Reducer:
			roles[i] = reducer.New()
		case topology.Output:
			roles[i] = output.New(about)
		default:
			return nil, fmt.Errorf("role %q is in no package", r)
		}
	}
	for i, r := range roles[:max(1, len(roles))-1] {
		if p, ok := r.(*parser.Parser); ok {
			if next, ok := roles[i+1].(role.Forker); ok {
				p.Before(next)
			}
		}
	}
	return roles, nil
}

// Removes returns what recovery asks of the records that gateways of a chain have written themselves (core.Removal).
func Removes(chain []topology.Role) func(i int, payload []byte) (session.ID, bool) {
	return func(i int, payload []byte) (id session.ID, ok bool) {
		if i < len(chain) && chain[i] == topology.Output {
			return output.Removes(payload)
		}
		return id, false
	}
}
