package cmd

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"

	"posta.dev/posta/cmd/internal/display"
	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/cmd/internal/traces"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/test/await"
)

// TestTrace_OfARealCluster: the wait for a node that is stopped shows at the links that lead to it, a collector gets spans, a collector
// that fails changes nothing, and a node that is dead or a session that nobody knows is named.
func TestTrace_OfARealCluster(t *testing.T) {
	k := newTestCluster(t)
	k.must("up")
	dir := data(t, "20000")
	const pause = 2500 * time.Millisecond
	rest := float64(pause.Milliseconds())
	k.killMedics() // they would start joiner-1 again if the machine stood still meanwhile
	k.kill("joiner-1", syscall.SIGSTOP)
	id := strings.TrimSpace(k.must("submit", "bikes", "--data", dir, "--detach").out)
	begun := time.Now()
	goOn := time.AfterFunc(pause, func() { k.kill("joiner-1", syscall.SIGCONT) })
	defer goOn.Stop()
	k.must("results", id)
	if took := time.Since(begun); took < pause {
		t.Fatalf("the session ended after %v, while joiner-1 was stopped", took)
	}

	var spans []byte
	collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/traces" && r.Header.Get("Content-Type") == "application/json" && r.Header.Get("Authorization") == "Bearer a, b" {
			spans, _ = io.ReadAll(r.Body)
		}
	}))
	defer collector.Close()
	var got traces.TraceJSON
	await.Until(t, "all nodes have ended the session", func() bool { // the last of them hears of the end a moment after the client
		r := k.must("trace", id, "--json", "--otlp", collector.URL, "--otlp-header", "Authorization: Bearer a, b")
		got = traces.TraceJSON{}
		if err := json.Unmarshal([]byte(r.out), &got); err != nil {
			t.Fatalf("%v: %s", err, r.out)
		}
		return got.State == string(session.Done) && len(got.Missing) == 0
	})
	if got.Session != id || got.Analysis != "bikes" || len(got.Unknown) != 0 || got.TookMS < rest {
		t.Errorf("the trace is %+v", got)
	}
	checkTracedNodes(t, &got)
	checkStoppedLinks(t, &got, rest*0.8)
	checkSpans(t, spans, strings.ReplaceAll(id, "-", ""), len(got.Nodes))

	r := k.must("trace", id, "--otlp", "http://127.0.0.1:1")
	if !strings.Contains(r.err, "warning: the spans did not reach the collector") {
		t.Errorf("a collector that is not there: %s", r.err)
	}
	for _, line := range strings.Split(r.out, "\n") {
		if display.Width(line) > 80 || strings.Contains(line, "\x1b") {
			t.Errorf("a line of %d columns: %q", display.Width(line), line)
		}
	}
	if !strings.Contains(r.out, "joiner-1") || !strings.Contains(r.out, "fsync p50") {
		t.Errorf("trace prints\n%s", r.out)
	}

	k.kill("joiner-1", syscall.SIGKILL)
	if r := k.must("trace", id); !strings.Contains(r.out, "no answer from joiner-1: dead, hung, or cut off from this machine") {
		t.Errorf("a dead node: %s", r.out)
	}
	for _, unknown := range []string{"6ba7b810-9dad-41d1-80b4-00c04fd430c8"} {
		if r := k.call("trace", unknown); r.code != exit.Session || strings.Count(r.err, "\n") != 1 ||
			!strings.Contains(r.err, "no node that answered knows session "+unknown) {
			t.Errorf("exit code %d, %s", r.code, r.err)
		}
	}
	if r := k.call("trace", id, "--otlp", "localhost:4318"); r.code != exit.Usage || !strings.Contains(r.err, "http://localhost:4318") {
		t.Errorf("exit code %d, %s", r.code, r.err)
	}
	k.must("up")
	if r := k.must("trace", id); !strings.Contains(r.out, "joiner-1: its process started ") ||
		!strings.Contains(r.out, "what it did before is lost, because traces are only in memory") {
		t.Errorf("a node that was started again: %s", r.out)
	}
}

// checkTracedNodes: every node's states add up to its time, and all have worked and stored.
func checkTracedNodes(t *testing.T, got *traces.TraceJSON) {
	t.Helper()
	for _, n := range got.Nodes {
		sum := 0.0
		for _, ms := range n.States {
			sum += ms
		}
		if d := n.ToMS - n.FromMS - sum; d > 1 || d < -1 {
			t.Errorf("%s: states of %.3f ms in %.3f ms", n.Node, sum, n.ToMS-n.FromMS)
		}
		if n.Running || n.Failed || n.Recovered || n.Commits.Count == 0 || n.Fsyncs.MaxMS <= 0 || len(n.Stages) == 0 || len(n.Line) == 0 {
			t.Errorf("%+v", n)
		}
	}
}

// checkStoppedLinks: frames waited for joiner-1, at its senders, for as long as it was stopped.
func checkStoppedLinks(t *testing.T, got *traces.TraceJSON, least float64) {
	t.Helper()
	longest, others := 0.0, 0.0
	for _, l := range got.Links {
		switch {
		case l.Sent == nil:
		case strings.HasPrefix(l.From, "input-"): // to joiner-1, or in a broadcast that joiner-1 has to get, too
			longest = max(longest, l.Sent.MaxMS)
		case l.From == "joiner-2":
			others = max(others, l.Sent.MaxMS)
		}
	}
	if longest < least || longest <= others {
		t.Errorf("frames to joiner-1 waited for %.0f ms, those of joiner-2 for %.0f ms: %+v", longest, others, got.Links)
	}
}

func checkSpans(t *testing.T, body []byte, traceID string, nodes int) {
	t.Helper()
	var doc struct {
		ResourceSpans []struct {
			Resource struct {
				Attributes []struct {
					Key   string
					Value struct{ StringValue string }
				}
			}
			ScopeSpans []struct {
				Spans []struct {
					TraceID, SpanID, ParentSpanID, Name string
					StartTimeUnixNano, EndTimeUnixNano  int64 `json:",string"`
				}
			}
		}
	}
	if err := json.Unmarshal(body, &doc); err != nil || len(doc.ResourceSpans) != nodes+1 {
		t.Fatalf("%v: %s", err, body)
	}
	root := doc.ResourceSpans[0].ScopeSpans[0].Spans[0]
	ids := map[string]bool{root.SpanID: true}
	for _, r := range doc.ResourceSpans[1:] {
		for _, s := range r.ScopeSpans[0].Spans {
			if s.TraceID != traceID || len(s.SpanID) != 16 || ids[s.SpanID] || !ids[s.ParentSpanID] || s.EndTimeUnixNano < s.StartTimeUnixNano ||
				s.StartTimeUnixNano < root.StartTimeUnixNano || s.EndTimeUnixNano > root.EndTimeUnixNano {
				t.Errorf("span %+v below %+v", s, root)
			}
			ids[s.SpanID] = true
		}
	}
}
