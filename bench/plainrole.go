package bench

import (
	"time"

	"posta.dev/posta/analyses"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/topology"
)

// bare is the analysis of sessions over a measured link: one stream of frames, and nothing done with them.
var bare = &analyses.Analysis{Name: "bare-link", Streams: []analyses.Stream{{Name: "frames"}}}

var linkSet = analyses.Set{bare}

// linkRoles is the chain of a node of the measured link.
func linkRoles(n topology.Node) ([]role.Role, error) {
	if n.Holds(topology.Input) {
		return []role.Role{newSource()}, nil
	}
	return []role.Role{&sink{}}, nil
}

// plain is what source and sink have in common: they keep nothing and emit nothing of their own.
type plain struct {
	role.Base
	host    role.Host
	replica analyses.Replica
}

func (p *plain) Attach(h role.Host)                                        { p.host = h }
func (p *plain) Take(session.ID, role.Message, role.Emitter) (bool, error) { return false, nil }
func (p *plain) Drop(session.ID, role.Outcome)                             {}
func (p *plain) Tick(time.Time)                                            {}
func (p *plain) Forget(session.ID)                                         {}
func (p *plain) Apply([]byte) error                                        { return nil }
func (p *plain) SnapshotAll(dst []byte) []byte                             { return dst }
func (p *plain) RestoreAll([]byte) error                                   { return nil }
func (p *plain) Running() int                                              { return 0 }
