package bench

import (
	"time"

	"posta.dev/posta/analyses"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/topology"
)

// frameStream is the analysis of sessions over a measured link: one stream, whose frames it ignores.
var frameStream = &analyses.Analysis{Name: "bare-link", Streams: []analyses.Stream{{Name: "frames"}}}

var linkAnalyses = analyses.Set{frameStream}

// linkRoles returns the chain of a node of the measured link.
func linkRoles(n topology.Node) ([]role.Role, error) {
	if n.Holds(topology.Input) {
		return []role.Role{newSource()}, nil
	}
	return []role.Role{&sink{}}, nil
}

// stubRole has the methods that source and sink share: they keep no state and emit nothing.
type stubRole struct {
	role.Base
	host    role.Host
	replica analyses.Replica
}

func (p *stubRole) Attach(h role.Host)                                        { p.host = h }
func (p *stubRole) Take(session.ID, role.Message, role.Emitter) (bool, error) { return false, nil }
func (p *stubRole) Drop(session.ID, role.Outcome)                             {}
func (p *stubRole) Tick(time.Time)                                            {}
func (p *stubRole) Forget(session.ID, role.Asker)                             {}
func (p *stubRole) TakenOver(role.Session)                                    {}
func (p *stubRole) Apply([]byte) error                                        { return nil }
func (p *stubRole) SnapshotAll(dst []byte) []byte                             { return dst }
func (p *stubRole) RestoreAll([]byte) error                                   { return nil }
func (p *stubRole) Running() int                                              { return 0 }
