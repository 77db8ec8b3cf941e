package console

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"posta.dev/posta/cmd/internal/monitor"
	"posta.dev/posta/medic/core"
)

// breaking starts a console that injects faults by calling do.
func breaking(do func(kind, target string) (string, error)) func(*Config) {
	return func(c *Config) {
		c.Break = &Breaker{Kinds: []string{"kill", "pause"}, Targets: []string{"joiner-1", "joiner-2", "medic-1"}, Lasts: 1600 * time.Millisecond,
			Break: func(_ context.Context, kind, target string) (string, error) { return do(kind, target) }}
	}
}

// A fault is injected once for each press, into what exists, and the page shows what the medics measured of it.
func TestBreak(t *testing.T) {
	var done atomic.Int32
	var now atomic.Pointer[Seen]
	now.Store(cluster(t, 2, 0))
	address, tokens, _ := serveAll(t, now.Load, breaking(func(kind, target string) (string, error) {
		if kind == "pause" {
			return "", errors.New(hostile)
		}
		done.Add(1)
		return "process 17", nil
	}))
	b := loggedIn(t, address, tokens)
	post := func(form string) (*http.Response, string) {
		t.Helper()
		return b.do("POST", "/break", form, "Origin", "http://"+address)
	}
	for _, form := range []string{"", "fault=kill", "fault=kill&target=joiner-9", "fault=cut&target=joiner-1",
		"fault=kill&target=" + strings.Repeat("x", 1<<20)} {
		if answer, _ := post(form); answer.StatusCode != http.StatusBadRequest {
			t.Errorf("%.40s: %d", form, answer.StatusCode)
		}
	}
	if answer, page := post("fault=kill&target=joiner-1&here=1"); answer.Request.URL.Path != "/node/joiner-1" || done.Load() != 1 ||
		!strings.Contains(page, "process 17): nobody has noticed it yet") {
		t.Errorf("after the kill, at %s:\n%s", answer.Request.URL, page)
	}
	next := cluster(t, 2, 0)
	at := time.Now().Add(time.Second)
	next.Medics.Entries = append(next.Medics.Entries,
		core.Entry{At: at, Kind: core.Suspected, Node: "joiner-1", Silent: 321 * time.Millisecond, Text: "killed"},
		core.Entry{At: at.Add(45 * time.Millisecond), Kind: core.Restarted, Node: "joiner-1"},
		core.Entry{At: at.Add(100 * time.Millisecond), Kind: core.Recovered, Node: "joiner-1", Incarnation: 5})
	now.Store(next)
	if _, page := b.get("/"); !strings.Contains(page,
		"noticed after 321 ms, started again after 45 ms, records flow again after 55 ms: 421 ms in all") {
		t.Errorf("the incident is not shown:\n%s", page)
	}
	if _, page := post("fault=pause&target=medic-1"); !strings.Contains(page, "it did not happen: &lt;/textarea&gt;") ||
		strings.Contains(page, "<img") {
		t.Errorf("a fault that failed:\n%s", page)
	}
	for range 2 * harmsKept {
		post("fault=kill&target=joiner-2")
	}
	if _, page := b.get("/"); strings.Count(page, "nobody has noticed it yet") != harmsKept {
		t.Errorf("%d faults are kept", strings.Count(page, "nobody has noticed it yet"))
	}
}

// TestS5_AWatcherCanBreakNothing: such a user sees no button, and no request injects a fault either.
func TestS5_AWatcherCanBreakNothing(t *testing.T) {
	address, tokens := serve(t, cluster(t, 1, 0))
	b := loggedIn(t, address, tokens)
	if _, page := b.get("/"); strings.Contains(page, "/break") {
		t.Error("the page has a button that breaks something")
	}
	if answer, _ := b.do("POST", "/break", "fault=kill&target=joiner-1", "Origin",
		"http://"+address); answer.StatusCode != http.StatusForbidden {
		t.Errorf("it is done: %d", answer.StatusCode)
	}
}

// Each fault has its own incident: the first that was noticed after it and before the next fault of the same target.
func TestFaultsAndTheirIncidents(t *testing.T) {
	at := func(s int) time.Time { return time.Date(2026, 3, 1, 12, 0, s, 0, time.UTC) }
	s := &Seen{Medics: monitor.Medics{Entries: []core.Entry{
		{At: at(1), Kind: core.Suspected, Node: "a", Silent: time.Millisecond}, {At: at(2), Kind: core.Restarted, Node: "a"},
		{At: at(3), Kind: core.Recovered, Node: "a", Incarnation: 2},
		{At: at(21), Kind: core.Suspected, Node: "a", Silent: 2 * time.Millisecond},
		{At: at(22), Kind: core.Suspected, Node: "b", Silent: 3 * time.Millisecond},
	}}, Harms: []harm{
		{target: "a", kind: "kill", at: at(0)}, {target: "a", kind: "pause", at: at(10)}, {target: "a", kind: "kill", at: at(20)},
		{target: "b", kind: "kill", at: at(30)},
	}}
	var got []string
	for _, r := range s.harmRows() {
		got = append(got, r.Target+": "+r.Outcome)
	}
	want := []string{
		"b: nobody has noticed it yet", "a: noticed after 2 ms", "a: nobody has noticed it yet",
		"a: noticed after 1 ms, started again after 1,000 ms, records flow again after 1,000 ms: 2,001 ms in all",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%s", strings.Join(got, "\n"))
	}
}
