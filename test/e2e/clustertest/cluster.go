package clustertest

import (
	"slices"
	"testing"
	"time"

	"posta.dev/posta/medic/core"
	"posta.dev/posta/security"
	"posta.dev/posta/topology"
)

// Cluster observes a running cluster.
type Cluster struct {
	*Observer
	Topology *topology.Topology
	t        *testing.T
}

// New returns when all medics follow one leader and all nodes and medics are heard: two medics may have led if the machine
// stood still while they started. It listens until the test ends.
func New(t *testing.T, topo *topology.Topology) *Cluster {
	t.Helper()
	return NewWithKeys(t, topo, nil)
}

// NewWithKeys is New with the keys of a client that may watch.
func NewWithKeys(t *testing.T, topo *topology.Topology, keys *security.Keys) *Cluster {
	t.Helper()
	w := &Cluster{Observer: listen(t, topo, keys), Topology: topo, t: t}
	w.Until("all medics follow one leader, and all are heard", func() bool {
		silent := func(n topology.Node) bool { return w.Incarnation(n.ID) == 0 }
		return w.Observer.Leader() != "" && w.Agree() && !slices.ContainsFunc(topo.All(), silent)
	})
	return w
}

// Leader waits until a medic leads. A machine that has just stood still has not heard the one that did for a moment.
func (w *Cluster) Leader() (id topology.NodeID) {
	w.t.Helper()
	w.Until("a medic leads", func() bool { id = w.Observer.Leader(); return id != "" })
	return id
}

// Followers returns the medics that do not lead.
func (w *Cluster) Followers() (ids []topology.NodeID) {
	w.t.Helper()
	leader := w.Leader()
	for _, n := range w.Topology.MedicNodes() {
		if n.ID != leader {
			ids = append(ids, n.ID)
		}
	}
	return ids
}

// Strike does something to some, and waits until the journal says that all of them, and no others, came back, each after one restart.
func (w *Cluster) Strike(do func(topology.NodeID), ids ...topology.NodeID) {
	w.t.Helper()
	since := time.Now()
	before := w.incarnations()
	for _, id := range ids {
		do(id)
	}
	w.Until("all are back", func() bool {
		back := 0
		for _, i := range w.Incidents(since) {
			if !i.Open {
				back++
			}
		}
		unheard := func(id topology.NodeID) bool { return w.Incarnation(id) == before[id] } // the leader may hear it before us
		return back >= len(ids) && w.Observer.Leader() != "" && !slices.ContainsFunc(ids, unheard)
	})
	time.Sleep(3 * w.Topology.Medics.Heartbeat) // a target that was restarted twice shows by now, or below
	w.checkIncidents(since, before, ids)
}

func (w *Cluster) incarnations() map[topology.NodeID]uint64 {
	all := map[topology.NodeID]uint64{}
	for _, n := range w.Topology.All() {
		all[n.ID] = w.Incarnation(n.ID)
	}
	return all
}

// RestartedOnce reports whether the journal reports one restart that is over. A leader whose order was carried out, and which hears so too
// late because the machine or its engine is slow, gives the order again and reports that the node was found started. Whether it was started
// more than once, its incarnation shows.
func RestartedOnce(i core.Incident) bool {
	return !i.Open && (i.Restarts == 1 || i.Restarts == 0 && i.Found)
}

func (w *Cluster) checkIncidents(since time.Time, before map[topology.NodeID]uint64, ids []topology.NodeID) {
	w.t.Helper()
	told := w.Incidents(since)
	if len(told) != len(ids) {
		w.t.Errorf("%d failures, %d incidents: %+v", len(ids), len(told), told)
	}
	for _, i := range told {
		if !slices.Contains(ids, i.Node) || !RestartedOnce(i) {
			w.t.Errorf("M5: one failure of %v is told as %+v", ids, i)
		}
	}
	for id, now := range w.incarnations() {
		want := before[id]
		if slices.Contains(ids, id) {
			want++
		}
		if now != want {
			w.t.Errorf("M5: %s was incarnation %d and is %d, after a failure of %v", id, before[id], now, ids)
		}
	}
}

// Settle waits until all medics have followed one leader for some time, and no incident is open. Two medics that led at
// the same time may need several generations until they agree.
//
// A shared machine may stand still for a second, again and again. A leader that is silent for so long still leads.
func (w *Cluster) Settle() {
	w.t.Helper()
	since, generation := time.Now(), w.Generation()
	w.Until("all medics follow one leader", func() bool {
		open := func(i core.Incident) bool { return i.Open }
		now := w.Generation()
		if now != generation || w.leader(2*time.Second) == "" || !w.Agree() || slices.ContainsFunc(w.Incidents(time.Time{}), open) {
			since, generation = time.Now(), now
		}
		return time.Since(since) > 3*w.Topology.Medics.SuspectAfter
	})
}

// Over waits until the journal has incidents, none of them is open, and a medic leads.
func (w *Cluster) Over(since time.Time) []core.Incident {
	w.t.Helper()
	w.Until("it is over", func() bool {
		all := w.Incidents(since)
		return len(all) > 0 && w.Observer.Leader() != "" && !slices.ContainsFunc(all, func(i core.Incident) bool { return i.Open })
	})
	return w.Incidents(since)
}
