package traces

import (
	"context"
	"fmt"
	"math"
	"os"
	"strings"
	"time"

	"posta.dev/posta/internal/units"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/cmd/internal/call"
	"posta.dev/posta/cmd/internal/display"
	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/cmd/internal/monitor"
	"posta.dev/posta/cmd/internal/reach"
	"posta.dev/posta/cmd/internal/tracing"
	"posta.dev/posta/nodes/trace"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/security"
	"posta.dev/posta/topology"
)

// command is posta trace.
type command struct {
	*call.Call
	otlp    string // where spans are posted; "" for nowhere
	headers cli.StringSlice
	json    bool
}

// Command returns posta trace.
func Command(base *call.Call) *cli.Command {
	x := &command{Call: base}
	return &cli.Command{
		Name: "trace", ArgsUsage: "SESSION",
		Usage: "show where the time of a session went: by node, stage, link and fsync",
		Description: `Asks all nodes what they have recorded. Each node remembers the sessions that run and the last 256 that left it, since its process started.

` + exit.Help,
		Flags: []cli.Flag{call.TopologyFlag(), call.KeyFlag(), call.AddressFlag(), call.JSONFlag(&x.json),
			&cli.StringFlag{Name: "otlp", Destination: &x.otlp,
				Usage: "post it as spans to the OpenTelemetry collector at `URL`, such as http://localhost:4318; default: OTEL_EXPORTER_OTLP_ENDPOINT"},
			&cli.StringSliceFlag{Name: "otlp-header", Destination: &x.headers,
				Usage: "send this header to the collector: `'NAME: VALUE'`; may be repeated; a secret is safer in OTEL_EXPORTER_OTLP_HEADERS"}},
		Action: reach.WithTopology(x.run),
	}
}

const (
	traceAtMost = 2500 * time.Millisecond // a node that is busy for longer counts as not answering
	spansAtMost = 10 * time.Second
)

func (x *command) run(c *cli.Context, t *topology.Topology) error {
	id, err := reach.SessionArgument(c)
	if err != nil {
		return err
	}
	collector, err := tracing.NewCollector(x.otlp, x.headers.Value(), os.Getenv)
	if err != nil {
		return exit.Usagef("trace: %v", err)
	}
	keys, err := reach.ClientKeys(x.Call, c, t)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(c.Context, traceAtMost)
	defer cancel()
	all, refused, err := monitor.AskForTraces(ctx, t.Nodes(), keys, id)
	if err != nil {
		return err
	}
	if c.Context.Err() != nil {
		return context.Cause(c.Context)
	}
	if refused != nil {
		x.Notef("posta: %s", reach.ExplainRefused(t, keys, refused))
	}
	v, known := tracing.New(id, all)
	if !known {
		return notTraced(id, t, &v)
	}
	if x.json {
		err = x.PrintJSON(traceAsJSON(t.Name, &v))
	} else {
		err = x.printTrace(&v)
	}
	if err == nil && collector != nil {
		x.sendSpans(c.Context, collector, t.Name, &v)
	}
	return err
}

// sendSpans posts a trace to a collector. Errors there do not change the command's result.
func (x *command) sendSpans(ctx context.Context, collector *tracing.Collector, cluster string, v *tracing.View) {
	ctx, cancel := context.WithTimeout(ctx, spansAtMost)
	defer cancel()
	spans, err := v.Spans(cluster)
	if err == nil {
		err = collector.Send(ctx, spans)
	}
	if err != nil {
		x.Notef("warning: the spans did not reach the collector: %s", display.Escape(err.Error()))
		return
	}
	x.Notef("spans sent to %s", collector)
}

// notTraced explains why nothing is known of a session.
func notTraced(id session.ID, t *topology.Topology, v *tracing.View) error {
	if len(v.Unknown) == 0 {
		return fmt.Errorf("%w: no node of %s answers; start them with `posta up`, or name another topology with -f", exit.ErrNothingAnswers,
			t.File)
	}
	why := fmt.Sprintf("it was never here, or it left before the nodes' processes started (the first %s ago), and traces are only in memory",
		display.Span(oldestLife(v.Unknown)))
	if full := fullest(v.Unknown); full != nil {
		why = fmt.Sprintf("it was never here, or too long ago: each node remembers the last %d sessions, and the oldest of %s left %s ago",
			trace.Kept, full.Node.ID, display.Span(full.Report.Oldest))
	}
	if len(v.Missing) > 0 {
		why += "; " + unanswered(v.Missing)
	}
	return fmt.Errorf("trace: no node that answered knows session %s: %s; posta sessions lists those that run: %w", id, why,
		protocol.ErrUnknownSession)
}

func oldestLife(all []monitor.Traced) (d time.Duration) {
	for i := range all {
		d = max(d, all[i].Report.Life)
	}
	return d
}

