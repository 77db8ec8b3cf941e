package medics

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"posta.dev/posta/medic/agent"
	"posta.dev/posta/medic/process"
	"posta.dev/posta/test/e2e/clustertest"
	"posta.dev/posta/test/wallclock"
	"posta.dev/posta/topology"
)

// faultKind is what a storm does to one process.
type faultKind string

const (
	killed      faultKind = "killed"
	hanging     faultKind = "stopped for good"
	paused      faultKind = "stopped for a while"
	setBack     faultKind = "killed, log set back by records"
	flipped     faultKind = "killed, last byte flipped"
	restored    faultKind = "killed, directory restored"
	diskFull    faultKind = "disk full for a while"
	clockJumped faultKind = "wall clock set"
)

// allFaults are all kinds of faults, in the order of the table. Each is drawn as often as it appears in weights.
var allFaults = []faultKind{killed, hanging, paused, setBack, flipped, restored, diskFull, clockJumped}

var weights = []faultKind{
	killed, killed, killed, hanging, paused, paused, setBack, setBack, flipped, restored, diskFull, diskFull, clockJumped, clockJumped,
}

// fault is one fault that was injected.
type fault struct {
	kind     faultKind
	node     topology.NodeID
	from, to time.Time // to: when it was undone, as far as it lasts
	order    int64     // of what happens to the disk before the restart; 0 for none
	explains bool      // the fault must have an incident in the journal, and none was found yet
}

// storm injects faults into a cluster, several at once, and remembers all of them.
type storm struct {
	t       *testing.T
	c       *cluster
	rand    *rand.Rand
	procs   *process.Restarter
	disks   map[topology.NodeID]*disk
	orders  orders
	copies  string
	undos   sync.WaitGroup
	fence   string // a copy of what the host has seen
	lastHit map[topology.NodeID]time.Time
	spared  func(topology.NodeID) bool             // nodes and medics that no fault hits; nil: all may be hit
	stood   func(from, to time.Time) time.Duration // how long this process stood still; nil: not known

	mu     sync.Mutex
	faults []*fault
	full   map[topology.NodeID]bool
	given  map[topology.NodeID]int64 // the last order of each
}

func newStorm(t *testing.T, seed uint64) *storm {
	dir := t.TempDir()
	s := &storm{
		t: t, rand: rand.New(rand.NewPCG(seed, 0xca05)), disks: map[topology.NodeID]*disk{}, orders: orders{dir: filepath.Join(dir, "orders")},
		copies: filepath.Join(dir, "copies"), full: map[topology.NodeID]bool{}, given: map[topology.NodeID]int64{},
		fence: filepath.Join(dir, "fence"), lastHit: map[topology.NodeID]time.Time{},
	}
	if err := os.MkdirAll(s.orders.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv(ordersVar, s.orders.dir)
	t.Cleanup(s.undos.Wait)
	return s
}

// prepare gives each node and medic its own disk, and orders the first copies. The cluster is not up yet.
func (s *storm) prepare(topo *topology.Topology) {
	root := s.t.TempDir()
	for _, n := range topo.All() {
		s.disks[n.ID] = newDisk(s.t, filepath.Join(root, string(n.ID)), n.DataDir, "32m")
		s.leave(n.ID, order{Do: keep, Dir: n.DataDir, Copy: s.copy(n.ID)})
	}
}

// attach connects the storm to a running cluster.
func (s *storm) attach(c *cluster) {
	procs, err := process.New(process.Config{Dir: filepath.Join(c.topo.DataDir, "pids"), Logs: filepath.Join(c.topo.DataDir, "log")})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = procs.Close() })
	s.c, s.procs = c, procs
	if err := os.Mkdir(s.fence, 0o700); err != nil { // a machine that is restored to before the cluster was there
		s.t.Fatal(err)
	}
}

// copy returns one of the places for copies of a directory.
func (s *storm) copy(id topology.NodeID) string {
	return filepath.Join(s.copies, string(id), fmt.Sprint(s.rand.IntN(3)))
}

// leave gives an order and returns its number. It returns 0 if the order before has not been carried out yet.
func (s *storm) leave(id topology.NodeID, o order) int64 {
	if last := s.given[id]; last > 0 {
		if _, done := s.orders.told(last); !done {
			return 0
		}
	}
	n, err := s.orders.give(id, o)
	if err != nil {
		s.t.Error(err)
	}
	s.given[id] = n
	return n
}

// rage injects faults until the time is over, and ends lasting faults.
func (s *storm) rage(duration, every time.Duration) {
	for over := time.Now().Add(duration); time.Now().Before(over); time.Sleep(every/2 + time.Duration(s.rand.Int64N(int64(every)))) {
		s.strike()
	}
	s.undos.Wait()
}

// strike hits one process or several at once. Now and then it simulates a power failure of the machine.
func (s *storm) strike() {
	if s.rand.IntN(30) == 0 && s.spared == nil {
		s.powerLoss([]faultKind{killed, setBack, restored}[s.rand.IntN(3)])
		return
	}
	all := s.c.topo.All()
	s.rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	for _, n := range all[:[]int{1, 1, 1, 1, 2, 2, 3}[s.rand.IntN(7)]] {
		if kind := weights[s.rand.IntN(len(weights))]; s.mayHit(n, kind) && (s.spared == nil || !s.spared(n.ID)) {
			s.hit([]topology.Node{n}, kind)
		}
	}
}

