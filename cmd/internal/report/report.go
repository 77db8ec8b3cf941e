package report

import (
	"crypto/sha256"
	_ "embed" // for the template and the style
	"encoding/base64"
	"errors"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"posta.dev/posta/internal/units"

	"posta.dev/posta/client"
	"posta.dev/posta/cmd/internal/chart"
	"posta.dev/posta/cmd/internal/console"
	"posta.dev/posta/cmd/internal/display"
	"posta.dev/posta/cmd/internal/monitor"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/topology"
)

// Rows is how many rows of each query a report shows. Charts show up to chart.MostRows.
const Rows = 1000

// KeptRows is how many rows of each query an answer should keep for a report.
const KeptRows = chart.MostRows

// room bounds the answers: the page stays below about 30 MB, however much of them has to be escaped.
var room = console.Room{Tables: 200, Kept: KeptRows, Rows: Rows, Cells: 200, Runes: 500, Bytes: 4 << 20}

// Bounds of the lists beside the answers.
const (
	rejectedShown = 50 // rows of a stream
	warningsShown = 100
	nodesShown    = 256
	entriesShown  = 16
	textShown     = 600  // cells of a text that comes from outside
	commandShown  = 4000 // cells of the command line
)

// Report is what a page shows.
type Report struct {
	Version  string
	Command  string // the command line, of words as Shown returns them
	Began    time.Time
	Took     time.Duration
	Answer   *client.Answer
	Sessions []Session          // the sessions that computed the answer; may be empty
	Topology *topology.Topology // nil if it is not known
	Entries  []string           // without Topology: addresses of the running cluster that gave the answer
	Nodes    []monitor.Status   // nodes of a cluster that was started only for this; nil for another cluster
	Rest     string             // says how to get all rows
}

// Session is a session that belongs to the answer.
type Session struct {
	ID      session.ID
	Streams []client.StreamProgress
}

//go:embed report.tmpl
var page string

//go:embed report.css
var style string

// templates is parsed when it is needed, because every process of Posta would spend a millisecond on it.
var templates = sync.OnceValue(func() *template.Template { return template.Must(template.New("report").Parse(page)) })

// view is a report in the form that the template takes: all texts are escaped for display, and bounded.
type view struct {
	Title, Version, Command, Began, At, Took string

	Policy   string // what a browser may load
	Style    template.CSS
	Answer   template.HTML
	Rejected []rejected
	Warnings []string
	More     int // warnings that are left out

	Sessions []string
	Streams  []stream
	Cluster  *cluster
	Unknown  string // addresses of a cluster whose topology is not known; "" if there is none
}

type rejected struct {
	Stream, Rows string
	First        []rejectedRow
	More         string // rows that are not in First; "" for none
}

type rejectedRow struct{ File, Line, Reason string }

// stream is how one stream was uploaded.
type stream struct{ Session, Name, Files, Bytes, InPlace, Took, Rate string }

type cluster struct {
	Name    string
	Picture template.URL
	About   string // the picture in words
	Stages  []stage
	Heard   bool // Nodes say what they did
	Nodes   []node
	More    int // nodes that are left out
}

type stage struct{ Name, Roles, Hosts, Nodes string }

type node struct{ ID, Host, In, Out, Frames, Commits, Log, Memory, Starts string }

// Write writes the page.
func Write(w io.Writer, r *Report) error {
	v, err := r.view()
	if err != nil {
		return err
	}
	return templates().Execute(w, v)
}

func (r *Report) view() (*view, error) {
	css := string(console.Style()) + style
	sum := sha256.Sum256([]byte(css))
	v := &view{
		Title: text(r.Answer.Analysis), Version: text(r.Version), Command: cut(r.Command, commandShown),
		Began: r.Began.UTC().Format(time.RFC3339), At: r.Began.UTC().Format("2006-01-02 15:04:05"), Took: display.Span(r.Took),
		Policy: "default-src 'none'; img-src data:; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
			"'; base-uri 'none'; form-action 'none'",
		Style: template.CSS(css), //nolint:gosec // it is embedded in this program
	}
	shown := *r.Answer
	shown.Rejected, shown.Warnings = nil, nil // the page shows these in sections of their own
	var err error
	if v.Answer, err = console.DrawAnswer(&shown, room, r.Rest); err != nil {
		return nil, errors.Join(err, r.Answer.Err())
	}
	for i := range r.Answer.Rejected {
		if one := &r.Answer.Rejected[i]; one.Rows > 0 {
			v.Rejected = append(v.Rejected, rejectedOf(one))
		}
	}
	for i, one := range r.Answer.Warnings {
		if i == warningsShown {
			v.More = len(r.Answer.Warnings) - i
			break
		}
		v.Warnings = append(v.Warnings, text(one.String()))
	}
	for _, s := range r.Sessions {
		v.Sessions = append(v.Sessions, s.ID.String())
		for i := range s.Streams {
			v.Streams = append(v.Streams, streamOf(s.ID, &s.Streams[i]))
		}
	}
	if r.Topology != nil {
		v.Cluster = clusterOf(r.Topology, r.Nodes)
	} else {
		v.Unknown = addresses(r.Entries)
	}
	return v, nil
}

