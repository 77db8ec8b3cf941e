package sim

import (
	"posta.dev/posta/nodes/aggregator"
	"posta.dev/posta/nodes/output"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/topology"
)

// drawPage returns how many rows of a table leave an aggregator at once. In the seeds that keep the default a page is
// the whole table. Nothing is drawn for them, so that they keep their runs.
func (w *world) drawPage() int {
	if w.Seed%8 == 7 || w.Seed%16 == 12 {
		w.injected("small pages")
		return []int{1, 3, 20}[w.Seed/16%3]
	}
	return 0
}

// drawFile returns how many bytes of an answer become a file in an output. In the seeds that keep the default, no answer is long enough for
// a file.
func (w *world) drawFile() int {
	if w.Seed%4 == 1 || w.Seed%32 == 26 {
		w.injected("small files")
		return []int{64, 100, 700}[w.Seed/4%3]
	}
	return 0
}

// drawTables returns how much memory tables take before they move to files (limits.tables). In the seeds that keep the default, no table is
// large enough. With 1 byte, each commit moves all rows that it has added.
func (w *world) drawTables() int {
	if w.Seed%8 == 3 || w.Seed%16 == 12 || w.Seed%64 == 9 || w.Seed%64 == 58 {
		w.injected("small tables")
		return []int{1, 6 << 10, 12 << 10}[w.Seed/8%3]
	}
	return 0
}

// paged is an aggregator whose pages are checked as they leave.
type paged struct {
	*aggregator.Aggregator
	n *node
}

// watchPages replaces the aggregators of a chain by checked ones.
func (n *node) watchPages(roles []role.Role) {
	for i, r := range roles {
		if a, ok := r.(*aggregator.Aggregator); ok {
			if rows := n.w.layout.page; rows > 0 {
				a.PageRows = rows
			}
			roles[i] = paged{a, n}
		}
		if o, ok := r.(*output.Output); ok && n.w.layout.file > 0 {
			o.FileBytes = n.w.layout.file
		}
	}
}

// More checks that a page leaves only while there is room for it, unless recovery repeats it (R9).
func (p paged) More(id session.ID, out role.Emitter) (more bool, err error) {
	n := p.n
	if out.Limits() != role.NoLimits && n.up {
		if edge, to, open := n.room(); !open {
			n.w.fail("R9: a page of session %s leaves %s, and the window of %s to %q is closed", id, n.id, edge, to)
		}
		n.w.report.Counters["pages"]++
	}
	return p.Aggregator.More(id, out)
}

// Spill counts the moves of tables to files.
func (p paged) Spill(id session.ID, recorded []byte) ([]byte, error) {
	p.n.w.report.Counters["moves to files"]++
	return p.Aggregator.Spill(id, recorded)
}

// room reports whether all windows of a node are open. Of an edge whose receivers are interchangeable, one open window
// is enough. It returns a closed window.
func (n *node) room() (edge, to string, open bool) {
	spare := map[string]bool{}
	for _, e := range n.w.layout.edges {
		spare[e.Name] = e.Route == topology.Any
	}
	full, some := map[string]string{}, map[string]bool{}
	for _, l := range n.core().Links() {
		if l.Full {
			full[l.Edge] = string(l.To)
		} else {
			some[l.Edge] = true
		}
	}
	for edge, to := range full {
		if !spare[edge] || !some[edge] {
			return edge, to, false
		}
	}
	return "", "", true
}
