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

// tracePage shows where the time of a session went. While the session runs, the browser loads the page again every few seconds, also
// without JavaScript.
type tracePage struct {
	Cluster, ID string
	Asks        string // what the session asks; "" if it is not known
	Reload      int    // seconds until the browser loads the page again; 0: never
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
	traceReload  = 3 // seconds between two looks at a session that runs
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
		p.Problem, p.Reload = "Other pages are asking the nodes now. Reload this one in a moment.", traceReload
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
	list, _ := s.asker.get(s.life) // without the list the page shows everything else
	for i := range list {
		if list[i].Session == id && list[i].Asks != "" {
			p.Asks = clean(list[i].Asks)
		}
	}
	p.fill(&v)
	write(w, http.StatusOK, "traced", p)
}

func (p *tracePage) fill(v *tracing.View) {
	p.Text = fmt.Sprintf("%s, %s, %s", clean(v.Analysis), v.State, display.Span(v.Length()))
	p.Kinds = tracing.Kinds[:]
	if v.State == session.Running {
		p.Reload = traceReload
	}
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
	for i := range v.Unknown {
		x := &v.Unknown[i]
		why := " does not know it"
		switch v.Absent(x) {
		case tracing.StartedLater:
			why = " does not know it: its process started after the session began, and traces are only in memory"
		case tracing.Forgotten:
			why = " may have forgotten it: too many sessions have left the node since"
		}
		p.Missing = append(p.Missing, clean(string(x.Node.ID))+why)
	}
}