// addresses returns addresses of a cluster, without what they should not show.
func addresses(entries []string) string {
	var all []string
	for i, e := range entries {
		if i == entriesShown {
			all = append(all, fmt.Sprintf("and %d more", len(entries)-i))
			break
		}
		all = append(all, text(Shown(e)))
	}
	return strings.Join(all, ", ")
}

// text makes a text from outside fit for the page.
func text(s string) string { return cut(s, textShown) }

// cut shortens a text before it looks at each character, because a text may have megabytes.
func cut(s string, cells int) string {
	return display.Cut(display.Escape(s[:min(len(s), 4*cells)]), cells)
}

func rejectedOf(r *protocol.Rejected) rejected {
	out := rejected{Stream: text(r.Stream), Rows: rows(r.Rows)}
	for _, row := range r.First[:min(len(r.First), rejectedShown)] {
		out.First = append(out.First, rejectedRow{text(row.File), units.Count(row.Line), text(row.Reason)})
	}
	if more := r.Rows - min(r.Rows, uint64(len(out.First))); more > 0 {
		out.More = units.Count(more)
	}
	return out
}

func rows(n uint64) string {
	if n == 1 {
		return "1 row"
	}
	return units.Count(n) + " rows"
}

func streamOf(id session.ID, p *client.StreamProgress) stream {
	s := stream{
		Session: id.String()[:8], Name: text(p.Name), Files: units.Count(uint64(max(0, p.Files))), Bytes: units.Bytes(p.Read),
		InPlace: units.Bytes(p.InPlace),
	}
	if p.Took > 0 {
		s.Took, s.Rate = display.Span(p.Took), units.Bytes(int64(float64(p.Read)/p.Took.Seconds()))+"/s"
	}
	return s
}

func clusterOf(t *topology.Topology, heard []monitor.Status) *cluster {
	c := &cluster{
		Name: text(t.Name), Heard: heard != nil,
		// An image, and not an inline element: the picture has a style sheet of its own.
		Picture: template.URL("data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString([]byte(t.SVG()))),
		//nolint:gosec // texts in it are escaped
	}
	var about []string
	for _, s := range t.StagesInOrder() {
		one := stage{Name: text(s.Name)}
		var roles, hosts []string
		for _, role := range s.Chain {
			roles = append(roles, string(role))
		}
		count := 0
		for _, n := range t.Nodes() {
			if n.Stage == s.Name {
				count++
				if !slices.Contains(hosts, n.Host) {
					hosts = append(hosts, n.Host)
				}
			}
		}
		one.Roles, one.Hosts, one.Nodes = strings.Join(roles, ", "), text(strings.Join(hosts, ", ")), units.Count(uint64(count))
		c.Stages = append(c.Stages, one)
		about = append(about, fmt.Sprintf("%s: %s", s.Name, units.Plural(count, "node")))
	}
	c.About = "The pipeline, from left to right. " + text(strings.Join(about, "; ")) + ". The tables say the same."
	for i := range heard {
		if i == nodesShown {
			c.More = len(heard) - i
			break
		}
		c.Nodes = append(c.Nodes, nodeOf(&heard[i]))
	}
	return c
}

func nodeOf(s *monitor.Status) node {
	n := node{ID: string(s.Node.ID), Host: text(s.Node.Host)}
	if !s.Heard {
		return n
	}
	b := &s.Beat
	n.In, n.Out, n.Frames, n.Commits = size(b.BytesIn), size(b.BytesOut), units.Count(b.FramesIn), units.Count(b.Commits)
	n.Log, n.Starts = size(b.LogBytes), units.Count(uint64(b.ID.Incarnation))
	if b.Memory > 0 {
		n.Memory = size(b.Memory)
	}
	return n
}

func size(n uint64) string { return units.Bytes(int64(min(n, 1<<62))) }
