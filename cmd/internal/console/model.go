package console

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"posta.dev/posta/internal/units"

	"posta.dev/posta/cmd/internal/display"
	"posta.dev/posta/cmd/internal/monitor"
	"posta.dev/posta/medic/core"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/topology"
)

// Seen is what was heard of a cluster at one moment.
type Seen struct {
	Topology *topology.Topology
	Nodes    []monitor.Status // in the order of the topology
	Medics   monitor.Medics
	Sessions []protocol.SessionInfo
	Trouble  []string                          // problems of looking itself, like nodes that refuse this user
	Works    []workSeen                        // questions and answers, the newest first
	Harms    []harm                            // faults that were injected from pages, the oldest first
	Past     []moment                          // of the last 10 minutes, the oldest first
	Lines    map[topology.NodeID]monitor.Lines // of the node whose page is drawn; nil if its log cannot be asked for
	Closed   bool                              // this console may read no answers
}

// Bounds of a page, however large the cluster is.
const (
	sessionsShown  = 30  // on the overview
	sessionsOnPage = 100 // on a page of the list of all sessions
	incidentsShown = 12
	linksShown     = 128
	remarksShown   = 20
	statementShown = 80  // runes of a statement in a table; the session's page shows more
	longestText    = 600 // runes of a text that comes from outside
)

type sign = monitor.Sign

const (
	fine    = monitor.Fine
	care    = monitor.Care
	blocked = monitor.Blocked
	dead    = monitor.Dead
)

// clean makes text from outside fit for a page: it removes control characters and bounds the length. html/template escapes it later.
func clean(text string) string {
	text = display.Escape(text)
	if runes := []rune(text); len(runes) > longestText {
		return string(runes[:longestText]) + "…"
	}
	return text
}

type nodeRow struct {
	ID, Stage, Host string
	Sign            sign
	State           string
	Heard           bool

	In, Out, Backlog, Log, Memory, Incarnation, Sessions, Up, Age string
}

func newNodeRow(s *monitor.Status) nodeRow {
	r := nodeRow{ID: string(s.Node.ID), Stage: s.Node.Stage, Host: s.Node.Host, Sign: s.Sign(), State: clean(s.State()), Heard: s.Heard,
		Age: "never"}
	if !s.Heard {
		return r
	}
	b := &s.Beat
	r.In, r.Out, r.Backlog, r.Log = bytesPerSecond(s.InRate), bytesPerSecond(s.OutRate), size(s.Backlog()), size(b.LogBytes)
	if s.Silent() {
		r.In, r.Out = "", "" // the last rate of a dead node no longer holds
	}
	if b.Memory > 0 && !s.Silent() {
		r.Memory = size(b.Memory)
	}
	r.Incarnation, r.Sessions, r.Up, r.Age = fmt.Sprint(b.ID.Incarnation), fmt.Sprint(b.Sessions),
		display.Span(b.Uptime.Truncate(time.Second)), ago(s.Age)
	return r
}

func size(n uint64) string               { return units.Bytes(int64(min(n, 1<<62))) }
func bytesPerSecond(rate float64) string { return units.Bytes(int64(rate)) + "/s" }

// ago rounds to whole seconds or more: a page that changes less often is easier to read.
func ago(d time.Duration) string {
	if d < time.Second {
		return "just now"
	}
	return display.Span(d.Truncate(time.Second)) + " ago"
}

type medicRow struct {
	ID, Host, State              string
	Sign                         sign
	Generation, Incarnation, Age string
}

func newMedicRow(m *monitor.Medic) medicRow {
	r := medicRow{ID: string(m.Node.ID), Host: m.Node.Host, State: m.State(), Sign: fine, Age: "never"}
	if r.State == "silent" {
		r.Sign = dead
	}
	if m.Heard {
		r.Generation, r.Incarnation, r.Age = fmt.Sprint(m.Beat.Term.Gen), fmt.Sprint(m.Beat.ID.Incarnation), ago(m.Age)
	}
	return r
}

