package console

import (
	"bytes"
	"cmp"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"posta.dev/posta/internal/units"

	"posta.dev/posta/cmd/internal/monitor"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/topology"
)

//go:embed page
var files embed.FS

// templates is parsed when it is needed, because every process of Posta would spend two milliseconds on it.
var templates = sync.OnceValue(func() *template.Template { return template.Must(template.ParseFS(files, "page/*.tmpl")) })

// errNoPage is returned for a path without a page.
var errNoPage = errors.New("there is no such page")

// place identifies a page. It is comparable, so that a page with several watchers is drawn once.
type place struct {
	kind string // overview, sessions, node, session, ask, asked
	id   string // of the node, session or question
	from int    // the first session of a list
}

// placeOf reads the path of a page, as the address line shows it.
func placeOf(path string) (place, error) {
	u, err := url.Parse(path)
	if err != nil || len(path) > 1024 && u.Path != "/ask" { // the address of /ask may contain a statement
		return place{}, errNoPage
	}
	kind, id, deeper := strings.Cut(strings.TrimPrefix(u.Path, "/"), "/")
	switch {
	case u.Path == "/":
		return place{kind: "overview"}, nil
	case kind == "sessions" && !deeper:
		from, err := strconv.Atoi(cmp.Or(u.Query().Get("from"), "0"))
		if err != nil || from < 0 {
			return place{}, errNoPage
		}
		return place{kind: kind, from: from}, nil
	case kind == "ask" && !deeper:
		return place{kind: kind}, nil
	case kind == "node" && id != "", kind == "asked" && id != "":
		return place{kind: kind, id: id}, nil
	case kind == "session":
		parsed, err := session.Parse(id)
		if err != nil {
			return place{}, errNoPage
		}
		return place{kind: kind, id: parsed.String()}, nil
	}
	return place{}, errNoPage
}

// path returns the path that placeOf reads.
func (p place) path() string {
	switch p.kind {
	case "sessions":
		return "/sessions?from=" + strconv.Itoa(p.from)
	case "ask":
		return "/ask"
	case "node", "session", "asked":
		return "/" + p.kind + "/" + url.PathEscape(p.id)
	}
	return "/"
}

// part is a piece of a page. If anything in it changes, all of it is replaced.
type part struct {
	Name string        `json:"name"`
	HTML template.HTML `json:"html"`
}

// view is one page: its title and its parts.
type view struct {
	Cluster, Title, Path string
	Kind                 string
	User                 string   // "" for the user of this machine
	Ends                 string   // when the login ends, in the form for machines; "": not shown
	Others               bool     // other browsers are logged in at this console
	Medic                string   // the medic that serves the page; "" if a person has started the console
	Peers                []string // the other medics that serve consoles, as NAME:PORT
	Before, Parts        []part   // Before does not change while the page is open, because the user may be typing there
}

// draw makes a page from what was seen. It returns errNoPage for a node that is not in the topology.
func draw(s *Seen, p place) (*view, error) {
	v := &view{Cluster: s.Topology.Name, Path: p.path(), Kind: p.kind}
	switch p.kind {
	case "sessions":
		v.Title = "Sessions"
		return v, v.add("sessions", s.sessionList(p.from))
	case "node":
		at := slices.IndexFunc(s.Nodes, func(n monitor.Status) bool { return string(n.Node.ID) == p.id })
		if at < 0 {
			return nil, fmt.Errorf("node %q: %w", clean(p.id), errNoPage)
		}
		v.Title = p.id
		return v, v.add("node", s.node(&s.Nodes[at]))
	case "session":
		v.Title = "Session " + p.id[:8]
		return v, v.add("session", s.session(p.id))
	case "ask":
		v.Title = "Ask"
		return v, v.add("asked", s.questions())
	case "asked":
		v.Title = "Ask"
		at := slices.IndexFunc(s.Works, func(w workSeen) bool { return w.Key == p.id && w.Text != "" })
		if at < 0 {
			return nil, fmt.Errorf("question %q: %w", clean(p.id), errNoPage)
		}
		return v, v.add("answer", s.Works[at])
	}
	v.Title = "Overview"
	all := s.sessionsInOrder()
	shown := all[:min(len(all), sessionsShown)]
	nodes, medics := make([]nodeRow, len(s.Nodes)), make([]medicRow, len(s.Medics.All))
	for i := range nodes {
		nodes[i] = newNodeRow(&s.Nodes[i])
	}
	for i := range medics {
		medics[i] = newMedicRow(&s.Medics.All[i])
	}
	return v, errors.Join(
		v.add("summary", s.summary()), v.add("harms", s.harmRows()), v.add("graph", s.graph()),
		v.add("incidents", incidentRows(s.Medics.Entries, "")), v.add("nodes", nodes),
		v.add("running", sessionTable{Text: sessionsText(all), Rows: s.rowsOf(shown), More: len(all) - len(shown)}),
		v.add("timeline", s.timeline()), v.add("medics", medics),
	)
}

func (v *view) add(name string, data any) error { return addTo(&v.Parts, name, data) }

func addTo(parts *[]part, name string, data any) error {
	var b bytes.Buffer
	if err := templates().ExecuteTemplate(&b, name, data); err != nil {
		return fmt.Errorf("draw %s: %w", name, err)
	}
	*parts = append(*parts, part{name, template.HTML(b.String())}) //nolint:gosec // made by html/template
	return nil
}

