package board

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/muesli/cancelreader"
	"go.uber.org/goleak"

	"posta.dev/posta/cmd/internal/display"
	"posta.dev/posta/cmd/internal/monitor"
	"posta.dev/posta/link"
	"posta.dev/posta/medic/core"
	"posta.dev/posta/nodes/heartbeat"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/test/temp"
	"posta.dev/posta/topology"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var update = flag.Bool("update", false, "write the screens of testdata")

// cluster returns a healthy cluster, except for a dead joiner, a blocked one, and one with trouble.
func cluster(t testing.TB, joiners, sessions int) *Seen {
	t.Helper()
	tp := temp.Parsed(t, topology.Variant{Dir: "/nowhere", IPCDir: "/nowhere/sockets", Replicas: map[string]int{"joiner": joiners}})
	s := &Seen{Topology: tp, At: time.Date(2026, 3, 1, 12, 30, 5, 0, time.UTC)}
	for i, n := range tp.Nodes() {
		st := monitor.Status{Node: n, Heard: true, Age: 50 * time.Millisecond, Span: 2 * time.Second, InRate: 12e6 / float64(i+1), OutRate: 4e6}
		st.Beat = heartbeat.Beat{
			Node: link.NodeID(n.ID), ID: link.Identity{Incarnation: 3}, PID: 4711, State: heartbeat.Running, Uptime: time.Hour, LogBytes: 5 << 20,
			Memory: 77 << 20, Sessions: sessions,
		}
		for _, e := range tp.EdgesFrom(n.Stage) {
			for _, to := range tp.Receivers(e) {
				st.Beat.Links = append(st.Beat.Links, heartbeat.Link{Edge: e.Name(), To: link.NodeID(to.ID), Bytes: 1 << 20})
			}
		}
		switch n.ID {
		case "joiner-1":
			st.Age = time.Minute
		case "joiner-2":
			st.Beat.Links[0].Full, st.Beat.State = true, heartbeat.Blocked
		case "reducer-1":
			st.Beat.Trouble = "the broker is\x1b[2J away; start it"
		case "output-1":
			st.Heard = false
		}
		s.Nodes = append(s.Nodes, st)
	}
	term := core.Term{Gen: 5, Leader: "medic-2"}
	s.Medics = monitor.Medics{Term: term, Led: true}
	for _, n := range tp.MedicNodes() {
		s.Medics.All = append(s.Medics.All, monitor.Medic{Node: n, Heard: true, Beat: core.Message{Term: term, Leading: n.ID == "medic-2"}})
	}
	for i, node := range []topology.NodeID{"joiner-1", "input-1"} {
		at := s.At.Add(time.Duration(i) * time.Minute)
		s.Medics.Entries = append(s.Medics.Entries, core.Entry{At: at, Kind: core.Suspected, Node: node, Silent: 812 * time.Millisecond,
			Text: "killed"},
			core.Entry{At: at.Add(45 * time.Millisecond), Kind: core.Restarted, Node: node})
		if i == 0 {
			s.Medics.Entries = append(s.Medics.Entries, core.Entry{At: at.Add(345 * time.Millisecond), Kind: core.Recovered, Node: node,
				Incarnation: 4})
		}
	}
	for i := range sessions {
		v := Session{PerSecond: float64(i) * 1e6, Session: monitor.Session{
			ID: session.ID{byte(i >> 8), byte(i), 0xab}, Analysis: "bikes", State: session.Running, Age: time.Duration(i+1) * time.Second,
			Bytes: uint64(i) << 20,
		}}
		if i%3 == 1 {
			v.FilesRead, v.FilesSize, v.FilesLeft = uint64(i), uint64(i)+7, time.Duration(i)*time.Minute
		}
		if i%2 == 1 {
			v.Analysis, v.Asks, v.Owner = "sql",
				"SELECT city, count(*) AS trips FROM trips WHERE km > 5 GROUP BY city ORDER BY 2 DESC -- pass 2 of 2\n東京", "anna"
		}
		s.Sessions = append(s.Sessions, v)
	}
	return s
}

