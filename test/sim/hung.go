package sim

import (
	"fmt"
	"slices"

	"posta.dev/posta/link"
)

// hung returns the violated rule of a run that did not end, with the reason. Everything that waits does so because something else has not
// acted. So hung looks for the first thing that is idle although it has work: a disk job, then a link, then an acknowledgement, and only
// then a session that is left over.
func (w *world) hung() (rule, why string) {
	for _, look := range []func() (string, string){w.hungNode, w.hungLog, w.hungLink, w.hungAcknowledgement, w.hungSession, w.hungClient} {
		if rule, why = look(); rule != "" {
			return rule, why
		}
	}
	return "liveness", "for no reason that the simulator knows"
}

// hungNode finds a node that is down, or that does not store what it has to.
func (w *world) hungNode() (rule, why string) {
	for _, n := range w.order {
		switch {
		case !n.up:
			return "N3", fmt.Sprintf("%s does not come back", n.id)
		case n.job == nil && n.core().Pending():
			return "N2", fmt.Sprintf("%s has a commit to store and does not store it", n.id)
		}
	}
	return "", ""
}

// hungLog finds a link whose ends disagree about the sender's log and wait for each other (R14): one of them should have acted. It is
// called before hungLink, which would report the same wait as an idle link.
func (w *world) hungLog() (rule, why string) {
	for _, x := range w.wireset {
		from, to := w.nodes[x.from], w.nodes[x.to]
		last, hwm := x.progress(w)
		known := to.checker.hwm[x.wireKey].ID
		switch {
		case hwm > last+from.checker.givenUp[outKey{x.edge, x.to}]:
			return "R14", fmt.Sprintf("%s has frame %d of %s from %s, which continues with a log that ends at %d", x.to, hwm, x.edge, x.from, last)
		case x.late.hellos == 0 || known == from.ident:
		case known.LogID == from.ident.LogID || w.lossRule() == "R14":
			return "R14", fmt.Sprintf("%s says hello to %s on %s as %v, and is neither heard nor told that %v is known there", x.from, x.to, x.edge,
				from.ident, known)
		}
	}
	return "", ""
}

// hungLink finds a link whose next frame is durable at the sender and was not put on the wire.
func (w *world) hungLink() (rule, why string) {
	for _, x := range w.wireset {
		last, hwm := x.progress(w)
		next := hwm + 1
		if next > last || x.late.frames[next] > 0 {
			continue
		}
		what := fmt.Sprintf("frame %d of %s from %s has not come to %s", next, x.edge, x.from, x.to)
		others := slices.ContainsFunc(keys(x.late.frames), func(s link.Seq) bool { return s > next })
		switch {
		case x.late.hellos == 0 && !others:
			return "R7", what + ", and no hello either"
		case x.late.acks == 0:
			return "R6", what + ", and the sender hears nothing"
		case others && x.dialled:
			return "R10", what + ", but frames behind it"
		case others:
			return "R7", what + ", but frames behind it"
		case x.late.resends > 0:
			return "R4", fmt.Sprintf("%s, which has asked for it %d times", what, x.late.resends)
		}
		return "R7", what + ", which has said what it has"
	}
	return "", ""
}

// progress returns the last number that is durable at the sender, and the hwm that is durable at the receiver.
func (x *wire) progress(w *world) (last, hwm link.Seq) {
	from, to := w.nodes[x.from], w.nodes[x.to]
	last = max(from.checker.last[outKey{x.edge, x.to}], from.checker.last[outKey{x.edge, ""}])
	if h := to.checker.hwm[x.wireKey]; h.ID.LogID == from.ident.LogID {
		hwm = h.Seq
	}
	return last, hwm
}

// hungAcknowledgement finds a sender that keeps frames which its receivers have on their disks, or a receiver that does
// not take arriving frames.
func (w *world) hungAcknowledgement() (rule, why string) {
	for _, x := range w.wireset {
		last, hwm := x.progress(w)
		if last > hwm {
			to := w.nodes[x.to]
			for _, out := range to.core().Links() {
				if out.Full {
					return "R9", fmt.Sprintf("%s does not take frame %d of %s from %s, its window on %s stays closed", x.to, hwm+1, x.edge, x.from,
						out.Edge)
				}
			}
			return "R11", fmt.Sprintf("%s does not take frame %d of %s from %s, which came %d times", x.to, hwm+1, x.edge, x.from,
				x.late.frames[hwm+1])
		}
	}
	for _, n := range w.order {
		for _, l := range n.core().Links() {
			if l.Bytes > 0 {
				return "R6", fmt.Sprintf("%s keeps %d bytes for %s %s, and all frames are on the receivers' disks", n.id, l.Bytes, l.Edge, l.To)
			}
		}
	}
	return "", ""
}

// hungSession finds a session that is still in a node although nothing is on its way to the node.
func (w *world) hungSession() (rule, why string) {
	for _, n := range w.order {
		for id, open := range n.checker.open {
			if !open {
				continue
			}
			if w.losses > 0 {
				return w.lossRule(), fmt.Sprintf("session %s is in %s, and a disk was lost that may have had a part of it", id.String()[:8], n.id)
			}
			for _, c := range w.clients {
				if c.id == id && c.verdict != "" {
					return "R13", fmt.Sprintf("session %s is in %s, and for its client it has ended: %s", id.String()[:8], n.id, c.verdict)
				}
			}
			return "R12", fmt.Sprintf("session %s is in %s, which waits for an end", id.String()[:8], n.id)
		}
	}
	return "", ""
}

// lossRule returns the rule about lost disks that applies to this run.
func (w *world) lossRule() string {
	if w.report.Injected["set back"] > 0 {
		return "R14"
	}
	return "R8"
}

// hungClient finds a client that waits although no node has anything to do for it.
func (w *world) hungClient() (rule, why string) {
	for _, c := range w.clients {
		if !c.over {
			return "N10", fmt.Sprintf("client %s still waits after it said %s, and no node has its session", c, c.asked)
		}
	}
	for _, n := range w.order {
		if n.core().Running() > 0 {
			return "R13", fmt.Sprintf("a gateway of %s counts a session that has left it", n.id)
		}
	}
	return "", ""
}

func keys[K comparable, V any](m map[K]V) []K {
	all := make([]K, 0, len(m))
	for k := range m {
		all = append(all, k)
	}
	return all
}
