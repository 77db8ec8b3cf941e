package console

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"posta.dev/posta/cmd/internal/display"
	"posta.dev/posta/cmd/internal/tracing"
	"posta.dev/posta/protocol/session"
)

// tracePage shows where the time of a session went. It is made when a user opens it, and does not change while it is open.
type tracePage struct {
	Cluster, ID string
	Problem     string // why there is nothing to show
	Text        string // how the session ended, and how long it took
	Kinds       []tracing.Kind
	Rows        []traceRow
	Missing     []string // nodes that did not answer, or do not know the session
}

type traceRow struct {
	Node, Bar string
	Shares    []string
}

const (
	traceCells   = 60 // cells of a bar
	tracesAtOnce = 2  // pages that may ask the cluster at the same time
	traceAtMost  = 3 * time.Second
)

// traced serves a session's trace.
func (s *Server) traced(w http.ResponseWriter, r *http.Request) {
	id, err := session.Parse(r.PathValue("id"))
	if err != nil || s.cfg.Trace == nil {
		write(w, http.StatusNotFound, "nopage", s.cfg.Topology.Name)
		return
	}
	p := tracePage{Cluster: s.cfg.Topology.Name, ID: id.String()}
	select {
	case s.traces <- struct{}{}:
		defer func() { <-s.traces }()
	default:
		p.Problem = "Other pages are asking the nodes now. Reload this one in a moment."
		write(w, http.StatusServiceUnavailable, "traced", p)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), traceAtMost)
	defer cancel()
	v, err := s.cfg.Trace(ctx, id)
	if err != nil {
		p.Problem = clean(err.Error())
		write(w, http.StatusNotFound, "traced", p)
		return
	}
	p.fill(&v)
	write(w, http.StatusOK, "traced", p)
}

func (p *tracePage) fill(v *tracing.View) {
	p.Text = fmt.Sprintf("%s, %s, %s", clean(v.Analysis), v.State, display.Span(v.Length()))
	p.Kinds = tracing.Kinds[:]
	for i := range v.Nodes {
		x := &v.Nodes[i]
		row := traceRow{Node: clean(string(x.Node.ID)), Bar: tracing.Text(v.Bar(x, traceCells))}
		for _, k := range tracing.Kinds {
			row.Shares = append(row.Shares, fmt.Sprintf("%.0f %%", 100*tracing.Share(x.Report.Trace, k.State)))
		}
		p.Rows = append(p.Rows, row)
	}
	for _, x := range v.Missing {
		p.Missing = append(p.Missing, clean(string(x.Node.ID))+" did not answer")
	}
	for _, x := range v.Unknown {
		p.Missing = append(p.Missing, clean(string(x.Node.ID))+" does not know it")
	}
}
