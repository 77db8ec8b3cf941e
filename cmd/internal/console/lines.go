package console

import (
	"context"
	"time"

	"posta.dev/posta/cmd/internal/monitor"
	"posta.dev/posta/topology"
)

const (
	linesWait   = 200 * time.Millisecond // how long a page that is loaded waits for the first report of its node
	linesOnPage = 100
)

// logRow is one line of a node's log.
type logRow struct {
	At, When    string // At: in the form for machines
	Level, Text string
	Sign        sign // "" for usual lines
}

// askForLines asks the node of a page for the last lines of its log. Only a page that is being loaded waits.
func (s *Server) askForLines(ctx context.Context, seen *Seen, p place, wait time.Duration) {
	if p.kind != "node" || s.cfg.Lines == nil {
		return
	}
	for i := range seen.Nodes {
		if n := &seen.Nodes[i]; string(n.Node.ID) == p.id {
			if n.Silent() {
				wait = 0
			}
			ctx, cancel := context.WithTimeout(ctx, wait)
			defer cancel()
			seen.Lines = map[topology.NodeID]monitor.Lines{n.Node.ID: s.cfg.Lines(ctx, n.Node.ID)}
			return
		}
	}
}

// logRows returns the newest lines of a node's log first.
func (s *Seen) logRows(node topology.NodeID) (rows []logRow) {
	of := s.Lines[node]
	for i := len(of.All) - 1; i >= 0 && len(rows) < linesOnPage; i-- {
		l := &of.All[i]
		at := of.At.Add(-l.Age).UTC()
		r := logRow{At: at.Format(time.RFC3339), When: at.Format(time.TimeOnly), Level: clean(l.Level), Text: clean(l.Text)}
		if l.Age > 12*time.Hour {
			r.When = at.Format(time.DateTime)
		}
		switch l.Level {
		case "WARN":
			r.Sign = care
		case "ERROR":
			r.Sign = dead
		}
		rows = append(rows, r)
	}
	return rows
}
