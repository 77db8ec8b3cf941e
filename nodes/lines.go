package nodes

import (
	"posta.dev/posta/link"
	"posta.dev/posta/nodes/lastlog"
)

// askedForLines wakes the goroutine of the heartbeats, which answers even while the node opens its log, waits for a repair, or hangs.
// Questions that come before the answer share it: it goes to all who have asked.
func (x *node) askedForLines() {
	select {
	case x.linesAsked <- struct{}{}:
	default:
	}
}

func (x *node) tellLines() {
	if t, ok := x.tr.(link.LinesTeller); ok {
		t.Lines(lastlog.Append(nil, x.lines.Lines()))
	}
}