// fullest returns the node that has forgotten sessions and remembers the shortest time; nil if no node has forgotten any.
func fullest(all []monitor.Traced) (full *monitor.Traced) {
	for i := range all {
		if r := &all[i].Report; r.Full() && (full == nil || r.Oldest < full.Report.Oldest) {
			full = &all[i]
		}
	}
	return full
}

// unanswered says which nodes did not answer, and why.
func unanswered(all []monitor.Traced) string {
	var silent, busy []string
	for i := range all {
		if all[i].Heard {
			busy = append(busy, string(all[i].Node.ID))
			continue
		}
		silent = append(silent, string(all[i].Node.ID))
	}
	var texts []string
	if len(silent) > 0 {
		texts = append(texts, "no answer from "+strings.Join(silent, ", ")+": dead, hung, or cut off from this machine")
	}
	if len(busy) > 0 {
		texts = append(texts, "no answer from "+strings.Join(busy, ", ")+": alive, and too busy or starting; ask again")
	}
	return strings.Join(texts, "; ")
}

// barColours are the colours of states on a terminal.
var barColours = [trace.States]string{
	trace.Working: "\x1b[32m", trace.Turn: "\x1b[36m", trace.Log: "\x1b[33m", trace.Blocked: "\x1b[31m", trace.Reference: "\x1b[35m",
}

// narrowest and widest bound the width of the output, in cells.
const (
	narrowest = 60
	widest    = 160
	usual     = 80
)

func (x *command) printTrace(v *tracing.View) error {
	width, colours := usual, false
	if cells, isTerminal := call.Terminal(x.Out); isTerminal {
		width, colours = min(max(cells(), narrowest), widest), os.Getenv("NO_COLOR") == ""
	}
	_, err := x.Out.Write([]byte(strings.Join(traceLines(v, width, colours, time.Now()), "\n") + "\n"))
	return err
}

func traceLines(v *tracing.View, width int, colours bool, now time.Time) (lines []string) {
	took := fmt.Sprintf("%s: took %s, ended %s ago", v.State, display.Span(v.Length()), display.Span(now.Sub(v.End)))
	if v.State == session.Running {
		took = fmt.Sprintf("%s for %s", v.State, display.Span(v.Length()))
	}
	lines = append(lines, display.Cut(fmt.Sprintf("session %s: %s", v.Session, display.Escape(v.Analysis)), width), took, "")
	lines = append(lines, bars(v, width, colours)...)
	lines = append(lines, remarks(v)...)
	for _, t := range []display.Table{stageTable(v), linkTable(v), commitTable(v)} {
		if len(t.Rows) > 0 {
			t.Width = width
			lines = append(lines, "")
			lines = append(lines, t.Lines()...)
		}
	}
	return lines
}

func bars(v *tracing.View, width int, colours bool) (lines []string) {
	name := len("node")
	for i := range v.Nodes {
		name = max(name, min(18, len(v.Nodes[i].Node.ID)))
	}
	cells := width - name - 4 - 5*len(tracing.Kinds)
	end := display.Span(v.Length())
	head := fmt.Sprintf("%-*s  0%*s  ", name, "node", cells-1, end)
	for _, s := range tracing.Kinds {
		head += fmt.Sprintf("%5s", s.Head)
	}
	lines = append(lines, head)
	for i := range v.Nodes {
		x := &v.Nodes[i]
		line := fmt.Sprintf("%-*s  %s  ", name, display.Cut(string(x.Node.ID), name), bar(v.Bar(x, cells), colours))
		for _, s := range tracing.Kinds {
			line += fmt.Sprintf("%4d%%", int(math.Round(100*tracing.Share(x.Report.Trace, s.State))))
		}
		lines = append(lines, line)
	}
	key := ""
	for i, s := range tracing.Kinds {
		if i%3 == 0 && i > 0 {
			lines, key = append(lines, strings.TrimRight(key, " ")), ""
		}
		key += fmt.Sprintf("%s %-26s", s.Sign, s.Words)
	}
	return append(lines, strings.TrimRight(key, " "))
}

func bar(states []trace.State, colours bool) string {
	if !colours {
		return tracing.Text(states)
	}
	var b strings.Builder
	last := ""
	for _, state := range states {
		colour := ""
		if state != tracing.None {
			colour = barColours[state]
		}
		if colour != last {
			b.WriteString("\x1b[0m" + colour)
			last = colour
		}
		b.WriteString(tracing.Sign(state))
	}
	if last != "" {
		b.WriteString("\x1b[0m")
	}
	return b.String()
}

