package sim

import (
	"time"

	"posta.dev/posta/link"
	"posta.dev/posta/nodes/core"
)

// store gives the disk its next job, if it has none, as the shell gives its committer one.
func (n *node) store() {
	w := n.w
	if n.storing != nil {
		return
	}
	j := job{commit: n.core.Seal()}
	if n.since > w.faults.snapshotEvery {
		j.snapshot = n.core.Snapshot()
	}
	n.tidy(&j)
	if j.commit == nil && j.snapshot == nil && j.cut == 0 {
		return
	}
	n.storing = &j
	n.later(n.latency(), n.stored)
}

func (n *node) latency() time.Duration {
	if n.w.Chance(0.05) {
		return n.w.Between(5*time.Millisecond, 150*time.Millisecond)
	}
	return n.w.Between(100*time.Microsecond, 4*time.Millisecond)
}

// tidy asks for a cut now and then, to what recovery needs at this moment: the newest snapshot, and the frames that are
// not acknowledged.
func (n *node) tidy(j *job) {
	w := n.w
	if j.commit == nil && n.core.Idle() && n.since > 0 && w.Chance(0.3) {
		j.snapshot, j.cutAll = n.core.Snapshot(), true
		return
	}
	if len(n.disk.snapshots) == 0 || w.At-n.cutAt < 150*time.Millisecond {
		return
	}
	n.cutAt = w.At
	j.cut = n.disk.snapshots[len(n.disk.snapshots)-1].at
	if oldest, ok := n.core.Oldest(); ok {
		j.cut = min(j.cut, oldest-1)
	}
}

// stored is the disk's answer.
func (n *node) stored() {
	w, j := n.w, n.storing
	if n.disk.full {
		n.later(w.Between(50*time.Millisecond, 250*time.Millisecond), n.stored)
		return
	}
	var at link.LogIndex
	if j.commit != nil {
		at = n.keep(j.commit)
	}
	if j.snapshot != nil {
		n.disk.save(j.snapshot)
		n.since = 0
	}
	if j.cutAll {
		j.cut = n.disk.last
	}
	if j.cut > 0 {
		n.disk.cut(j.cut, w.Rand.IntN(4))
	}
	n.storing = nil
	if j.commit == nil {
		return
	}
	w.tracef("%s stored %d: %d bytes", n.id, at, j.commit.Bytes)
	if n.crashes("after its fsync") {
		return
	}
	n.core.Stored(j.commit, at)
	n.wake()
}

// keep makes a commit durable.
func (n *node) keep(c *core.Commit) link.LogIndex {
	at := n.disk.append(c.Parts)
	n.since++
	n.disk.heritage = nil
	n.checker.durable(at, n.disk.records[len(n.disk.records)-1].data)
	n.w.mix('W', byte(n.place), byte(n.index), byte(c.Bytes), byte(c.Bytes>>8))
	return at
}
