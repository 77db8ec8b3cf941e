// Package gateway holds what the two roles that talk to clients share: who they are, how they describe the cluster, and how
// they refuse.
package gateway

import (
	"fmt"
	"slices"
	"strings"

	"posta.dev/posta/analyses"
	"posta.dev/posta/link"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/topology"
)

// About is what a gateway tells of the cluster.
type About struct {
	Cluster    string
	Node       string
	Version    string
	InputNodes []link.NodeID // the nodes of the topology that hold an input
	Inputs     []string      // endpoints, in the order in which clients open sessions
	Outputs    []string
	Known      analyses.Set
	Wiring     string // of the topology
	Limits     topology.Limits
}

// Info answers an info request.
func (a *About) Info() protocol.Reply {
	r := protocol.Reply{
		Type: protocol.About, Cluster: a.Cluster, Node: a.Node, Version: a.Version, Inputs: a.Inputs, Outputs: a.Outputs,
	}
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

// WrongNode refuses what another kind of node answers.
func (a *About) WrongNode(ask protocol.RequestType) protocol.Reply {
	r := protocol.Refuse(protocol.ErrWrongNode, fmt.Sprintf("node %s does not answer %q; ask one of the listed endpoints", a.Node, ask))
	r.Inputs, r.Outputs = a.Inputs, a.Outputs
	return r
}

// Unknown refuses a session that the node does not know.
func (a *About) Unknown(id session.ID) protocol.Reply {
	return protocol.Refuse(protocol.ErrUnknownSession,
		fmt.Sprintf("node %s knows no session %s; open it, or look for it with `posta sessions`", a.Node, id))
}

// maxGone is how many sessions that are over a gateway remembers, so that it can say what became of them.
const maxGone = 1024

// Gone remembers sessions that are over. The oldest are forgotten first.
type Gone struct {
	order []session.ID
	why   map[session.ID]Why
}

// Why is what became of a session.
type Why struct {
	Code   protocol.Code // empty: it went well
	Reason string
}

// Outcome says it in the engine's words.
func (w Why) Outcome() role.Outcome { return role.Outcome{Failed: w.Code != "", Reason: w.Reason} }

// Refusal says it to a client.
func (w Why) Refusal() protocol.Reply { return protocol.Refuse(w.Code, w.Reason) }

// Put remembers a session; what was known of it stays.
func (g *Gone) Put(id session.ID, w Why) {
	if _, ok := g.why[id]; ok {
		return
	}
	if g.why == nil {
		g.why = map[session.ID]Why{}
	}
	if len(g.order) == maxGone {
		delete(g.why, g.order[0])
		g.order = slices.Delete(g.order, 0, 1)
	}
	g.order = append(g.order, id)
	g.why[id] = w
}

// Get returns what became of a session.
func (g *Gone) Get(id session.ID) (Why, bool) {
	w, ok := g.why[id]
	return w, ok
}

// Recent returns the last n, oldest first.
func (g *Gone) Recent(n int) []session.ID {
	return g.order[max(0, len(g.order)-n):]
}

// A failure travels through the pipeline as text: the reason for people, and behind it the code for clients.
const codeMark = "\x00"

// Text is how a failure travels in an abort frame.
func (w Why) Text() string {
	if w.Code == "" || w.Code == protocol.ErrFailed {
		return w.Reason
	}
	return w.Reason + codeMark + string(w.Code)
}

// Parse reads what Text wrote; text without a code is a failure of the analysis or of a node.
func Parse(text string) Why {
	reason, code, ok := strings.Cut(text, codeMark)
	if !ok || code == "" {
		return Why{Code: protocol.ErrFailed, Reason: reason}
	}
	return Why{Code: protocol.Code(code), Reason: reason}
}

// Cancelled is what a cancelled session ends with.
func Cancelled(id session.ID) Why {
	return Why{Code: protocol.ErrCancelled, Reason: fmt.Sprintf("session %s was cancelled", id)}
}
