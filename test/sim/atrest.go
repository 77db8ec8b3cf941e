package sim

import "bytes"

// checkAtRest checks a cluster whose sessions have all ended: nothing is kept in any node, logs can be cut to nothing, and a node
// that is started from such a disk holds the same.
func (w *world) checkAtRest() {
	for _, n := range w.order {
		w.count(n)
		before := n.core.Snapshot()
		n.disk.save(before)
		n.disk.cut(n.disk.last, 0)
		if len(n.disk.records) > 0 {
			w.fail("N3: the log of %s keeps %d records when nothing is under way", n.id, len(n.disk.records))
			return
		}
		n.disk.id.Incarnation++
		c, _, err := n.recovered(false)
		if err != nil {
			w.fail("N3: %s does not come back from a snapshot alone: %v", n.id, err)
			return
		}
		if after := c.Snapshot(); !bytes.Equal(before, after) {
			w.fail("N3: %s comes back with another state\nbefore %q\nafter  %q", n.id, before, after)
		}
	}
}

func (w *world) count(n *node) {
	c := n.core.Counters
	for name, v := range map[string]uint64{
		"frames": c.FramesIn, "commits": c.Commits, "duplicates": c.Duplicates, "gaps": c.Gaps, "zombies": c.Zombies, "unknown": c.Unknown,
	} {
		w.report.Counters[name] += v
	}
}
