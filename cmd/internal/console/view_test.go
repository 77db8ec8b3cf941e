package console

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"posta.dev/posta/link"
	"posta.dev/posta/nodes/heartbeat"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
)

// page draws a page as a browser gets it.
func drawn(t testing.TB, s *Seen, path string) string {
	t.Helper()
	p, err := placeOf(path)
	if err != nil {
		t.Fatal(err)
	}
	v, err := draw(s, p)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := templates().ExecuteTemplate(&b, "page", v); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Everything that the overview is for is in its HTML, so that it can be read without JavaScript.
func TestTheOverviewShowsTheCluster(t *testing.T) {
	s := cluster(t, 3, 40)
	s.named(t, "joiner-2").Age = 10 * time.Second // silent
	input := s.named(t, "input-1")
	for i := range input.Beat.Links {
		if input.Beat.Links[i].To == "joiner-3" {
			input.Beat.Links[i].Full = true
		}
	}
	s.named(t, "reducer-1").Beat.Trouble = "the disk is slow"
	html := drawn(t, s, "/")
	for _, want := range []string{
		"1 with trouble, 1 blocked, 1 silent or damaged", "medic-2 leads in generation 5, 3 of 3 medics up",
		"trouble: reducer-1: the disk is slow",
		`class="box dead" aria-label="joiner-2`, `class="box blocked" aria-label="input-1`, "blocked on joiner-3", `class="line full"`,
		">full</text>",
		"77.0 MiB", "812 ms", "45 ms", "300 ms", "1,157 ms", "flowing again, incarnation 4", "40 running, 0 ended", "All sessions: 10 more",
		`href="/node/joiner-3"`,
	} {
		if !strings.Contains(html, want) {
			t.Errorf("the overview lacks %q", want)
		}
	}
	if strings.Count(html, "12.0 MB") > 0 || !strings.Contains(html, "11.4 MiB/s") {
		t.Error("a rate of 12e6 bytes a second is not shown as 11.4 MiB/s")
	}
}

// A dead node has no rate any more, a session that nobody knows is said to be that, and each node and session has its page.
func TestPagesOfOneThing(t *testing.T) {
	s := cluster(t, 2, 3)
	s.named(t, "joiner-1").Age = time.Minute
	s.named(t, "joiner-2").Beat.Links[0].Full = true
	for path, wants := range map[string][]string{
		"/node/joiner-1": {"silent", "Incarnation", "nothing, 1.0 GiB in", "1m00s ago", "flowing again"},
		"/node/joiner-2": {"blocked on aggregator-", "> full<", "11.4 MiB/s, 1.0 GiB in"},
		"/session/" + s.Sessions[0].Session.String():    {"running", "bikes", "1.0 MiB", "posta results 0000ab00-", "input-1"},
		"/session/6ba7b810-9dad-41d1-80b4-00c04fd430c8": {"Not known"},
		"/sessions": {"1 to 3 of 3", "3 running"},
	} {
		html := drawn(t, s, path)
		for _, want := range wants {
			if !strings.Contains(html, want) {
				t.Errorf("%s lacks %q", path, want)
			}
		}
	}
	for _, path := range []string{"/node/", "/node/joiner-9", "/nope", "/session/17", "/session/", "/sessions?from=-1", "/sessions?from=x",
		"/sessions/x", "", "//", "%zz", "/" + strings.Repeat("x", 2000)} {
		p, err := placeOf(path)
		if err == nil {
			_, err = draw(s, p)
		}
		if !errors.Is(err, errNoPage) {
			t.Errorf("%.50q leads somewhere: %+v, %v", path, p, err)
		}
	}
}

// What a session took in is told by inputs. When they have forgotten it, nothing is said, which is not the same as 0.
func TestSessionsThatInputsHaveForgotten(t *testing.T) {
	s := cluster(t, 1, 1)
	id := s.Sessions[0].Session.String()
	s.Sessions[0].Node, s.Sessions[0].State, s.Sessions[0].Bytes = "output-1", session.Done, 2048
	html := drawn(t, s, "/session/"+id)
	if strings.Contains(html, "taken in") || !strings.Contains(html, "2.0 KiB of answers") || !strings.Contains(html, "done") {
		t.Error(html)
	}
}

// TestSessionsShowHowFarTheirFilesAre in lists and on their page, for as long as their client tells it.
func TestSessionsShowHowFarTheirFilesAre(t *testing.T) {
	s := cluster(t, 1, 1)
	paths := []string{"/", "/sessions", "/session/" + s.Sessions[0].Session.String()}
	for _, path := range paths {
		if html := drawn(t, s, path); strings.Contains(html, "%,") || strings.Contains(html, "ETA") || strings.Contains(html, "<dt>Files read") {
			t.Errorf("%s says it of a client that does not tell it", path)
		}
	}
	s.Sessions[0].FilesRead, s.Sessions[0].FilesSize, s.Sessions[0].FilesLeft = 1, 3, 42*time.Second
	for _, path := range paths {
		if html := drawn(t, s, path); !strings.Contains(html, "33%, ETA 40s") {
			t.Errorf("%s lacks it", path)
		}
	}
}

// A session of SQL is shown with what it asks: its beginning in tables, more on its page.
func TestSessionsSayWhatTheyAsk(t *testing.T) {
	s := cluster(t, 1, 1)
	asks := "SELECT city, count(*) FROM trips WHERE km < 3 GROUP BY city ORDER BY city LIMIT 10 OFFSET 20"
	s.Sessions[0].Asks = asks
	escaped := strings.ReplaceAll(asks, "<", "&lt;")
	if html := drawn(t, s, "/"); !strings.Contains(html, escaped[:60]) || strings.Contains(html, "OFFSET 20") {
		t.Error("the overview does not have the beginning alone")
	}
	if html := drawn(t, s, "/session/"+s.Sessions[0].Session.String()); !strings.Contains(html, escaped) {
		t.Error("its page lacks the statement")
	}
}

// TestSessionsInOrder: what runs comes first, and 1,000 sessions are shown a hundred at a time, each once.
func TestSessionsInOrder(t *testing.T) {
	s := cluster(t, 2, 1000)
	for i := range 500 {
		s.Sessions[i].State = session.Done
	}
	seen := map[string]bool{}
	var order strings.Builder
	for path := "/sessions"; path != ""; {
		p, err := placeOf(path)
		if err != nil {
			t.Fatal(err)
		}
		list := s.sessionList(p.from)
		if len(list.Rows) != sessionsOnPage || (list.Earlier == "") != (p.from == 0) {
			t.Fatalf("%s has %d rows, and %q before it", path, len(list.Rows), list.Earlier)
		}
		for _, r := range list.Rows {
			seen[r.ID] = true
			order.WriteByte(r.State[0])
		}
		path = list.Later
	}
	if want := strings.Repeat("r", 500) + strings.Repeat("d", 500); len(seen) != 1000 || order.String() != want {
		t.Errorf("%d sessions, in the order %s", len(seen), order.String())
	}
	if list := s.sessionList(1 << 30); len(list.Rows) != sessionsOnPage || list.Later != "" {
		t.Errorf("far behind the end there are %d rows", len(list.Rows))
	}
}

// What nodes and clients say is shown as text, whatever is in it, and it has an end.
func TestTextFromOutsideIsEscapedAndBounded(t *testing.T) {
	s := cluster(t, 2, 0)
	evil := `</script><script>alert(1)</script><img src=x onerror=alert(1)>"'` + "\x1b[2J\u202e"
	n := s.named(t, "joiner-1")
	n.Beat.Trouble, n.Beat.State = evil, heartbeat.State(evil)
	n.Beat.Links = append(n.Beat.Links, heartbeat.Link{Edge: evil, To: link.NodeID(evil), Full: true})
	n.Beat.MarkAge, n.Beat.Role, n.Beat.Stream = time.Hour, evil, evil
	s.Trouble = []string{evil}
	id := session.ID{1}
	s.Sessions = []protocol.SessionInfo{{Session: id, Asks: "SELECT '" + evil + "'" + strings.Repeat("x", 1<<10),
		Analysis: evil + strings.Repeat("x", 1<<16), Owner: evil, State: session.State(evil), Node: evil}}
	s.Medics.Entries[0].Text, s.Medics.Entries[2].Node = evil, "joiner-2"
	for _, path := range []string{"/", "/node/joiner-1", "/sessions", "/session/" + id.String()} {
		html := drawn(t, s, path)
		for _, bad := range []string{"<script>alert", "<img", "\x1b", "\u202e", strings.Repeat("x", 700)} {
			if strings.Contains(html, bad) {
				t.Errorf("%s has %q", path, bad)
			}
		}
		if !strings.Contains(html, "&lt;img") {
			t.Errorf("%s does not show what was said", path)
		}
	}
}

// Parts are well formed, so a browser makes of them what the server means. Pictures have a text.
func TestPartsAreWellFormed(t *testing.T) {
	s := remembered(cluster(t, 4, 12), momentsKept)
	s.named(t, "joiner-1").Age = time.Minute
	for _, path := range []string{"/", "/node/joiner-1", "/sessions", "/session/" + s.Sessions[0].Session.String()} {
		html := drawn(t, s, path)
		_, body, _ := strings.Cut(html, "<body>")
		body, _, _ = strings.Cut(body, "</body>")
		for _, empty := range []string{"<br>"} {
			body = strings.ReplaceAll(body, empty, "")
		}
		d := xml.NewDecoder(strings.NewReader("<body>" + body + "</body>"))
		d.Entity = xml.HTMLEntity
		ids := map[string]bool{}
		for {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			start, ok := token.(xml.StartElement)
			for _, a := range start.Attr {
				if ok && a.Name.Local == "id" && ids[a.Value] {
					t.Errorf("%s has the id %s twice", path, a.Value)
				}
				if ok && a.Name.Local == "id" {
					ids[a.Value] = true
				}
				if a.Name.Local == "style" || strings.HasPrefix(a.Name.Local, "on") {
					t.Errorf("%s: <%s %s>: the policy forbids what is written within a page", path, start.Name.Local, a.Name.Local)
				}
			}
		}
		for _, m := range strings.Split(html, `aria-labelledby="`)[1:] {
			if id, _, _ := strings.Cut(m, `"`); !ids[id] {
				t.Errorf("%s is labelled by %q, which it lacks", path, id)
			}
		}
	}
}

// The largest page with all that it loads is below 200 kB: 50 nodes, 1,000 sessions, and a past of 10 minutes.
func TestPagesAreSmall(t *testing.T) {
	s := remembered(cluster(t, 45, 1000), momentsKept)
	if len(s.Nodes) < 50 {
		t.Fatalf("%d nodes", len(s.Nodes))
	}
	loaded := 0
	for _, name := range []string{"style.css", "console.js", "icon.svg"} {
		b, err := files.ReadFile("page/" + name)
		if err != nil {
			t.Fatal(err)
		}
		loaded += len(b)
	}
	for _, path := range []string{"/", "/sessions"} {
		if n := len(drawn(t, s, path)) + loaded; n > 200_000 {
			t.Errorf("%s has %d bytes", path, n)
		} else {
			t.Logf("%s: %d bytes", path, n)
		}
	}
}

func BenchmarkOverview(b *testing.B) {
	s := remembered(cluster(b, 45, 1000), momentsKept)
	for b.Loop() {
		if _, err := draw(s, place{kind: "overview"}); err != nil {
			b.Fatal(err)
		}
	}
}
