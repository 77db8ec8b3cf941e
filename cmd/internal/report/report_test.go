package report

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"posta.dev/posta/client"
	"posta.dev/posta/cmd/internal/monitor"
	"posta.dev/posta/link"
	"posta.dev/posta/nodes/heartbeat"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/test/temp"
	"posta.dev/posta/topology"
)

var update = flag.Bool("update", false, "write the golden page")

// hostile is text that tries to be more than text.
const hostile = `</style></td><script>alert(1)</script><img src=x onerror=alert(1)>&"'` + "\x1b[31m\u202e\x00\xff"

func table(t *testing.T, name string, columns []string, rows ...[]any) client.Table {
	t.Helper()
	all := protocol.NewRows(len(columns))
	for _, row := range rows {
		var cells []protocol.Value
		for _, v := range row {
			cell, err := protocol.ValueOf(v)
			if err != nil {
				t.Fatal(err)
			}
			cells = append(cells, cell)
		}
		if err := all.Add(cells...); err != nil {
			t.Fatal(err)
		}
	}
	return client.NewTable(name, columns, all)
}

func pipeline(t *testing.T) *topology.Topology {
	t.Helper()
	tp := temp.Parsed(t, topology.Variant{Dir: "/nowhere", IPCDir: "/nowhere/sockets", Replicas: map[string]int{"joiner": 2}})
	return tp
}

// usual returns a report of a run that went well. One of its nodes was not heard in time.
func usual(t *testing.T) *Report {
	t.Helper()
	r := &Report{
		Version: "v1.2.3", Command: "posta run bikes --data data --html report.html", Began: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC),
		Took: 3200 * time.Millisecond,
		Rest: "--out PLACE gives all.", Topology: pipeline(t),
		Answer: &client.Answer{
			Analysis: "bikes",
			Queries: []client.Table{
				table(t, "rain", []string{"day", "trips"}, []any{"2016-05-05", int64(3)}, []any{"2016-05-06", int64(5)}, []any{"2016-05-07", nil}),
				table(t, "far", []string{"city", "km"}, []any{"Montreal", 12.5}, []any{"Toronto", math.Inf(1)}),
			},
			Rejected: []protocol.Rejected{
				{Stream: "trips", Rows: 1234, First: []protocol.RejectedRow{{File: "montreal/trips.csv", Line: 1017, Reason: "no number"}}},
				{Stream: "weather"},
			},
			Warnings: []client.Warning{{Path: "toronto", Text: "it has no stations.csv"}},
		},
		Sessions: []Session{{ID: session.ID{0xab, 1}, Streams: []client.StreamProgress{
			{Name: "weather", Files: 1, Read: 2 << 20, InPlace: 2 << 20, Ended: true},
			{Name: "trips", Files: 3, Read: 100 << 20, Ended: true, Took: 2 * time.Second},
		}}},
	}
	for i, n := range r.Topology.Nodes() {
		s := monitor.Status{Node: n, Heard: i > 0}
		s.Beat = heartbeat.Beat{Node: link.NodeID(n.ID), ID: link.Identity{Incarnation: 1}, BytesIn: 1 << 20, BytesOut: 1 << 10, FramesIn: 17,
			Commits: 1200, LogBytes: 5 << 20, Memory: 77 << 20}
		r.Nodes = append(r.Nodes, s)
	}
	return r
}

