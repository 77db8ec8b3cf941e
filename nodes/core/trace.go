package core

import (
	"time"

	"posta.dev/posta/nodes/trace"
	"posta.dev/posta/topology"
)

// NewRecorder returns a recorder for the roles and links of a configuration. clock tells the time since some moment, and never goes back.
func NewRecorder(c *Config, clock func() time.Duration) *trace.Recorder {
	var roles []string
	for _, r := range c.Roles {
		roles = append(roles, r.Name())
	}
	var in, out []trace.Link
	for _, e := range c.In { // as New numbers them
		for _, n := range e.From {
			in = append(in, trace.Link{Edge: e.Name, Node: string(n)})
		}
	}
	for _, e := range c.Out {
		if e.Route == topology.All {
			out = append(out, trace.Link{Edge: e.Name})
			continue
		}
		for _, n := range e.To {
			out = append(out, trace.Link{Edge: e.Name, Node: string(n)})
		}
	}
	return trace.New(clock, roles, in, out)
}
