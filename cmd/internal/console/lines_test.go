package console

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"posta.dev/posta/cmd/internal/monitor"
	"posta.dev/posta/nodes/lastlog"
	"posta.dev/posta/topology"
)

// logging lets a console show the lines of joiner-1's log.
func logging(lines func() monitor.Lines) func(*Config) {
	return func(c *Config) {
		c.Lines = func(ctx context.Context, node topology.NodeID) monitor.Lines {
			if node == "joiner-1" {
				return lines()
			}
			<-ctx.Done() // the others do not answer
			return monitor.Lines{}
		}
	}
}

// someLines are lines that a page must show as text.
func someLines() monitor.Lines {
	return monitor.Lines{At: time.Date(2016, 3, 1, 12, 0, 0, 0, time.UTC), All: []lastlog.Line{
		{Age: 13 * time.Hour, Level: "INFO", Text: "msg=running incarnation=3"},
		{Age: 61 * time.Second, Level: "WARN", Text: `msg="frames of a stranger \x1b" name="` + hostile + `"`},
		{Age: time.Second, Level: "ERROR", Text: "msg=\"W2: this node's log is damaged\" " + strings.Repeat("x", 9<<10)},
	}}
}

// A node's page has the last lines of its log, newest first, bounded, and as text. A node that does not answer does not hold up its page
// for long.
func TestTheLastLinesOfALog(t *testing.T) {
	s := cluster(t, 2, 0)
	var asked atomic.Int32
	address, tokens, _ := serveAll(t, func() *Seen { return s }, logging(func() monitor.Lines {
		asked.Add(1)
		lines := someLines()
		for len(lines.All) < lastlog.MaxLines {
			lines.All = append([]lastlog.Line{{Level: "INFO", Text: "an old line"}}, lines.All...)
		}
		return lines
	}))
	b := loggedIn(t, address, tokens)
	_, page := b.get("/node/joiner-1")
	at := -1
	for _, want := range []string{"Last lines of its log", ">11:59:59<", "ERROR", ">11:58:59<", "WARN", "&lt;", ">2016-02-29 23:00:00<",
		"msg=running incarnation=3", "an old line"} {
		next := strings.Index(page, want)
		if next <= at {
			t.Errorf("%q is at %d, after %d:\n%s", want, next, at, page)
		}
		at = next
	}
	if strings.Contains(page, hostile) || strings.Count(page, "an old line") != linesOnPage-3 || len(page) > 64<<10 {
		t.Errorf("the page has %d bytes:\n%s", len(page), page)
	}
	before := asked.Load()
	for _, path := range []string{"/", "/node/joiner-2"} {
		if _, page := b.get(path); strings.Contains(page, "an old line") {
			t.Errorf("%s shows another node's log", path)
		}
	}
	if _, page := b.get("/node/joiner-2"); !strings.Contains(page, "has not reported any") {
		t.Errorf("a node that does not answer:\n%s", page)
	}
	if n := asked.Load(); n != before {
		t.Errorf("pages of others ask joiner-1 %d times", n-before)
	}
}

// A console that cannot ask shows no logs.
func TestNoLines(t *testing.T) {
	address, tokens := serve(t, cluster(t, 2, 0))
	if _, page := loggedIn(t, address, tokens).get("/node/joiner-1"); strings.Contains(page, "its log") {
		t.Errorf("there is\n%s", page)
	}
}
