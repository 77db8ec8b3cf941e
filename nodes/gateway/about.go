package gateway

import (
	"fmt"

	"posta.dev/posta/analyses"
	"posta.dev/posta/link"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/topology"
)

// About is what a gateway knows about its cluster.
type About struct {
	Cluster     string
	Node        string
	Version     string
	InputNodes  []link.NodeID // the nodes of the topology that hold an input
	Inputs      []string      // their endpoints, in the order in which clients open sessions
	Outputs     []string      // endpoints of the outputs
	OutputNodes []link.NodeID
	Roots       []string // directories below which the node reads files in place (S8)
	Known       analyses.Set
	Wiring      string // of the topology
	Limits      topology.Limits
	Uptime      Uptime
}

// Info answers an info request.
func (a *About) Info() protocol.Reply {
	r := protocol.Reply{Type: protocol.About, Cluster: a.Cluster, Node: a.Node, Version: a.Version}
	a.Endpoints(&r)
	for _, an := range a.Known {
		info := protocol.AnalysisInfo{Name: an.Name, About: an.About, Streams: Streams(an), Queries: Queries(an)}
		for _, p := range an.Params {
			info.Params = append(info.Params, protocol.ParamInfo{Name: p.Name, Default: p.Default, About: p.About})
		}
		r.Analyses = append(r.Analyses, info)
	}
	return r
}

// Streams describes the streams of an analysis to clients.
func Streams(a *analyses.Analysis) []protocol.Stream {
	var out []protocol.Stream
	for _, s := range a.Streams {
		out = append(out, protocol.Stream{Name: s.Name, Reference: s.Reference, Files: s.Files, Comma: s.Comma})
	}
	return out
}

// Queries names the queries of an analysis.
func Queries(a *analyses.Analysis) []string {
	var out []string
	for _, q := range a.Queries {
		out = append(out, q.Name)
	}
	return out
}

// WrongNode refuses a request that another kind of node answers.
func (a *About) WrongNode(ask protocol.RequestType) protocol.Reply {
	r := protocol.Refuse(protocol.ErrWrongNode, fmt.Sprintf("node %s does not answer %q; ask one of the listed endpoints", a.Node, ask))
	a.Endpoints(&r)
	return r
}

// Endpoints fills in the endpoints for clients and the nodes behind them.
func (a *About) Endpoints(r *protocol.Reply) {
	r.Inputs, r.Outputs, r.InputNodes, r.OutputNodes = a.Inputs, a.Outputs, names(a.InputNodes), names(a.OutputNodes)
}

func names(nodes []link.NodeID) (out []string) {
	for _, n := range nodes {
		out = append(out, string(n))
	}
	return out
}

// Unknown refuses a session that the node does not know.
func (a *About) Unknown(id session.ID) protocol.Reply {
	return protocol.Refuse(protocol.ErrUnknownSession,
		fmt.Sprintf("node %s knows no session %s; open it, or look for it with `posta sessions`", a.Node, id))
}