// mayHit spares the last medic (M7): when all medics are dead, nothing is restarted. Medics that were hit a moment ago
// may be dead.
func (s *storm) mayHit(n topology.Node, kind faultKind) bool {
	medics := s.c.topo.MedicNodes()
	isMedic := func(m topology.Node) bool { return m.ID == n.ID }
	if kind == diskFull || kind == clockJumped || !slices.ContainsFunc(medics, isMedic) {
		return true
	}
	return slices.ContainsFunc(medics, func(m topology.Node) bool { return !isMedic(m) && time.Since(s.lastHit[m.ID]) > 10*time.Second })
}

// powerLoss ends all processes at once and starts the cluster again. After that the machine's disk may be in an old
// state, including what the host has seen (M4), or the disk has lost its last flushes.
func (s *storm) powerLoss(kind faultKind) {
	s.undos.Wait()                                            // no disk is full: `posta up` is not what this is about
	all := append(s.c.topo.MedicNodes(), s.c.topo.Nodes()...) // medics first: they would restart nodes
	s.hit(all, kind)
	for _, n := range all {
		if err := s.procs.Kill(s.t.Context(), n.ID); err != nil { // a restart was under way
			s.t.Error(err)
		}
	}
	fence := filepath.Join(s.c.topo.DataDir, agent.FenceDir)
	if kind == restored {
		if err := clustertest.CopyDirectory(s.fence, fence); err != nil {
			s.t.Error(err)
		}
	} else if err := clustertest.CopyDirectory(fence, s.fence); err != nil {
		s.t.Error(err)
	}
	s.c.posta("up")
}

// hit leaves all orders before the first of these processes dies, so that all are set back at once.
func (s *storm) hit(nodes []topology.Node, kind faultKind) {
	suspect := s.c.topo.Medics.SuspectAfter
	var all []*fault
	for _, n := range nodes {
		lasts := suspect/4 + time.Duration(s.rand.Int64N(int64(2*suspect)))
		f := &fault{kind: kind, node: n.ID, explains: true, order: s.damageAt(n, kind)}
		s.mu.Lock()
		full := s.full[n.ID]
		s.mu.Unlock()
		// Changes of a directory need room on its disk.
		if f.order == 0 && slices.Contains([]faultKind{setBack, flipped, restored}, kind) || kind == diskFull && full {
			f.kind = killed
		}
		f.from = time.Now()
		f.to = f.from
		switch f.kind {
		case paused, diskFull:
			f.to = f.from.Add(lasts)
		}
		all = append(all, f)
	}
	for _, f := range all {
		s.inject(f)
	}
}

// damageAt leaves the order for the damage that a kind of fault does to the disk, or now and then an order to keep a
// copy. It returns 0 for neither.
func (s *storm) damageAt(n topology.Node, kind faultKind) int64 {
	s.mu.Lock()
	full := s.full[n.ID]
	s.mu.Unlock()
	o := order{Dir: n.DataDir, Copy: s.copy(n.ID), Records: 1 + s.rand.IntN([]int{1, 10, 1000}[s.rand.IntN(3)])}
	switch kind {
	case setBack:
		o.Do = lose
	case flipped:
		o.Do = flip
	case restored:
		o.Do = restore
	case killed, hanging:
		if o.Do = keep; s.rand.IntN(2) == 0 {
			return 0
		}
	default:
		return 0
	}
	if full {
		return 0
	}
	return s.leave(n.ID, o)
}

func (s *storm) inject(f *fault) {
	s.t.Logf("%s  %s %s, %v, order %d", time.Now().Format("15:04:05.000"), f.node, f.kind, f.to.Sub(f.from), f.order)
	s.mu.Lock()
	s.faults = append(s.faults, f)
	s.mu.Unlock()
	s.lastHit[f.node] = f.to
	switch f.kind {
	case hanging:
		s.signal(f.node, syscall.SIGSTOP)
	case paused:
		s.signal(f.node, syscall.SIGSTOP)
		s.later(f.to, func() { s.signal(f.node, syscall.SIGCONT) })
	case diskFull:
		f.explains = false // W5: a full disk is never a reason to restart
		s.fill(f.node, f.to)
	case clockJumped:
		f.explains = false // M10: neither is this
		s.setClock(f.node)
	default:
		s.signal(f.node, syscall.SIGKILL)
	}
}

// delayed returns for how long the machine stood still between two moments: this delays whatever has to happen within some time.
func (s *storm) delayed(from, to time.Time) time.Duration {
	if s.stood == nil {
		return 0
	}
	return s.stood(from, to)
}

func (s *storm) signal(id topology.NodeID, sig os.Signal) {
	if err := s.procs.Signal(context.Background(), id, sig); err != nil {
		s.t.Error(err)
	}
}

// later ends a lasting fault. If the process has been restarted meanwhile, SIGCONT does nothing to the new one.
func (s *storm) later(at time.Time, undo func()) {
	s.undos.Add(1)
	time.AfterFunc(time.Until(at), func() { defer s.undos.Done(); undo() })
}

func (s *storm) fill(id topology.NodeID, until time.Time) {
	set := func(full bool) { s.mu.Lock(); s.full[id] = full; s.mu.Unlock() }
	set(true)
	if err := s.disks[id].fill(); err != nil {
		s.t.Errorf("fill the disk of %s: %v", id, err)
	}
	s.later(until, func() {
		if err := s.disks[id].free(); err != nil {
			s.t.Errorf("free the disk of %s: %v", id, err)
		}
		set(false)
	})
}

// setClock sets a process's clock by little, by much, or right again.
func (s *storm) setClock(id topology.NodeID) {
	off := []time.Duration{0, time.Second, 90 * time.Second, time.Hour, 24 * time.Hour, 20 * 365 * 24 * time.Hour}[s.rand.IntN(6)]
	if s.rand.IntN(2) == 0 {
		off = -off
	}
	if err := wallclock.Set(clockFile(s.orders.dir, id), off); err != nil {
		s.t.Error(err)
	}
}