type incidentRow struct {
	Node, Cause, At, When        string // At: in the form for machines
	Detected, Restarted, Flowing string // each is the time since the step before
	Total, Outcome               string
	Open                         bool
}

func newIncidentRow(i *core.Incident) incidentRow {
	r := incidentRow{
		Node: string(i.Node), Cause: clean(i.Cause), At: i.At.UTC().Format(time.RFC3339), When: i.At.UTC().Format(time.TimeOnly),
		Detected: millis(i.Silent), Open: i.Open, Outcome: "down",
	}
	if i.Restarts > 0 || i.Found {
		r.Restarted, r.Outcome = millis(i.Restart), "restarted"
	}
	if i.Trouble != "" && i.Open {
		r.Outcome = "not restarted: " + clean(i.Trouble)
	}
	if !i.Open {
		r.Flowing, r.Total, r.Outcome = millis(i.Recovery), millis(i.Total()), fmt.Sprintf("flowing again, incarnation %d", i.Incarnation)
	}
	return r
}

func millis(d time.Duration) string { return units.Count(uint64(max(0, d.Milliseconds()))) + " ms" }

// incidentRows returns the newest incidents first: those of one node, or of all nodes if node is empty.
func incidentRows(entries []core.Entry, node topology.NodeID) (rows []incidentRow) {
	all := core.Incidents(entries)
	for i := len(all) - 1; i >= 0 && len(rows) < incidentsShown; i-- {
		if node == "" || string(all[i].Node) == string(node) {
			rows = append(rows, newIncidentRow(&all[i]))
		}
	}
	return rows
}

type sessionRow struct {
	Asks, Statement                        string // what the session asks, and the beginning of that text
	ID, Short, Analysis, Owner, State, Age string
	Bytes, Files, Nodes                    string
	Sign                                   sign
}

func (s *Seen) sessionRow(v *monitor.Session) sessionRow {
	r := sessionRow{
		ID: v.ID.String(), Analysis: cmp.Or(clean(v.Analysis), "unknown"), Owner: cmp.Or(clean(v.Owner), "this machine's user"),
		State: clean(string(v.State)),
		Age:   age(v.Age), Nodes: units.Plural(len(v.Nodes), "node"), Sign: fine,
	}
	r.Asks = clean(v.Asks)
	r.Statement = clip(r.Asks, statementShown)
	var taken uint64
	atInput := false
	for _, at := range v.At {
		if s.holds(at.Node, topology.Input) {
			taken, atInput = taken+at.Bytes, true
		}
	}
	if atInput { // an input forgets a session that has ended, and how many bytes it took
		r.Bytes = size(taken)
	}
	r.Files = v.Files()
	r.Short = r.ID[:8]
	if v.State == session.Failed {
		r.Sign = dead
	}
	return r
}

// holds reports whether the node with this name has the role in its chain.
func (s *Seen) holds(node string, role topology.Role) bool {
	return slices.ContainsFunc(s.Nodes, func(n monitor.Status) bool { return string(n.Node.ID) == node && n.Node.Holds(role) })
}

// sessionsInOrder returns running sessions first, and among equals the one that began last.
func (s *Seen) sessionsInOrder() []monitor.Session {
	all := monitor.Merge(s.Sessions)
	slices.SortStableFunc(all, func(a, b monitor.Session) int {
		running := func(s monitor.Session) int {
			if s.State == session.Running {
				return 0
			}
			return 1
		}
		return cmp.Or(running(a)-running(b), cmp.Compare(a.Age, b.Age))
	})
	return all
}

func (s *Seen) rowsOf(sessions []monitor.Session) []sessionRow {
	rows := make([]sessionRow, len(sessions))
	for i := range sessions {
		rows[i] = s.sessionRow(&sessions[i])
	}
	return rows
}

// age returns how long ago a session was opened. It does not round a time below a second to 0.
func age(d time.Duration) string {
	if d >= time.Second {
		d = d.Truncate(time.Second)
	}
	return display.Span(d)
}
