package medicsim

import (
	"time"

	"posta.dev/posta/medic/core"
	"posta.dev/posta/test/simulator/eventqueue"
)

// send delivers something to a medic, perhaps late, twice, or not at all.
func (w *world) send(from, to core.NodeID, arrive func(*process)) {
	copies := 1
	if w.Chance(w.faults.drop) {
		copies = 0
	}
	if w.Chance(w.faults.repeat) {
		copies++
	}
	for range copies {
		delay := w.Between(100*time.Microsecond, latency)
		if w.Chance(w.faults.slow) {
			delay = w.Between(0, 3*time.Second)
		}
		w.After(delay, func() {
			t := w.targets[to]
			if w.unreachable(from, to) || t.p == nil || t.p.core == nil {
				return
			}
			p := t.p
			p.run(func() { arrive(p) })
		})
	}
}

func (w *world) unreachable(from, to core.NodeID) bool {
	_, cutFrom := w.cut[from]
	_, cutTo := w.cut[to]
	return cutFrom || cutTo || w.blocked[[2]core.NodeID{from, to}]
}

// cutOff cuts a medic off from the network, but not from its hosts: it hears nobody, and can restart every target. A restart of the medic
// ends the cut.
func (w *world) cutOff() {
	t := w.any(true)
	if _, cut := w.cut[t.ID]; cut || t.p == nil {
		return
	}
	w.report.Injected["cut off"]++
	w.tracef("%s loses the network", t.ID)
	p := t.p
	w.cut[t.ID] = w.At
	w.After(eventqueue.OneOf(w.Queue, w.Between(time.Second, 5*time.Second), w.Between(5*time.Second, 15*time.Second)), func() {
		if t.p == p {
			w.rejoin(t)
		}
	})
}

func (w *world) rejoin(t *target) {
	since, cut := w.cut[t.ID]
	if !cut || t.p == nil {
		return
	}
	delete(w.cut, t.ID)
	t.p.fitSince = w.At
	// A medic that slept for most of that time does not know that it was cut off. A late tick may change what it knows.
	if w.At-since >= suspectAfter && t.p.core != nil && t.p.waking.quiet() >= suspectAfter/2+heartbeat {
		t.p.backSince = w.At
	}
	w.tracef("%s has the network again", t.ID)
}

// poll reports to medics what they see of the processes on their hosts: that a process has ended, or that there is none.
func (w *world) poll() {
	w.After(tickEvery, w.poll)
	if !w.hints {
		return
	}
	for _, m := range w.medics {
		p := w.targets[m.ID].p
		if p == nil || p.stopped || p.core == nil {
			continue
		}
		for _, t := range w.order {
			if t.ID == m.ID || !w.reach && t.Host != m.Host {
				continue
			}
			pid := 0
			if t.p != nil {
				pid = t.p.id.PID
			}
			switch was := p.waking.pids[t.ID]; {
			case pid == 0:
				p.core.ProcessEnded(t.ID, eventqueue.OneOf(w.Queue, was, 0))
			case was != 0 && was != pid:
				p.core.ProcessEnded(t.ID, was)
			}
			if pid != 0 && w.Chance(w.faults.wrongHints) {
				p.core.ProcessEnded(t.ID, pid)
			}
			if pid != 0 {
				p.waking.pids[t.ID] = pid
			}
		}
		p.pump()
	}
}

// partition cuts some processes off from the others, in one direction or both.
func (w *world) partition() {
	w.report.Injected["partition"]++
	both := w.Chance(0.6)
	side := map[core.NodeID]bool{}
	for _, t := range w.order {
		side[t.ID] = w.Chance(0.4)
	}
	var pairs [][2]core.NodeID
	for _, a := range w.order {
		for _, b := range w.order {
			if side[a.ID] && !side[b.ID] {
				pairs = append(pairs, [2]core.NodeID{a.ID, b.ID})
				if both {
					pairs = append(pairs, [2]core.NodeID{b.ID, a.ID})
				}
			}
		}
	}
	for _, p := range pairs {
		w.blocked[p] = true
	}
	w.tracef("partition of %d pairs", len(pairs))
	w.After(w.Between(100*time.Millisecond, 5*time.Second), func() {
		w.tracef("%d pairs hear each other again", len(pairs))
		for _, p := range pairs {
			delete(w.blocked, p)
		}
	})
}
