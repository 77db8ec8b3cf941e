package traces

import (
	"time"

	"posta.dev/posta/cmd/internal/monitor"
	"posta.dev/posta/cmd/internal/tracing"
	"posta.dev/posta/nodes/trace"
)

// TraceJSON is `posta trace --json`. Names of fields are part of the interface.
type TraceJSON struct {
	Cluster  string           `json:"cluster"`
	Session  string           `json:"session"`
	Analysis string           `json:"analysis"`
	State    string           `json:"state"`
	Began    string           `json:"began"` // by the clock of this machine
	TookMS   float64          `json:"took_ms"`
	Nodes    []tracedJSON     `json:"nodes"`
	Links    []tracedLinkJSON `json:"links"`
	Unknown  []string         `json:"unknown"` // nodes that do not know the session
	Missing  []string         `json:"missing"` // nodes that did not answer
}

type tracedJSON struct {
	Node      string               `json:"node"`
	Stage     string               `json:"stage"`
	FromMS    float64              `json:"from_ms"` // since the session began
	ToMS      float64              `json:"to_ms"`
	OffMS     float64              `json:"off_ms"` // possible error of the times
	Running   bool                 `json:"running"`
	Failed    bool                 `json:"failed"`
	Recovered bool                 `json:"recovered"` // what happened before from_ms is unknown
	States    map[string]float64   `json:"states_ms"`
	CellMS    float64              `json:"cell_ms"`
	Line      []map[string]float64 `json:"line_ms"` // for each cell the time in each state
	Stages    []stageTimeJSON      `json:"stages"`
	Commits   durationsJSON        `json:"commits"`
	Fsyncs    durationsJSON        `json:"fsyncs"`
}

type stageTimeJSON struct {
	Stage    string  `json:"stage"`
	WorkedMS float64 `json:"worked_ms"`
	Calls    uint64  `json:"calls"`
}

type durationsJSON struct {
	Count  uint64  `json:"count"`
	MeanMS float64 `json:"mean_ms"`
	P50MS  float64 `json:"p50_ms"`
	P95MS  float64 `json:"p95_ms"`
	MaxMS  float64 `json:"max_ms"`
}

type tracedLinkJSON struct {
	Edge  string     `json:"edge"`
	From  string     `json:"from"`
	To    string     `json:"to,omitempty"` // left out for all receivers of a broadcast
	Sent  *queueJSON `json:"sent"`         // until durable at the receiver; null if the sender did not report it
	Taken *queueJSON `json:"taken"`        // until the receiver took them; null if it did not report it
}

type queueJSON struct {
	Frames  uint64  `json:"frames"`
	Bytes   uint64  `json:"bytes"`
	MeanMS  float64 `json:"mean_ms"`
	MaxMS   float64 `json:"max_ms"`
	Peak    uint64  `json:"peak_bytes"`
	Waiting uint64  `json:"waiting_bytes"`
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1e3 }

func traceAsJSON(cluster string, v *tracing.View) TraceJSON {
	out := TraceJSON{
		Cluster: cluster, Session: v.Session.String(), Analysis: v.Analysis, State: string(v.State),
		Began: v.Begin.UTC().Format(time.RFC3339Nano), TookMS: millis(v.Length()),
		Nodes: []tracedJSON{}, Links: []tracedLinkJSON{}, Unknown: namesOf(v.Unknown), Missing: namesOf(v.Missing),
	}
	for i := range v.Nodes {
		out.Nodes = append(out.Nodes, nodeTraceAsJSON(v, &v.Nodes[i]))
	}
	for _, l := range v.Links {
		out.Links = append(out.Links, tracedLinkJSON{l.Edge, l.From, l.To, queueAsJSON(l.Sent), queueAsJSON(l.Taken)})
	}
	return out
}

func nodeTraceAsJSON(v *tracing.View, x *monitor.Traced) tracedJSON {
	t := x.Report.Trace
	n := tracedJSON{
		Node: string(x.Node.ID), Stage: x.Node.Stage, FromMS: millis(x.Begin().Sub(v.Begin)), ToMS: millis(x.End().Sub(v.Begin)),
		OffMS:   millis(x.Off),
		Running: t.Running, Failed: t.Failed, Recovered: t.Recovered, States: statesAsJSON(&t.States, true), CellMS: millis(t.Width),
		Line:    []map[string]float64{},
		Commits: durationsAsJSON(t.Commits), Fsyncs: durationsAsJSON(t.Syncs),
	}
	for i := range t.Line {
		n.Line = append(n.Line, statesAsJSON(&t.Line[i], false))
	}
	for _, r := range t.Roles {
		n.Stages = append(n.Stages, stageTimeJSON{r.Name, millis(r.Time), r.Calls})
	}
	return n
}

// statesAsJSON returns the times by state; states without time only if all is true.
func statesAsJSON(c *trace.Cell, all bool) map[string]float64 {
	m := map[string]float64{}
	for s, d := range c {
		if all || d > 0 {
			m[trace.State(s).String()] = millis(d)
		}
	}
	return m
}

func durationsAsJSON(d trace.Durations) durationsJSON {
	return durationsJSON{d.Count, millis(d.Mean), millis(d.P50), millis(d.P95), millis(d.Max)}
}

func queueAsJSON(q *trace.Queue) *queueJSON {
	if q == nil {
		return nil
	}
	return &queueJSON{q.Frames, q.Bytes, millis(q.Mean), millis(q.Max), q.Peak, q.Waiting}
}

func namesOf(all []monitor.Traced) []string {
	names := []string{}
	for i := range all {
		names = append(names, string(all[i].Node.ID))
	}
	return names
}
