package traces

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"posta.dev/posta/cmd/internal/monitor"
	"posta.dev/posta/cmd/internal/tracing"
	"posta.dev/posta/nodes/trace"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/topology"
)

func tracedNode(id topology.NodeID, begin, end time.Duration, line ...trace.State) monitor.Traced {
	x := &trace.Trace{Analysis: "bikes", Begin: begin, End: end, Width: (begin - end) / time.Duration(len(line))}
	for _, s := range line {
		var c trace.Cell
		c[s] = x.Width
		x.States[s] += x.Width
		x.Line = append(x.Line, c)
	}
	return monitor.Traced{Node: topology.Node{ID: id}, Heard: true, Answered: true, At: time.Unix(1000, 0),
		Report: trace.Report{Trace: x, Life: time.Hour}}
}

// TestTrace_Bars: bars of nodes stand on one time line, and a node without the session has blanks.
func TestTrace_Bars(t *testing.T) {
	all := []monitor.Traced{
		tracedNode("input-1", 10*time.Second, 5*time.Second, trace.Working, trace.Blocked),
		tracedNode("joiner-1", 8*time.Second, 2*time.Second, trace.Input, trace.Log, trace.Working),
	}
	all[1].Report.Trace.Recovered = true
	v, known := tracing.New(session.ID{1}, all)
	if !known || v.Length() != 8*time.Second || v.State != session.Done {
		t.Fatalf("%v, %v, %s", known, v.Length(), v.State)
	}
	for i, want := range []string{"#####>>>>>      ", "    ....====####"} {
		if got := bar(v.Bar(&v.Nodes[i], 16), false); got != want {
			t.Errorf("bar %d is %q, want %q", i, got, want)
		}
	}
	text := strings.Join(traceLines(&v, 80, false, time.Unix(1000, 0)), "\n")
	for _, want := range []string{"done: took 8.0s, ended 2.0s ago", "  50%",
		"joiner-1: its process started 1h00m ago, in the middle of the session"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if text := strings.Join(traceLines(&v, 80, true, time.Unix(1000, 0)), "\n"); !strings.Contains(text, "\x1b[32m####") {
		t.Errorf("no colours in %q", text)
	}
}

// TestTrace_SaysWhatIsMissing: a node that was started again, one that has forgotten the session, and one that never had it are told apart.
func TestTrace_SaysWhatIsMissing(t *testing.T) {
	unknown := func(id topology.NodeID, r trace.Report) monitor.Traced {
		return monitor.Traced{Node: topology.Node{ID: id}, Heard: true, Answered: true, At: time.Unix(1000, 0), Report: r}
	}
	v, known := tracing.New(session.ID{1}, []monitor.Traced{
		tracedNode("input-1", 10*time.Second, 5*time.Second, trace.Working), // it began 10 s ago, and ended 5 s ago
		unknown("joiner-1", trace.Report{Life: 3 * time.Second}),
		unknown("joiner-2", trace.Report{Life: 7 * time.Second}),
		unknown("joiner-3", trace.Report{Life: time.Hour, Ended: trace.Kept, Oldest: 2 * time.Second}),
		unknown("joiner-4", trace.Report{Life: time.Hour, Ended: trace.Kept, Oldest: time.Minute}),
		unknown("joiner-5", trace.Report{Life: time.Hour, Ended: 1, Oldest: time.Second}),
	})
	want := []string{
		"joiner-1: its process started 3.0s ago, after the session began; what it did before is lost, because traces are only in memory",
		"joiner-2: its process started 7.0s ago, after the session began; what it did before is lost, because traces are only in memory",
		"joiner-3: it may have forgotten the session, because 256 others have left it since",
		"the session was never at: joiner-4, joiner-5",
	}
	if got := absences(&v); !known || !slices.Equal(got, want) {
		t.Errorf("%v:\n%s", known, strings.Join(got, "\n"))
	}
}

// TestTrace_Forgotten: a session that left too long ago is told from one that was never there.
func TestTrace_Forgotten(t *testing.T) {
	x := monitor.Traced{Node: topology.Node{ID: "input-1"}, Heard: true, Answered: true,
		Report: trace.Report{Life: time.Hour, Ended: trace.Kept, Oldest: time.Minute}}
	busy := monitor.Traced{Node: topology.Node{ID: "joiner-1"}, Heard: true}
	v, known := tracing.New(session.ID{1}, []monitor.Traced{x, busy})
	err := notTraced(session.ID{1}, &topology.Topology{}, &v)
	for _, want := range []string{fmt.Sprintf("each node remembers the last %d sessions, and the oldest of input-1 left 1m00s ago",
		trace.Kept), "no answer from joiner-1: alive"} {
		if known || !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in %v", want, err)
		}
	}
}
