package sim

import (
	"slices"
	"time"

	"posta.dev/posta/link"
	"posta.dev/posta/test/simulator/eventqueue"
	"posta.dev/posta/topology"
)

// lost notes that a disk has lost something, so that sessions may fail.
func (w *world) lost(n *node) {
	w.losses++
	w.wiped, w.inputWiped = w.At, w.inputWiped || n.stage().holds(topology.Input)
}

// newLife draws the life of an opened log (R14). It does not use the source of chance, so that runs stay the same.
func (w *world) newLife() link.Life {
	w.lives++
	x := (w.Seed<<32 ^ w.lives) * 0x9e3779b97f4a7c15
	return link.Life(x ^ x>>29 | 1)
}

// planSetBack copies the disks of some nodes at one moment. Later it sets one, some or all of these nodes back: it removes some records of
// the tail, or restores the copy.
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
			n.copies = append(n.copies, n.disk.clone()) // like a backup or a snapshot of a virtual machine
		}
	})
	w.After(at+w.Between(10*time.Millisecond, w.faults.end-at), func() {
		for _, n := range hit {
			w.setBack(n, restore)
		}
	})
}

// setBack restarts a node with a part of its log lost (R14).
func (w *world) setBack(n *node, restore bool) {
	if restore && len(n.copies) > 0 {
		w.setBackTo(n, n.copies[0])
	} else {
		w.setBackBy(n, 0)
	}
}

// setBackTo restarts a node with a former state of its disk.
func (w *world) setBackTo(n *node, former disk) {
	w.setsBack(n, func() {
		n.disk = former.clone()
		w.tracef("%s has a former state of its disk again", n.id)
	})
}

// setBackBy removes the last n records of a node, at most those since its newest snapshot. With 0 it draws the number.
func (w *world) setBackBy(n *node, records int) {
	w.setsBack(n, func() {
		if records == 0 {
			records = eventqueue.OneOf(w.Queue, 1, 1, 2, 5, 30, 1000)
		}
		n.disk.loseTail(records)
		w.tracef("%s has lost up to %d records", n.id, records)
	})
}

// setsBack changes the disk between two processes of the node.
func (w *world) setsBack(n *node, do func()) {
	w.injected("set back")
	w.lost(n)
	n.crash("and its disk is set back")
	do()
	n.setBack, n.left, n.fixed = true, false, false
	w.restart(n)
}
