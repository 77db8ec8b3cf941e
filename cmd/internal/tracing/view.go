package tracing

import (
	"cmp"
	"slices"
	"time"

	"posta.dev/posta/cmd/internal/monitor"
	"posta.dev/posta/nodes/trace"
	"posta.dev/posta/protocol/session"
)

// View is a session on one time line.
type View struct {
	Session    session.ID
	Analysis   string
	State      session.State
	Begin, End time.Time // by the clock of this process; if the session runs, End is when its nodes were asked
	Nodes      []monitor.Traced
	Links      []Link
	Unknown    []monitor.Traced // nodes that answered, but do not know the session
	Missing    []monitor.Traced // nodes that did not answer
}

// Link is what a session sent over a link, as both ends report it.
type Link struct {
	Edge, From, To string
	Sent           *trace.Queue // nil: the sender did not report it
	Taken          *trace.Queue // nil: the receiver did not report it
}

// New makes a view of the answers of all nodes. known is false if no node knows the session.
func New(id session.ID, all []monitor.Traced) (v View, known bool) {
	v = View{Session: id, State: session.Done}
	for i := range all {
		x := &all[i]
		switch {
		case !x.Answered:
			v.Missing = append(v.Missing, *x)
		case x.Report.Trace == nil:
			v.Unknown = append(v.Unknown, *x)
		default:
			v.add(x)
		}
	}
	v.links()
	return v, len(v.Nodes) > 0
}

func (v *View) add(x *monitor.Traced) {
	t := x.Report.Trace
	v.Nodes = append(v.Nodes, *x)
	v.Analysis = cmp.Or(v.Analysis, t.Analysis)
	switch {
	case t.Failed:
		v.State = session.Failed
	case t.Running && v.State != session.Failed:
		v.State = session.Running
	}
	if b := x.Begin(); v.Begin.IsZero() || b.Before(v.Begin) {
		v.Begin = b
	}
	if e := x.End(); e.After(v.End) {
		v.End = e
	}
}

// links combines the reports of senders and receivers. A sender has one queue for all receivers of a broadcast.
func (v *View) links() {
	for i := range v.Nodes {
		n, t := string(v.Nodes[i].Node.ID), v.Nodes[i].Report.Trace
		for k := range t.Out {
			v.Links = append(v.Links, Link{Edge: t.Out[k].Edge, From: n, To: t.Out[k].Node, Sent: &t.Out[k]})
		}
	}
	for i := range v.Nodes {
		n, t := string(v.Nodes[i].Node.ID), v.Nodes[i].Report.Trace
		for k := range t.In {
			q := &t.In[k]
			j := slices.IndexFunc(v.Links, func(l Link) bool { return l.Edge == q.Edge && l.From == q.Node && l.To == n })
			if j < 0 {
				v.Links = append(v.Links, Link{Edge: q.Edge, From: q.Node, To: n})
				j = len(v.Links) - 1
			}
			v.Links[j].Taken = q
		}
	}
	slices.SortStableFunc(v.Links, func(a, b Link) int {
		return cmp.Or(cmp.Compare(a.Edge, b.Edge), cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To))
	})
}

// Absence says why a node that answered does not know a session that other nodes know.
type Absence uint8

const (
	NeverThere   Absence = iota // as far as the node remembers, the session sent it nothing
	StartedLater                // its process started when the session had begun, or was over; an earlier process may have had the session
	Forgotten                   // too many sessions have left it since
)

// Absent returns why a node of Unknown does not know the session. A node may have had the session only between Begin and End.
func (v *View) Absent(x *monitor.Traced) Absence {
	switch r := &x.Report; {
	case x.At.Add(-r.Life).After(v.Begin.Add(x.Off)): // clocks of hosts may differ by Off
		return StartedLater
	case r.Full() && x.At.Add(-r.Oldest).After(v.Begin): // what left it earlier than that is forgotten
		return Forgotten
	}
	return NeverThere
}

// Length is how long the session took, or has taken so far.
func (v *View) Length() time.Duration { return v.End.Sub(v.Begin) }

// None is the state of a column in which a node did not have the session.
const None trace.State = -1

// Bar divides the view's time line into width columns and returns the longest state of each.
func (v *View) Bar(x *monitor.Traced, width int) []trace.State {
	bar := make([]trace.State, width)
	t, length := x.Report.Trace, v.Length()
	for i := range bar {
		bar[i] = None
		if length <= 0 || t.Width <= 0 {
			continue
		}
		begin := x.Begin().Sub(v.Begin)
		from := time.Duration(float64(length)*float64(i)/float64(width)) - begin
		to := time.Duration(float64(length)*float64(i+1)/float64(width)) - begin
		bar[i] = longest(t, from, to)
	}
	return bar
}

// longest returns the state with the most time between two moments, both measured since the session came to the node.
func longest(t *trace.Trace, from, to time.Duration) trace.State {
	var sum [trace.States]float64
	for i := int(max(0, from) / t.Width); i < len(t.Line) && time.Duration(i)*t.Width < to; i++ {
		begin := time.Duration(i) * t.Width
		part := float64(min(to, begin+t.Width)-max(from, begin)) / float64(t.Width)
		for s, d := range t.Line[i] {
			sum[s] += part * float64(d)
		}
	}
	best := None
	for s, d := range sum {
		if d > 0 && (best == None || d > sum[best]) {
			best = trace.State(s)
		}
	}
	return best
}

// Share returns the fraction of the session's time in the node that a state took, from 0 to 1.
func Share(t *trace.Trace, s trace.State) float64 {
	length := t.Begin - t.End
	if length <= 0 {
		return 0
	}
	return float64(t.States[s]) / float64(length)
}
