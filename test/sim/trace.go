package sim

import (
	"bytes"
	"slices"
	"time"

	"posta.dev/posta/link"
	"posta.dev/posta/nodes/core"
	"posta.dev/posta/nodes/shell"
	"posta.dev/posta/nodes/trace"
	"posta.dev/posta/protocol/session"
)

// askEvery is after how many steps a node is asked again where the time of its sessions went.
const askEvery = 31

// record makes the node record, by the world's clock, where the time of its sessions goes.
func (n *node) record(c *core.Config) {
	c.Trace = core.NewRecorder(c, func() time.Duration { return n.w.At })
}

// askForTraces asks the node, from time to time, for the traces of all sessions. It draws no random number, so that seeds keep their runs.
func (n *node) askForTraces() {
	if n.steps++; n.steps%askEvery != 0 {
		return
	}
	for _, c := range n.w.clients {
		n.shell.Event(n.now(), link.Event{Asked: &c.id})
	}
}

// checkReports checks what the node reports about sessions.
func (n *node) checkReports(o *shell.Output) {
	for i := range o.Reports {
		r := &o.Reports[i]
		again, err := trace.DecodeReport(r.Append(nil))
		switch {
		case err != nil:
			n.w.fail("N8: the report of %s about session %s cannot be read: %v", n.id, r.Session, err)
		case !bytes.Equal(again.Append(nil), r.Append(nil)):
			n.w.fail("N8: the report of %s about session %s is another one when it is read", n.id, r.Session)
		case r.Trace != nil:
			n.checkTrace(r.Session, r.Trace)
		}
	}
}

// checkTrace checks that a session is in one state at a time: the states add up to its time in this incarnation of the node, and so do the
// cells of the line.
func (n *node) checkTrace(id session.ID, t *trace.Trace) {
	var line trace.Cell
	for i := range t.Line {
		for s, d := range t.Line[i] {
			line[s] += d
		}
	}
	if length := t.Begin - t.End; sum(t.States) != length || line != t.States {
		n.w.fail("N8: %s says that session %s took %v, in states %v, in the line %v", n.id, id, length, t.States, line)
	}
	for _, q := range t.Out {
		if q.Waiting > q.Bytes || q.Peak > q.Bytes {
			n.w.fail("N8: %s says that more of session %s waits than was sent: %+v", n.id, id, q)
		}
	}
	for _, q := range slices.Concat(t.In, t.Out) {
		if q.Mean > q.Max {
			n.w.fail("N8: %s says that frames of session %s wait longer in the mean than at most: %+v", n.id, id, q)
		}
	}
}

// checkTracesAtRest checks that, when everything is over, no session runs and nothing waits.
func (n *node) checkTracesAtRest() {
	for _, c := range n.w.clients {
		t := n.trace.Report(c.id).Trace
		if t == nil {
			continue
		}
		if n.checkTrace(c.id, t); t.Running {
			n.w.fail("N8: %s says that session %s runs, which has left it", n.id, c.id)
		}
		for _, q := range t.Out {
			if q.Waiting > 0 {
				n.w.fail("N8: %s says that %d bytes of session %s wait for %s on edge %s, which has them", n.id, q.Waiting, c.id, q.Node, q.Edge)
			}
		}
	}
}

func sum(c trace.Cell) (all time.Duration) {
	for _, d := range c {
		all += d
	}
	return all
}