// questions returns the last questions that were asked of this console, the newest first.
func (s *Seen) questions() (all []workSeen) {
	for i := range s.Works {
		if s.Works[i].Text != "" {
			all = append(all, s.Works[i])
		}
	}
	return all
}

// sessionTable is a table of sessions, and the text around it.
type sessionTable struct {
	Text     string
	Rows     []sessionRow
	More     int    // sessions that are not in Rows
	Earlier  string // path of the previous page
	Later    string
	Position string
}

func (s *Seen) sessionList(from int) sessionTable {
	all := s.sessionsInOrder()
	from = min(from, max(0, len(all)-1)/sessionsOnPage*sessionsOnPage)
	end := min(len(all), from+sessionsOnPage)
	t := sessionTable{Text: sessionsText(all), Rows: s.rowsOf(all[from:end])}
	if len(all) > 0 {
		t.Position = fmt.Sprintf("%s to %s of %s", units.Count(uint64(from+1)), units.Count(uint64(end)), units.Count(uint64(len(all))))
	}
	if from > 0 {
		t.Earlier = place{kind: "sessions", from: max(0, from-sessionsOnPage)}.path()
	}
	if end < len(all) {
		t.Later = place{kind: "sessions", from: end}.path()
	}
	return t
}

// fact is a term and its explanation.
type fact struct{ Word, Text string }

type nodePage struct {
	Row       nodeRow
	Facts     []fact
	Remarks   []string
	Harms     []harmRow
	Links     []linkRow
	MoreLinks int
	Incidents []incidentRow
	Log       []logRow
	Logged    bool // pages show logs
}

type linkRow struct {
	Edge, To, Backlog string
	Full              bool
}

func (s *Seen) node(n *monitor.Status) nodePage {
	p := nodePage{Row: newNodeRow(n), Remarks: monitor.Remarks([]monitor.Status{*n}), Incidents: incidentRows(s.Medics.Entries, n.Node.ID),
		Log: s.logRows(n.Node.ID), Logged: s.Lines != nil}
	for _, h := range s.harmRows() {
		if h.Target == string(n.Node.ID) {
			p.Harms = append(p.Harms, h)
		}
	}
	p.Facts = []fact{
		{"Stage", n.Node.Stage}, {"Does", rolesText(n.Node.Chain)}, {"Replica", fmt.Sprintf("%d of %d", n.Node.Index, n.Node.Of)},
		{"Host", n.Node.Host},
		{"Heard", p.Row.Age},
	}
	if !n.Heard {
		return p
	}
	b := &n.Beat
	p.Facts = append(p.Facts, []fact{
		{"Process", strconv.Itoa(b.PID)}, {"Up for", p.Row.Up}, {"Incarnation", p.Row.Incarnation}, {"Log", p.Row.Log},
		{"Log id", b.ID.LogID.String()},
		{"In", fmt.Sprintf("%s, %s in %s frames since the start", cmp.Or(p.Row.In, "nothing"), size(b.BytesIn), units.Count(b.FramesIn))},
		{"Out", fmt.Sprintf("%s, %s in %s frames since the start", cmp.Or(p.Row.Out, "nothing"), size(b.BytesOut), units.Count(b.FramesOut))},
		{"Backlog", p.Row.Backlog}, {"Memory", cmp.Or(p.Row.Memory, "not known")}, {"Commits", units.Count(b.Commits)},
		{"Sessions", p.Row.Sessions},
	}...)
	for i, l := range b.Links {
		if i == linksShown {
			p.MoreLinks = len(b.Links) - linksShown
			break
		}
		p.Links = append(p.Links, linkRow{Edge: clean(l.Edge), To: cmp.Or(clean(string(l.To)), "all receivers"), Backlog: size(l.Bytes),
			Full: l.Full})
	}
	return p
}

type sessionPage struct {
	Known   bool
	ID      string
	Row     sessionRow
	At      []atNode
	Done    bool      // there are answers
	Closed  bool      // this console may not read them
	Large   bool      // so large that answers are fetched only if a user asks for them
	Bytes   string    // of them
	Answers *workSeen // nil if nobody has fetched them
	Asked   *workSeen // the question of this console that the session belongs to; nil if it came from elsewhere
}

// largeAnswers is the size in bytes above which opening a session's page does not fetch its answers: reading them costs an output time and
// disk.
const largeAnswers = 64 << 20

// atNode is what one node reports of a session.
type atNode struct{ Node, State, Bytes string }

func (s *Seen) session(id string) sessionPage {
	p := sessionPage{ID: id}
	all := monitor.Merge(s.Sessions)
	at := slices.IndexFunc(all, func(v monitor.Session) bool { return v.ID.String() == id })
	if at < 0 {
		return p
	}
	p.Known, p.Row = true, s.sessionRow(&all[at])
	p.Done, p.Closed = all[at].State == session.Done, s.Closed
	var bytes uint64
	for i := range s.Works {
		switch w := &s.Works[i]; {
		case w.Key == answersKey(id):
			p.Answers = w
		case w.Session == id:
			p.Asked = w
		}
	}
	for _, i := range all[at].At {
		n := atNode{Node: clean(i.Node), State: clean(string(i.State)), Bytes: size(i.Bytes) + " of CSV"}
		if !s.holds(i.Node, topology.Input) {
			n.Bytes = size(i.Bytes) + " of answers"
			bytes = max(bytes, i.Bytes) // each output has all answers
		}
		p.At = append(p.At, n)
	}
	p.Large, p.Bytes = bytes > largeAnswers, size(bytes)
	return p
}