// remarks returns what the bars cannot show.
func remarks(v *tracing.View) (lines []string) {
	var off time.Duration
	for i := range v.Nodes {
		x := &v.Nodes[i]
		off = max(off, x.Off)
		if x.Report.Trace.Recovered {
			lines = append(lines, fmt.Sprintf("%s: its process started %s ago, in the middle of the session; what it did before is not known",
				x.Node.ID, display.Span(x.Report.Life)))
		}
	}
	if cell := v.Length() / 40; off > cell && off > 10*time.Millisecond {
		lines = append(lines, fmt.Sprintf("the bars of two nodes may be off by %s, the time that question and answer took", display.Span(off)))
	}
	lines = append(lines, absences(v)...)
	if len(v.Missing) > 0 {
		lines = append(lines, unanswered(v.Missing))
	}
	return lines
}

// absences says of which nodes the trace lacks something, and why.
func absences(v *tracing.View) (lines []string) {
	var never []string
	for i := range v.Unknown {
		x := &v.Unknown[i]
		switch v.Absent(x) {
		case tracing.StartedLater:
			lines = append(lines, fmt.Sprintf(
				"%s: its process started %s ago, after the session began; what it did before is lost, because traces are only in memory", x.Node.ID,
				display.Span(x.Report.Life)))
		case tracing.Forgotten:
			lines = append(lines, fmt.Sprintf("%s: it may have forgotten the session, because %d others have left it since", x.Node.ID, trace.Kept))
		default:
			never = append(never, string(x.Node.ID))
		}
	}
	if len(never) > 0 {
		lines = append(lines, "the session was never at: "+strings.Join(never, ", "))
	}
	return lines
}

// stageTable returns a table of the stages of nodes that have several.
func stageTable(v *tracing.View) display.Table {
	t := display.Table{Head: []string{"node", "stage", "worked", "calls"}, Right: []bool{2: true, 3: true}}
	for i := range v.Nodes {
		roles := v.Nodes[i].Report.Trace.Roles
		if len(roles) < 2 {
			continue
		}
		for _, r := range roles {
			t.Rows = append(t.Rows, []string{string(v.Nodes[i].Node.ID), r.Name, fine(r.Time), units.Count(r.Calls)})
		}
	}
	return t
}

// linkTable returns a table of the queues between nodes: how long frames took until they were durable at the receiver, and how long of that
// they waited there.
func linkTable(v *tracing.View) display.Table {
	t := display.Table{
		Head:  []string{"from", "to", "frames", "bytes", "durable in", "at most", "under way", "lay there", "at most", "queue"},
		Right: []bool{2: true, 3: true, 4: true, 5: true, 6: true, 7: true, 8: true, 9: true},
		Least: []int{2, 9, 3},
	}
	for _, l := range v.Links {
		to := l.To
		if to == "" {
			to = "all of " + l.Edge
		}
		row := []string{l.From, to, "", "", "", "", "", "", "", ""}
		if q := l.Taken; q != nil {
			copy(row[2:], []string{units.Count(q.Frames), units.Bytes(int64(q.Bytes))})
			copy(row[7:], []string{fine(q.Mean), fine(q.Max), units.Bytes(int64(q.Peak))})
		}
		if q := l.Sent; q != nil {
			copy(row[2:], []string{units.Count(q.Frames), units.Bytes(int64(q.Bytes)), fine(q.Mean), fine(q.Max), units.Bytes(int64(q.Peak))})
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func commitTable(v *tracing.View) display.Table {
	t := display.Table{Head: []string{"node", "commits", "mean", "at most", "fsync p50", "p95", "at most"},
		Right: []bool{1: true, 2: true, 3: true, 4: true, 5: true, 6: true}}
	for i := range v.Nodes {
		x := v.Nodes[i].Report.Trace
		if x.Commits.Count > 0 {
			t.Rows = append(t.Rows, []string{
				string(v.Nodes[i].Node.ID), units.Count(x.Commits.Count), fine(x.Commits.Mean), fine(x.Commits.Max), fine(x.Syncs.P50),
				fine(x.Syncs.P95), fine(x.Syncs.Max),
			})
		}
	}
	return t
}

// fine formats a duration for people, with enough digits for times far below a millisecond.
func fine(d time.Duration) string {
	switch {
	case d >= 10*time.Millisecond:
		return display.Span(d)
	case d >= time.Millisecond:
		return fmt.Sprintf("%.1fms", d.Seconds()*1e3)
	}
	return fmt.Sprintf("%dµs", d.Microseconds())
}

// Of asks the nodes for a session's trace, for the console.
func Of(ctx context.Context, t *topology.Topology, keys *security.Keys, id session.ID) (tracing.View, error) {
	ctx, cancel := context.WithTimeout(ctx, traceAtMost)
	defer cancel()
	all, _, err := monitor.AskForTraces(ctx, t.Nodes(), keys, id)
	if err != nil {
		return tracing.View{}, err
	}
	v, known := tracing.New(id, all)
	if !known {
		return v, notTraced(id, t, &v)
	}
	return v, nil
}
