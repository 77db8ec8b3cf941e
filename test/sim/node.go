package sim

import (
	"time"

	"posta.dev/posta/analyses"
	"posta.dev/posta/link"
	"posta.dev/posta/nodes/chain"
	"posta.dev/posta/nodes/core"
	"posta.dev/posta/nodes/gateway"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/topology"
)

// node is one process, many times: its core and roles die in a crash, its disk does not.
type node struct {
	w       *world
	id      link.NodeID
	place   int // of its stage in the layout
	index   int
	disk    disk
	checker checker

	life    uint64 // grows at every crash; what was planned in a former life does not happen
	up      bool
	core    *core.Core
	roles   []role.Role
	storing *job // being stored, or waiting for room on the disk
	awake   bool // a step is planned
	stopped bool // as by SIGSTOP
	missed  []func()
	beatAt  time.Duration
	cutAt   time.Duration
	since   int  // records since the last snapshot
	retired bool // in this start (R14)
	copies  []diskCopy
}

// job is what the committer of a real node is asked for: store a commit, then a snapshot, then cut.
type job struct {
	commit   *core.Commit
	snapshot []byte
	cut      link.LogIndex
	cutAll   bool
}

func newNode(w *world, id link.NodeID, place, index int) *node {
	n := &node{w: w, id: id, place: place, index: index}
	n.disk = w.blankDisk()
	n.checker = newChecker(n)
	return n
}

func (w *world) blankDisk() (d disk) {
	for i := range d.id.LogID {
		d.id.LogID[i] = byte(w.Rand.IntN(256))
	}
	d.id.LogID[0] |= 1 // never zero
	return d
}

func (n *node) stage() *stage { return &n.w.layout.stages[n.place] }

// start opens the disk and recovers (N3, N4).
func (n *node) start() {
	w := n.w
	if n.up || w.err != nil {
		return
	}
	n.disk.id.Incarnation++
	n.disk.id.Life = w.newLife()
	w.tracef("%s starts as incarnation %d of log %s", n.id, n.disk.id.Incarnation, n.disk.id.LogID)
	w.mix('S', byte(n.place), byte(n.index))
	var err error
	if n.core, n.roles, err = n.recovered(w.Chance(w.faults.badSnapshot)); err != nil {
		w.fail("N3: node %s does not come back: %v", n.id, err)
		return
	}
	n.up, n.storing, n.awake, n.stopped, n.missed = true, nil, false, false, nil
	n.since = len(n.disk.records)
	if n.disk.heritage != nil && n.disk.last == 0 {
		if err := n.core.Inherit(n.disk.heritage); err != nil {
			w.fail("R14: node %s does not take over what its log before left: %v", n.id, err)
			return
		}
	}
	n.ticks()
	w.connectAll(n)
	n.wake()
}

// recovered makes a core of what the disk holds. The buffer that records are read into is spoilt after each, as the log's
// is when it is used again.
func (n *node) recovered(newestIsBad bool) (*core.Core, []role.Role, error) {
	cfg, err := n.config()
	if err != nil {
		return nil, nil, err
	}
	c, err := core.New(cfg)
	if err != nil {
		return nil, nil, err
	}
	data, at := n.disk.good(newestIsBad)
	analysis := core.NewLogAnalysis()
	for _, rec := range n.disk.records {
		buf := append([]byte(nil), rec.data...)
		analysis.Add(rec.at, buf)
		overwrite(buf)
	}
	r, err := c.Recover(data, at, analysis)
	if err != nil {
		return nil, nil, err
	}
	overwrite(data)
	for _, rec := range n.disk.records {
		if rec.at < r.First() {
			continue
		}
		buf := append([]byte(nil), rec.data...)
		if err := r.Replay(rec.at, buf); err != nil {
			return nil, nil, err
		}
		overwrite(buf)
	}
	return c, cfg.Roles, r.Done()
}

func overwrite(b []byte) {
	for i := range b {
		b[i] = 0xdb
	}
}

func (n *node) config() (cfg core.Config, err error) {
	l := &n.w.layout
	s := n.stage()
	cfg = core.Config{
		Self: n.id, ID: n.disk.id, Replica: analyses.Replica{Index: n.index, Of: s.replicas},
		Joiner: s.holds(topology.Joiner), Known: n.w.known, Window: l.window, Commit: l.commit, Frame: l.frame, Pace: link.DefaultPace,
	}
	for _, e := range l.edges {
		if e.to == n.place {
			cfg.In = append(cfg.In, core.InEdge{Name: e.Name, From: e.senders, Streams: e.Streams, Dialled: e.Broadcast, Inputs: l.stages[e.from].holds(topology.Input)})
		}
		if e.from == n.place {
			cfg.Out = append(cfg.Out, e.OutEdge)
		}
	}
	about := gateway.About{Cluster: "simulated", Node: string(n.id), InputNodes: l.inputNodes(), Known: n.w.known, Limits: l.limits}
	cfg.Roles, err = chain.New(s.chain, about)
	return cfg, err
}

// later plans something for this life of the node. A stopped process catches up when it goes on.
func (n *node) later(d time.Duration, do func()) {
	life := n.life
	n.w.After(d, func() {
		if n.life == life && n.up {
			n.hear(do)
		}
	})
}

// hear lets something reach the process now, or when it goes on.
func (n *node) hear(do func()) {
	if n.stopped {
		n.missed = append(n.missed, do)
		return
	}
	do()
}

func (n *node) ticks() {
	n.later(n.w.Between(10*time.Millisecond, 50*time.Millisecond), func() {
		n.ticks()
		n.wake()
	})
}

// wake plans a step. What arrives until then gets into the same one, as a burst does in the shell.
func (n *node) wake() {
	if n.awake {
		return
	}
	n.awake = true
	n.later(n.w.Between(0, 2*time.Millisecond), n.step)
}

// step is the shell's step.
func (n *node) step() {
	n.awake = false
	if n.crashes("before a step") {
		return
	}
	n.core.Tick(n.w.Now())
	n.core.Advance()
	if why := n.core.Retired(); why != "" {
		n.retire(why)
		return
	}
	n.checker.measure()
	n.store()
	if n.crashes("before sending") {
		return
	}
	n.send()
	if n.up {
		n.beat()
	}
}

// crash ends this life. What was being stored survives whole or is lost: nobody was told either way, so both must be right.
func (n *node) crash(why string) {
	w := n.w
	if !n.up {
		return
	}
	fate := ""
	if j := n.storing; j != nil && j.commit != nil && !n.disk.full {
		fate = ", its commit is lost"
		if w.Chance(0.5) {
			fate = ", its commit survives"
			n.keep(j.commit)
		}
	}
	w.tracef("%s crashes %s%s", n.id, why, fate)
	w.mix('C', byte(n.place), byte(n.index))
	w.injected("crash")
	w.count(n)
	n.life++
	n.up, n.core, n.roles, n.storing, n.missed = false, nil, nil, nil, nil
	w.disconnectAll(n)
}

// drained reports whether the node holds nothing any more.
func (n *node) drained() bool {
	return n.up && !n.stopped && n.storing == nil && n.core.Sessions() == 0 && n.core.Running() == 0 && n.core.Idle()
}

func (n *node) beat() {
	if n.w.At-n.beatAt < 100*time.Millisecond {
		return
	}
	n.beatAt = n.w.At
	n.w.heartbeat(n, n.core.Ended())
}
