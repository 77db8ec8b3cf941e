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
	"posta.dev/posta/cmd/internal/tracing"
	"posta.dev/posta/nodes/trace"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/topology"
)

// TestTraced: a session's page leads to its trace, which is a table of bars and shares. What cannot be traced is said, and at most two
// pages ask at once.
func TestTraced(t *testing.T) {
	s := cluster(t, 2, 1)
	id := s.Sessions[0].Session
	var running atomic.Bool
	asked, answer := make(chan struct{}, 8), make(chan struct{})
	address, tokens, _ := serveAll(t, func() *Seen { return s }, func(c *Config) {
		c.Trace = func(ctx context.Context, which session.ID) (tracing.View, error) {
			asked <- struct{}{}
			select {
			case <-answer:
			case <-ctx.Done():
				return tracing.View{}, ctx.Err()
			}
			if which != id {
				return tracing.View{}, errors.New("no node knows <b>it</b>")
			}
			x := trace.Trace{Analysis: "bikes", Begin: 4 * time.Second, Width: 2 * time.Second,
				Line: []trace.Cell{{trace.Working: 2 * time.Second}, {trace.Blocked: 2 * time.Second}}}
			x.Running = running.Load()
			x.States = trace.Cell{trace.Working: 2 * time.Second, trace.Blocked: 2 * time.Second}
			v, _ := tracing.New(which, []monitor.Traced{
				{Node: topology.Node{ID: "joiner-1"}, Heard: true, Answered: true, At: time.Unix(1000, 0), Report: trace.Report{Trace: &x}},
				{Node: topology.Node{ID: "output-1"}},
			})
			return v, nil
		}
	})
	s.Sessions[0].Asks = "SELECT <i>1</i>"
	b := loggedIn(t, address, tokens)
	path := "/session/" + id.String()
	if _, page := b.get(path); !strings.Contains(page, `href="`+path+`/trace"`) {
		t.Errorf("the session's page does not lead to the trace:\n%s", page)
	}

	type got struct {
		code int
		page string
	}
	pages := make(chan got, 2)
	for range 2 {
		go func() {
			r, page := b.get(path + "/trace")
			pages <- got{r.StatusCode, page}
		}()
		<-asked
	}
	if r, page := b.get(path + "/trace"); r.StatusCode != http.StatusServiceUnavailable || !strings.Contains(page, "Reload") {
		t.Errorf("a third page: %d\n%s", r.StatusCode, page)
	}
	close(answer)
	for range 2 {
		p := <-pages
		for _, want := range []string{strings.Repeat("#", traceCells/2) + strings.Repeat("&gt;", traceCells/2), "50 %",
			"output-1 did not answer", "<code>SELECT &lt;i&gt;1&lt;/i&gt;</code>"} {
			if p.code != http.StatusOK || !strings.Contains(p.page, want) {
				t.Errorf("%d, no %q in\n%s", p.code, want, p.page)
			}
		}
	}
	if strings.Contains(page(b, path+"/trace"), `http-equiv`) {
		t.Error("the trace of a session that has ended is loaded again and again")
	}
	running.Store(true)
	if got := page(b, path+"/trace"); !strings.Contains(got, `<meta http-equiv="refresh" content="3">`) {
		t.Errorf("the trace of a session that runs is not loaded again:\n%s", got)
	}
	if r, page := b.get("/session/" + session.New().String() + "/trace"); r.StatusCode != http.StatusNotFound ||
		!strings.Contains(page, "no node knows &lt;b&gt;it") {
		t.Errorf("an unknown session: %d\n%s", r.StatusCode, page)
	}
	if r, _ := b.get("/session/nonsense/trace"); r.StatusCode != http.StatusNotFound {
		t.Errorf("no session: %d", r.StatusCode)
	}
}

func page(b *browser, path string) string {
	_, text := b.get(path)
	return text
}
