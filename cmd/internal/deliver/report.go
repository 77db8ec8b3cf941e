package deliver

import (
	"context"
	"io"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/client"
	"posta.dev/posta/cmd/internal/call"
	"posta.dev/posta/cmd/internal/display"
	"posta.dev/posta/cmd/internal/monitor"
	"posta.dev/posta/cmd/internal/out"
	"posta.dev/posta/cmd/internal/reach"
	"posta.dev/posta/cmd/internal/report"
	"posta.dev/posta/security"
	"posta.dev/posta/topology"
)

// reporter collects the content of a command's report, and writes it. A nil reporter collects nothing.
type Reporter struct {
	file     *out.File
	command  string
	began    time.Time
	sessions []report.Session

	cluster *topology.Topology // nil if it is not known
	entries []string           // addresses of a running cluster whose topology is not known
	keys    *security.Keys
	private bool // the cluster was started for this command only, so the counters of its nodes belong to the report
}

func newReporter(x *call.Call, c *cli.Context, name string) *Reporter {
	words := []string{"posta", call.CommandName(c)}
	for _, arg := range x.Arguments {
		words = append(words, display.Quoted(report.Shown(arg)))
	}
	return &Reporter{file: out.NewFile(name, "the report"), command: strings.Join(words, " "), began: time.Now()}
}

// On sets the cluster on which the sessions run.
func (r *Reporter) On(t *topology.Topology, keys *security.Keys, private bool) {
	if r != nil {
		r.cluster, r.keys, r.private = t, keys, private
	}
}

// ReportOn notes the running cluster in a report. With --entry only the cluster's addresses are known.
func ReportOn(x *call.Call, c *cli.Context, r *Reporter, at reach.Entrance) error {
	if r == nil {
		return nil
	}
	if r.entries = c.StringSlice(call.FlagEntry); len(r.entries) > 0 {
		return nil
	}
	t, err := reach.LoadTopology(c)
	if err != nil {
		return err
	}
	r.On(t, at.Keys, false)
	return nil
}

// Ran adds the session of an answer.
func (r *Reporter) Ran(a *client.Answer) {
	if r != nil {
		r.sessions = append(r.sessions, report.Session{ID: a.Session, Streams: a.Streams})
	}
}

// report writes the report of an answer; r is nil if no report is wanted.
func writeReport(x *call.Call, ctx context.Context, a *client.Answer, r *Reporter) error {
	if r == nil {
		return nil
	}
	page := &report.Report{
		Version: x.Version, Command: r.command, Began: r.began, Took: time.Since(r.began), Answer: a, Sessions: r.sessions, Topology: r.cluster,
		Entries: r.entries,
		Rest:    "--out PLACE or --json gives all.",
	}
	if r.cluster != nil && r.private {
		page.Nodes = monitor.HeardNodes(ctx, r.cluster, r.keys)
	}
	if err := r.file.Write(func(w io.Writer) error { return report.Write(w, page) }); err != nil {
		return err
	}
	x.Notef("report written to %s", r.file)
	return nil
}
