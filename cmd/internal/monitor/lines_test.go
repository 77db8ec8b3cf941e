package monitor

import (
	"testing"
	"time"

	nodecontrol "posta.dev/posta/link/control"
	"posta.dev/posta/nodes/lastlog"
)

// Lines count only from the node that they are of, and stay when it dies.
func TestLinesOfANode(t *testing.T) {
	b := board()
	lines := []lastlog.Line{{Age: time.Second, Level: "WARN", Text: "msg=x"}}
	report := lastlog.Append(nil, lines)
	b.take(nodecontrol.LinesTopic("a-1"), report, "b-1", begin)
	b.take(nodecontrol.LinesTopic("a-1"), report[:len(report)-1], "a-1", begin)
	b.take(heartbeatTopic, report, "a-1", begin)
	if len(b.lines) != 0 {
		t.Fatalf("lines of nobody are %+v", b.lines)
	}
	b.take(nodecontrol.LinesTopic("a-1"), report, "a-1", begin)
	b.take(nodecontrol.LinesTopic("a-1"), []byte("not a report"), "a-1", begin.Add(time.Hour))
	if got := b.lines["a-1"]; !got.At.Equal(begin) || len(got.All) != 1 || got.All[0] != lines[0] || len(b.lines) != 1 {
		t.Fatalf("the lines are %+v", b.lines)
	}
}