func written(t *testing.T, r *Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestThePageIsAsItWas: the page equals the golden one. Its style sheet, its picture and the digest of the style are left out, because
// other packages make them.
func TestThePageIsAsItWas(t *testing.T) {
	got := written(t, usual(t))
	got = regexp.MustCompile(`(?s)<style>.*</style>`).ReplaceAllString(got, "<style>STYLE</style>")
	got = regexp.MustCompile(`base64,[^"]*`).ReplaceAllString(got, "base64,PICTURE")
	got = regexp.MustCompile(`sha256-.*?&#39;`).ReplaceAllString(got, "sha256-DIGEST&#39;")
	const golden = "testdata/report.html"
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the page is not %s any more; go test -update writes it again. It is\n%s", golden, got)
	}
	for _, want := range []string{
		"rain: 3 rows", `class="chart"`, ">NULL</td>", ">&#43;Inf</td>", "trips: 1,234 rows rejected", ">1,017</td>", "And 1,233 more",
		"it has no stations.csv",
		"100.0 MiB", "50.0 MiB/s", "not heard in time", "77.0 MiB", "input: 1 node",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

// sound checks what holds for every page: a browser needs nothing else to show it, and may load nothing else.
func sound(t *testing.T, html string) {
	t.Helper()
	_, rest, _ := strings.Cut(html, "<style>")
	css, _, found := strings.Cut(rest, "</style>")
	sum := sha256.Sum256([]byte(css))
	policy := "default-src 'none'; img-src data:; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; base-uri 'none'; form-action 'none'"
	if !found {
		t.Error("there is no style sheet")
	}
	for _, word := range []string{"url(", "@import", "http"} {
		if strings.Contains(css, word) {
			t.Errorf("the style has %q", word)
		}
	}
	if !utf8.ValidString(html) || strings.ContainsAny(html, "\x00\x1b\u202e") {
		t.Error("the page has bytes that are not text")
	}
	d := xml.NewDecoder(strings.NewReader(strings.TrimPrefix(html, "<!doctype html>")))
	d.Strict, d.AutoClose, d.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	ids := map[string]bool{}
	var labels, open []string
	allowed := false
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		start, ok := token.(xml.StartElement)
		if end, is := token.(xml.EndElement); is && len(open) > 0 && open[len(open)-1] == end.Name.Local {
			open = open[:len(open)-1]
		}
		if !ok {
			continue
		}
		open = append(open, start.Name.Local)
		if slices.Contains([]string{"script", "iframe", "object", "embed", "link", "form", "base"}, start.Name.Local) {
			t.Errorf("there is a <%s>", start.Name.Local)
		}
		for _, a := range start.Attr {
			switch name := a.Name.Local; {
			case name == "id" && ids[a.Value]:
				t.Errorf("the id %s is there twice", a.Value)
			case name == "id":
				ids[a.Value] = true
			case name == "aria-labelledby":
				labels = append(labels, a.Value)
			case name == "content" && a.Value == policy:
				allowed = true
			case name == "style", strings.HasPrefix(name, "on"), name == "href":
				t.Errorf("<%s> has the attribute %s", start.Name.Local, name)
			case name == "src" && !strings.HasPrefix(a.Value, "data:image/svg+xml;base64,"):
				t.Errorf("<%s> loads %.80s", start.Name.Local, a.Value)
			}
		}
	}
	if !allowed {
		t.Errorf("the policy is not %q", policy)
	}
	if len(open) != 0 {
		t.Errorf("these elements are not closed: %q", open)
	}
	for _, label := range labels {
		if !ids[label] {
			t.Errorf("something is labelled by %q, which is not there", label)
		}
	}
}

func TestThePageNeedsNothingElse(t *testing.T) {
	sound(t, written(t, usual(t)))
}

// TestR16_HostileReportsAreTextAndBounded: texts of files, clients and nodes are shown as text, have a bound, and the page says what it
// leaves out.
func TestR16_HostileReportsAreTextAndBounded(t *testing.T) {
	long := strings.Repeat("x", 9<<20)
	many := make([][]any, 3000)
	for i := range many {
		many[i] = []any{int64(i), hostile}
	}
	wide := make([]string, 500)
	cells := make([]any, len(wide))
	for i := range wide {
		wide[i], cells[i] = fmt.Sprintf("%d%s", i, hostile), strings.Repeat(hostile, 100)
	}
	evil := hostile + long
	rejectedRows := make([]protocol.RejectedRow, 200)
	for i := range rejectedRows {
		rejectedRows[i] = protocol.RejectedRow{File: evil, Line: math.MaxUint64, Reason: evil}
	}
	r := usual(t)
	r.Version, r.Command = hostile, evil
	r.Answer = &client.Answer{
		Analysis: hostile,
		Queries: []client.Table{
			table(t, hostile, []string{"n", hostile}, many...), table(t, "long", []string{"a", "a"}, []any{long, nil}, []any{hostile, math.NaN()}),
			table(t, "wide", wide, cells, cells),
		},
		Rejected: []protocol.Rejected{{Stream: hostile, Rows: math.MaxUint64, First: rejectedRows}},
		Warnings: make([]client.Warning, 1000),
	}
	for range 2000 {
		r.Answer.Queries = append(r.Answer.Queries, table(t, "q", []string{hostile}, []any{strings.Repeat("<", 9000)}))
	}
	r.Answer.Warnings[0] = client.Warning{Path: hostile, Text: long}
	r.Sessions[0].Streams[0] = client.StreamProgress{Name: evil, Files: -1, Read: math.MaxInt64, Took: 1}
	html := written(t, r)
	sound(t, html)
	if len(html) > 30<<20 {
		t.Errorf("the page has %d bytes", len(html))
	}
	for _, want := range []string{
		"the first 1,000 of 3,000 rows", "the first 500 characters of 1 long value", "the first 200 of 500 columns", "&lt;script&gt;alert(1)",
		`\x1b[31m\u202e\x00\xff`,
		"and 900 more", "And 1803 more answers", ">NULL</td>", ">NaN</td>",
	} {
		if !strings.Contains(html, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	if strings.Contains(html, strings.Repeat("x", commandShown+1)) {
		t.Error("a value of megabytes is there as it is")
	}
}

// TestAReportWithoutACluster: if all statements read nothing, there is neither a session nor a cluster, and the report mentions none.
func TestAReportWithoutACluster(t *testing.T) {
	html := written(t, &Report{Answer: &client.Answer{Analysis: "sql",
		Queries: []client.Table{table(t, "q", []string{"n"}, []any{int64(1)})}}})
	sound(t, html)
	for _, absent := range []string{"<dt>Session", "h-cluster", "h-time", "h-warnings"} {
		if strings.Contains(html, absent) {
			t.Errorf("the page has %s", absent)
		}
	}
	if !strings.Contains(html, "None: every row was used.") {
		t.Error("it is not said that no row was rejected")
	}
}

type full struct{ room int }

var errFull = errors.New("no room")

func (f *full) Write(b []byte) (int, error) {
	if f.room -= len(b); f.room < 0 {
		return 0, errFull
	}
	return len(b), nil
}

// TestADiskThatIsFullIsAnError: this holds wherever the disk becomes full.
func TestADiskThatIsFullIsAnError(t *testing.T) {
	r := usual(t)
	all := len(written(t, r))
	for room := 0; room < all; room += all / 7 {
		if err := Write(&full{room}, r); !errors.Is(err, errFull) {
			t.Errorf("with room for %d bytes: %v", room, err)
		}
	}
}

func TestNoSecretIsShown(t *testing.T) {
	for word, want := range map[string]string{
		"plain":                                        "plain",
		"--data=dir":                                   "--data=dir",
		"postgres://me:s3cret@db/t/x":                  "postgres://…@db/t/x",
		"postgres://me:s3/cret@db/t":                   "postgres://…@db/t",
		"postgres://me:s3?cret@db/t":                   "postgres://…",
		"postgres://me:s3 cret'@db/t":                  "postgres://…@db/t",
		"--to=postgres://db/t?password=s3cret":         "--to=postgres://db/t?…",
		"trips=https://me:s3cret@h/a.csv?sig=s3cret":   "trips=https://…@h/a.csv?…",
		"montreal/trips.csv=https://h/a?x=s3://s3cret": "montreal/trips.csv=https://h/a?…",
		"--file=a/b=s3://bucket/a@b#s3cret":            "--file=a/b=s3://…@b?…",
		"https://h/a?sig=s3cret@tail":                  "https://…",
		"HTTPS://me:s3cret@h":                          "HTTPS://…@h",
		"SELECT 1 FROM 'https://me:s3cret@h/a?s3cret' -- https://s3cret@x": "SELECT 1 FROM 'https://…@h/a?…' -- https://…@x",
	} {
		if got := Shown(word); got != want {
			t.Errorf("%s is shown as %s, want %s", word, got, want)
		}
	}
}

// TestAClusterWithoutATopology: the page says where the answers are from, and why it shows no stages. The addresses have no password, are
// escaped and bounded in number.
func TestAClusterWithoutATopology(t *testing.T) {
	r := usual(t)
	r.Entries = []string{"tcp://10.0.0.1:5500"}
	if html := written(t, r); strings.Contains(html, "10.0.0.1") {
		t.Error("a page with a topology says that there is none")
	}
	r.Topology, r.Nodes = nil, nil
	r.Entries = append(r.Entries, "tcp://me:s3cret@10.0.0.2:5500", hostile)
	for range 1000 {
		r.Entries = append(r.Entries, strings.Repeat("x", 1000))
	}
	html := written(t, r)
	sound(t, html)
	for _, want := range []string{"tcp://10.0.0.1:5500, tcp://…@10.0.0.2:5500, ", "and 987 more", "--entry",
		`<h2 id="h-cluster">Cluster</h2>`} {
		if !strings.Contains(html, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(html, "s3cret") || len(html) > 1<<20 {
		t.Errorf("the page has %d bytes, or the password", len(html))
	}
	r.Entries = nil
	if html := written(t, r); strings.Contains(html, "h-cluster") {
		t.Error("an answer without a cluster is from one")
	}
}