// TestEveryScreenFits: each view fits into a screen of any size: no line is wider than the screen, and there are no more lines.
func TestEveryScreenFits(t *testing.T) {
	empty := &Seen{Topology: &topology.Topology{}}
	for name, s := range map[string]*Seen{"nothing": empty, "small": cluster(t, 2, 3), "large": cluster(t, 44, 1000)} {
		for _, size := range [][2]int{{80, 24}, {200, 60}, {20, 5}, {1, 1}, {0, 0}, {-3, -3}, {40, 200}, {500, 3}} {
			for v := range views {
				froms := []int{3}
				if size[1] == 24 {
					froms = []int{-5, 0, 3, 1 << 30}
				}
				for _, from := range froms {
					c := Screen{View: v, From: from, Width: size[0], Height: size[1]}
					lines, last := Draw(s, c)
					if len(lines) != max(1, size[1]) || last < 0 {
						t.Errorf("%s, %s at %v: %d lines, scrolls to %d", name, names[v], size, len(lines), last)
					}
					for _, l := range lines {
						if display.Width(l) > max(1, size[0]) || strings.ContainsAny(l, "\x1b\n\r\t") {
							t.Errorf("%s, %s at %v: %d wide: %q", name, names[v], size, display.Width(l), l)
						}
					}
					c.Colours = true
					coloured, _ := Draw(s, c)
					for i := range coloured {
						if plain := withoutColours(coloured[i]); plain != lines[i] {
							t.Errorf("colours change the text: %q, %q", plain, lines[i])
						}
					}
				}
			}
		}
	}
}

func withoutColours(text string) string {
	for {
		before, rest, found := strings.Cut(text, "\x1b[")
		_, after, ended := strings.Cut(rest, "m")
		if !found || !ended {
			return text
		}
		text = before + after
	}
}

