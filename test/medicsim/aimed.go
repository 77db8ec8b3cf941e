package medicsim

import (
	"time"

	"posta.dev/posta/medic/core"
	"posta.dev/posta/test/simulator/eventqueue"
)

// aim is a combination of faults, timed so that they do most harm. By chance they would meet in one seed of ten thousand. One seed in
// sixteen has aimed faults. Which seeds those are is not drawn, so that the other seeds keep their runs.
type aim int

const (
	noAim    aim = iota
	nearMiss     // a target is silent for nearly too long, and is heard at the moment in which a medic decides about it
	cutShort     // the leader loses the network while it stores a suspicion; meanwhile the target starts by itself
	twoRows      // two medics lead in one generation, one after the other, and both count failures of the same target
	lostAll      // all medics and hosts forget their generations, but the notes of the starts remain
)

func (w *world) drawAim() aim {
	if w.Plain || w.Unaimed || w.Seed%4 != 3 {
		return noAim
	}
	return nearMiss + aim(w.Seed/4%4)
}

// takeAim prepares the faults for the aim of a seed.
func (f *faults) takeAim(w *world) {
	f.aim = w.drawAim()
	switch f.aim {
	case cutShort:
		// A hint would report that the process ended, and the order would not wait.
		*f, w.hints = faults{aim: f.aim, end: max(f.end, 15*time.Second), kills: w.Between(2*time.Second, 4*time.Second), loops: 1}, false
	case twoRows:
		// Rows of failures are compared only if nothing else makes an incarnation's life look longer than it was.
		*f, w.hints = faults{aim: f.aim, end: max(f.end, 15*time.Second), slowStart: 0.5}, true
	}
}

func (w *world) injectAimed() {
	switch w.faults.aim {
	case cutShort:
		w.suspected = w.cutWhileStoring
	case nearMiss:
		w.again(1500*time.Millisecond, w.nearlyMiss)
	case twoRows:
		w.After(w.Between(2*time.Second, 4*time.Second), w.leadTwice)
	case lostAll:
		w.After(w.Between(2*time.Second, w.faults.end), w.loseAll)
	}
}

// nearlyMiss stops a target for about as long as a suspicion takes. Around that moment the medics stop for less than a heartbeat. So they
// then notice at once what they would have noticed one after the other.
func (w *world) nearlyMiss() {
	t := eventqueue.OneOf(w.Queue, w.order...)
	if !t.healthy() {
		return
	}
	w.report.Injected["nearly missed"]++
	p := t.p
	p.stop()
	w.After(w.Between(suspectAfter-heartbeat, suspectAfter), func() {
		still := w.Between(heartbeat/5, heartbeat-heartbeat/20)
		for _, m := range w.order {
			if m.medic && m != t && m.healthy() {
				p := m.p
				p.stop()
				w.After(still, p.resume)
			}
		}
		w.After(w.Between(0, still), p.resume)
	})
}

// cutWhileStoring cuts a leader off from the network while the leader stores that a start has failed. The order that waits for the store is
// then still there when the leader hears somebody again. Meanwhile the target starts by itself, and is heard a moment later than others. No
// other medic could have given the order.
func (w *world) cutWhileStoring(p *process, e core.Entry) (storing time.Duration) {
	const longer = suspectAfter + 6*heartbeat
	if _, cut := w.cut[p.t.ID]; cut || w.At >= w.faults.end || e.InARow < 2 || e.Wait > 4*heartbeat {
		return 0
	}
	w.report.Injected["cut while storing"]++
	t, storing := w.targets[e.Node], e.Wait+w.Between(longer, 2*longer)
	w.After(e.Wait+heartbeat/2, func() {
		if !p.alive() {
			return
		}
		w.tracef("%s loses the network while it stores that %s is missed", p.t.ID, e.Node)
		w.cut[p.t.ID] = w.At
		t.crashLoop = 0
		t.start(t.host.started[t.ID])
		for _, m := range w.order {
			if m.medic && m != p.t && m != t {
				w.kill(m)
			}
		}
	})
	w.After(storing-w.Between(heartbeat/10, heartbeat), func() {
		if p.alive() {
			w.rejoin(p.t)
		}
	})
	return storing
}

// leadTwice ends all medics. One of them starts again, is elected, and counts the failures of a target that crashes at its starts. Then
// that medic dies, the hosts forget its generation, and another medic takes the same generation. This medic has the smaller id. So its row
// of failures, which becomes longer, comes before the other row in the journal.
func (w *world) leadTwice() {
	var medics []*target
	for _, t := range w.order {
		if t.medic {
			medics = append(medics, t)
		}
	}
	if len(medics) < 2 {
		return
	}
	w.report.Injected["led twice"]++
	first, second := medics[len(medics)-1], medics[0]
	looping := w.any(false)
	for _, t := range append(medics, looping) {
		t.crashLoop = 8 + w.Rand.IntN(8)
		if t.p != nil {
			t.p.die("is killed, and crashes at its next starts")
		}
	}
	fences := make([]core.Fence, len(w.hosts))
	for i, h := range w.hosts {
		fences[i] = h.fence
	}
	again := func(t *target) {
		t.crashLoop = 0
		t.start(t.host.started[t.ID])
	}
	again(first)
	w.suspected = func(p *process, e core.Entry) time.Duration {
		if p.t != first || e.Node != looping.ID {
			return 0
		}
		w.suspected = nil
		w.After(w.Between(heartbeat/10, 2*heartbeat), func() { // by then it is stored
			p.die("is killed")
			for i, h := range w.hosts {
				w.giveFence(h, fences[i])
			}
			again(second)
		})
		return 0
	}
}

// loseAll ends all medics and a node. The medics and their hosts lose everything that they know. Then one medic starts again.
func (w *world) loseAll() {
	w.report.Injected["all lost"]++
	for _, t := range w.order {
		if t.medic && t.p != nil {
			t.p.die("is killed, and its disk lost")
		}
		if t.medic {
			t.wipes++
			t.incarnations, t.disk, t.older = 0, disk{}, nil
		}
	}
	w.kill(w.any(false))
	for _, h := range w.hosts {
		w.giveFence(h, core.Fence{})
	}
	t := w.any(true)
	w.After(w.Between(0, time.Second), func() { t.start(t.host.started[t.ID]) })
}
