package sim

import (
	"maps"
	"slices"
	"time"

	"posta.dev/posta/internal/simulator/eventqueue"
	"posta.dev/posta/link"
	"posta.dev/posta/nodes/core/record"
	"posta.dev/posta/topology"
)

// diskCopy is a disk as it was once, as a backup or a snapshot of a virtual machine keeps it, with what the checker knew of it.
type diskCopy struct {
	disk    disk
	checker checker
}

// lost notes that a disk has lost something: sessions may fail by it.
func (w *world) lost(n *node) {
	w.losses++
	w.wiped, w.inputWiped = w.At, w.inputWiped || n.stage().holds(topology.Input)
}

// newLife draws the life of an opening (R14). It takes nothing from the source of chance, so that runs stay the runs they were.
func (w *world) newLife() link.Life {
	w.lives++
	x := (w.Seed<<32 ^ w.lives) * 0x9e3779b97f4a7c15
	return link.Life(x ^ x>>29 | 1)
}

// planSetBack copies the disks of some nodes at one moment, and sets some nodes back later: by some records of the tail, or to the copy.
// They are one node, some, or all of them.
func (w *world) planSetBack() {
	at := w.Between(0, w.faults.end*3/4)
	var hit []*node
	switch few := eventqueue.OneOf(w.Queue, 1, 1, 2, 3, len(w.order)); {
	case few >= len(w.order):
		hit = slices.Clone(w.order)
	default:
		for range few {
			if n := eventqueue.OneOf(w.Queue, w.order...); !slices.Contains(hit, n) {
				hit = append(hit, n)
			}
		}
	}
	restore := w.Chance(0.4)
	w.After(at, func() {
		for _, n := range hit {
			n.copies = append(n.copies, diskCopy{n.disk.clone(), n.checker.clone()})
		}
	})
	w.After(at+w.Between(10*time.Millisecond, w.faults.end-at), func() {
		for _, n := range hit {
			w.setBack(n, restore)
		}
	})
}

// setBack lets a node come back with less than it had (R14).
func (w *world) setBack(n *node, restore bool) {
	w.injected("set back")
	w.lost(n)
	n.crash("and its disk is set back")
	if restore && len(n.copies) > 0 {
		c := n.copies[0]
		n.disk, n.checker = c.disk.clone(), c.checker.clone()
		w.tracef("%s has its disk of record %d again", n.id, n.disk.last)
	} else {
		n.loseTail(eventqueue.OneOf(w.Queue, 1, 1, 2, 5, 30, 1000))
	}
	w.restart(n)
}

// loseTail takes away the last records, as a disk does that lies about a flush. A snapshot proves that the records before it were there,
// so a real log that ends before it is not opened.
func (n *node) loseTail(records int) {
	d := &n.disk
	for ; records > 0 && len(d.records) > 0; records-- {
		tail := d.records[len(d.records)-1]
		if k := len(d.snapshots); k > 0 && d.snapshots[k-1].at >= tail.at {
			break
		}
		d.records = d.records[:len(d.records)-1]
		d.last = tail.at - 1
		n.checker.forget(tail.data)
	}
	n.w.tracef("%s has lost what came after record %d", n.id, d.last)
}

// retire is what the shell does when the core says so (R14): the log is put aside, and the node begins with an empty one. A second
// retirement in one start ends the process, which is started again.
func (n *node) retire(why string) {
	w := n.w
	w.injected("retirement")
	if w.losses == 0 {
		w.fail("R14: %s retires its log although no disk was lost or set back: %s", n.id, why)
	}
	w.lost(n)
	again := n.retired
	heritage := n.core.Inheritance()
	n.crash("and retires its log: " + why)
	if again {
		n.retired = false
		w.restart(n)
		return
	}
	n.disk = w.blankDisk()
	n.disk.heritage = heritage
	n.checker = newChecker(n)
	n.retired = true
	w.After(w.Between(time.Millisecond, 20*time.Millisecond), n.start)
}

func (d *disk) clone() disk {
	c := *d
	c.records, c.snapshots, c.heritage = slices.Clone(d.records), slices.Clone(d.snapshots), slices.Clone(d.heritage)
	c.full = false
	return c
}

func (c *checker) clone() checker {
	x := *c
	x.last, x.hwm, x.frames = maps.Clone(c.last), maps.Clone(c.hwm), map[outKey]map[link.Seq]uint64{}
	for k, frames := range c.frames {
		x.frames[k] = maps.Clone(frames)
	}
	return x
}

// forget takes a record back that the disk has lost. What was the hwm before it is not known here.
func (c *checker) forget(data []byte) {
	rec, err := record.Decode(data)
	if err != nil {
		c.n.w.fail("N2: a lost record of %s: %v", c.n.id, err)
		return
	}
	for _, f := range slices.Backward(rec.Frames) {
		k := outKey{f.Edge, f.To}
		delete(c.frames[k], f.Frame.Seq)
		c.last[k] = f.Frame.Seq - 1
	}
	clear(c.hwm)
}