// TestScreens compares whole screens with files. -update writes them.
func TestScreens(t *testing.T) {
	for _, c := range []struct {
		joiners, sessions, width, height int
	}{{2, 3, 80, 24}, {2, 3, 200, 60}, {44, 1000, 80, 24}, {44, 1000, 200, 60}, {2, 3, 20, 5}} {
		s := cluster(t, c.joiners, c.sessions)
		var got strings.Builder
		for v := range views {
			fmt.Fprintf(&got, "== %s ==\n", names[v])
			lines, _ := Draw(s, Screen{View: v, Width: c.width, Height: c.height})
			for _, l := range lines {
				got.WriteString(strings.TrimRight(l, " ") + "\n")
			}
		}
		file := fmt.Sprintf("testdata/%dx%d_%d_nodes.txt", c.width, c.height, len(s.Nodes))
		if *update {
			if err := os.WriteFile(file, []byte(got.String()), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if want, err := os.ReadFile(file); err != nil || got.String() != string(want) {
			t.Errorf("%s differs (%v); go test ./cmd/internal/board -update writes it, git diff shows what changes", file, err)
		}
	}
}

func TestKeys(t *testing.T) {
	s := cluster(t, 44, 0)
	m := &model{screen: Screen{Width: 80, Height: 24}}
	press := func(keys ...string) {
		for _, k := range keys {
			m.press(k)
		}
	}
	press("j", "l", "end") // before any view was drawn
	m.see(s)
	at := func() Screen { return m.screen }
	for _, c := range []struct {
		keys []string
		view View
	}{{[]string{"l"}, Links}, {[]string{"s"}, Sessions}, {[]string{"i"}, Incidents}, {[]string{"h"}, Help}, {[]string{"tab"}, Nodes},
		{[]string{"?"}, Help}, {[]string{"x", "n"}, Nodes}} {
		if press(c.keys...); at().View != c.view {
			t.Errorf("%v leads to %s", c.keys, names[at().View])
		}
	}
	press("j", "j", "k")
	if at().From != 1 {
		t.Errorf("scrolled to %d", at().From)
	}
	press("pgdown", " ", "pgdown", "pgdown", "pgdown", "j")
	end := at().From
	if press("end", "j"); end == 0 || at().From != end {
		t.Errorf("the end is %d, and %d", end, at().From)
	}
	m.resize(80, 200) // everything fits
	if at().From != 0 {
		t.Errorf("scrolled to %d where nothing is left", at().From)
	}
	if !m.press("q") {
		t.Error("q does not end it")
	}
}

// Keys are told apart however many arrive at once; sequences that stand for nothing here are ignored.
func TestKeysAreCutApart(t *testing.T) {
	for typed, want := range map[string]string{
		"lsq": "l s q", "\x1b[A\x1bOBk": "up down k", "\x1b[5~\x1b[6~ \x1b[Z\t": "pgup pgdown   shift+tab tab", "\x03": "ctrl+c", "\x1b": "esc",
		"\x1b[1;5Aq": "q", "\x1b[?2026;2$yq": "q", "\x1bxq": "q", "\x1b[": "", "\x1b[1;": "", "é\xffj\r\x7f": "é \xff j",
		"\x1b[H\x1b[4~": "home end",
	} {
		var got []string
		for rest := []byte(typed); len(rest) > 0; {
			var key string
			if key, rest = cutKey(rest); key != "" {
				got = append(got, key)
			}
		}
		if text := strings.Join(got, " "); text != want {
			t.Errorf("%q is %q, want %q", typed, text, want)
		}
	}
}

// The board ends by a key, by its context, and when there is nothing to look at any more; its goroutines end with it.
func TestEnds(t *testing.T) {
	gone := errors.New("gone")
	s := cluster(t, 2, 1)
	for name, c := range map[string]struct {
		typed  string
		fail   error
		cancel bool
	}{"key": {typed: "lsihnq"}, "context": {cancel: true}, "look": {fail: gone}} {
		ctx, cancel := context.WithCancel(t.Context())
		looks := 0
		look := func(ctx context.Context) (*Seen, error) {
			if looks++; looks == 1 {
				return s, nil
			}
			if c.cancel {
				cancel()
			}
			if c.fail != nil {
				return nil, c.fail
			}
			<-ctx.Done()
			return nil, ctx.Err()
		}
		in, err := cancelreader.NewReader(strings.NewReader(c.typed))
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		err = run(ctx, look, view{in: in, out: &out, size: func() (int, int) { return 80, 24 }, colours: true})
		cancel()
		if !errors.Is(err, c.fail) || c.fail == nil && err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if !strings.HasPrefix(out.String(), enterScreen) || !strings.HasSuffix(out.String(), leaveScreen) {
			t.Errorf("%s: the terminal is not given back: %q", name, out.String())
		}
	}
}

// A terminal whose size changes has moved its lines, so that all is drawn again even if it looks the same.
func TestAResizedTerminalIsDrawnAgain(t *testing.T) {
	news, keys, resized := make(chan *Seen), make(chan string), make(chan os.Signal)
	var out bytes.Buffer
	ended := make(chan error)
	v := view{out: &out, resized: resized, size: func() (int, int) { return 80, 5 }}
	go func() { ended <- v.show(t.Context(), news, keys, nil) }()
	news <- cluster(t, 2, 1)
	keys <- "x" // changes nothing, so nothing is drawn
	resized <- syscall.SIGWINCH
	keys <- "q"
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	frames := strings.Split(out.String(), "\x1b[H")
	if n := len(frames); n != 4 || !strings.Contains(frames[2], "medic-2 leads") || frames[3] != frames[2] ||
		strings.Count(frames[3], "\x1b[2K") != 5 {
		t.Errorf("%d frames: %q", n, frames)
	}
}

func TestMeter(t *testing.T) {
	var m Meter
	now := time.Now()
	of := func(bytes uint64, state session.State) []monitor.Session {
		return []monitor.Session{{ID: session.ID{1}, Bytes: 5, State: session.Done},
			{ID: session.ID{2}, Bytes: bytes, State: state, Age: time.Minute}}
	}
	if all := m.Measure(of(100, session.Running), now); all[0].ID != (session.ID{2}) || all[0].PerSecond != 0 {
		t.Errorf("%+v", all)
	}
	if all := m.Measure(of(300, session.Running), now.Add(2*time.Second)); all[0].PerSecond != 100 {
		t.Errorf("%+v", all)
	}
	if all := m.Measure(of(200, session.Running), now.Add(3*time.Second)); all[0].PerSecond != 0 { // an input has forgotten the session
		t.Errorf("%+v", all)
	}
}
