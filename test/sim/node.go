package sim

import (
	"errors"
	"time"

	"posta.dev/posta/analyses"
	"posta.dev/posta/link"
	"posta.dev/posta/nodes/chain"
	"posta.dev/posta/nodes/core"
	"posta.dev/posta/nodes/gateway"
	"posta.dev/posta/nodes/heartbeat"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/nodes/shell"
	"posta.dev/posta/nodes/trace"
	"posta.dev/posta/security"
	"posta.dev/posta/topology"
	"posta.dev/posta/wal"
)

// node is the sequence of a node's processes: shell, core and roles die in a crash, the disk does not.
type node struct {
	w        *world
	id       link.NodeID
	place    int // index of its stage in the layout
	index    int
	disk     disk
	checker  *checker // of the log that is open, or was open last
	checkers map[link.LogID]*checker
	arrivals arrivals

	clock    machineClock
	away     bool   // the topology does not contain the node now
	life     uint64 // grows whenever the process ends; events that were planned for a former process are dropped
	up       bool
	ident    link.Identity // identity of the log in this incarnation
	log      openLog
	shell    *shell.Shell
	job      *shell.Job    // the committer's present job
	commit   *core.Commit  // the commit that was sealed last
	state    []byte        // the state at that commit; nil if it is not compared
	awake    bool          // a step is planned
	alarm    time.Duration // when the shell's alarm rings; 0 when it has rung
	stopped  bool          // stopped as by SIGSTOP, or by a slow batch
	fed      bool          // something has arrived that a role works on
	missed   []func()
	lastBeat *heartbeat.Beat
	drains   bool          // it was told to end, as by SIGTERM
	drainBy  time.Duration // when a node that drains gives up
	ends     time.Duration // when it must have ended
	took     uint64        // how many frames it had taken when it was told to end
	isFull   bool          // the disk was full for the last job
	suspect  bool          // the shell has asked to retire the log (R14)
	retired  bool          // a log was retired during this start
	left     bool          // the log that was retired last has left a heritage, and nothing is stored in the next log yet
	fixed    bool          // the log was damaged, and a person has repaired it
	copies   []disk
	reads    map[role.ReadID]*fileRead // files that it reads
	toldHwm  map[wireKey]link.Seq      // the hwms that were acknowledged last
	setBack  bool                      // the disk has lost records: the checker determines which
	trace    *trace.Recorder           // of this process
	steps    int                       // steps that it has done; see askForTraces
	refused  []refusal                 // frames that the transport refused; nothing was heard since
}

func newNode(w *world, id link.NodeID, place, index int) *node {
	n := &node{w: w, id: id, place: place, index: index, checkers: map[link.LogID]*checker{}, arrivals: newArrivals(),
		toldHwm: map[wireKey]link.Seq{}}
	n.disk = w.blankDisk()
	return n
}

func (n *node) stage() *stage { return &n.w.layout.stages[n.place] }

func (n *node) core() *core.Core { return n.shell.Core() }

// start opens the disk and recovers (N3, N4), as package nodes does.
func (n *node) start() {
	w := n.w
	if n.up || n.away || w.rewiring.under || w.err != nil {
		return
	}
	n.clock.booted = w.At
	if w.At < w.faults.end && w.Chance(w.faults.crash) {
		n.disk.dieSoon()
	}
	r, err := n.recovered(n.disk)
	if err == nil {
		n.log, n.ident = r.log, r.log.identity()
		if n.checker = n.checkers[n.ident.LogID]; n.checker == nil {
			n.checker = newChecker(n)
			n.checkers[n.ident.LogID] = n.checker
		}
		n.checker.reopened(r.heard, r.log.Last())
		n.checker.begins()
		err = r.err
	}
	switch {
	case errors.Is(err, errDamaged):
		w.tracef("%s is damaged, and repaired", n.id)
		n.fixed = true
		w.restart(n)
		return
	case errors.Is(err, wal.ErrDiskFull), err != nil && n.disk.failed():
		w.tracef("%s does not start: %v", n.id, err)
		n.disk.close()
		w.restart(n)
		return
	case errors.Is(err, errDied):
		w.tracef("%s dies while it starts", n.id)
		n.disk.crashed()
		w.restart(n)
		return
	case err != nil:
		w.fail("%s: node %s does not come back: %v", ruleOf(err), n.id, err)
		return
	}
	w.tracef("%s starts as incarnation %d of log %s", n.id, n.ident.Incarnation, n.ident.LogID)
	w.mix('S', byte(n.place), byte(n.index))
	n.shell, n.trace, n.up, n.suspect = r.shell, r.trace, true, false
	n.checkSuccession()
	n.checkMemory(n.core())
	w.connectAll(n)
	n.wake()
}

// ruleOf returns the rule that is violated when a node does not start again: the log's rule if the log finds damage that was not injected,
// else that of the shell and the core.
func ruleOf(err error) string {
	var damage *wal.CorruptionError
	if errors.As(err, &damage) {
		return "W3"
	}
	return "N3"
}

// recovery is the result of opening a disk.
type recovery struct {
	log   openLog
	heard []stored // the records that it holds
	shell *shell.Shell
	trace *trace.Recorder
	err   error // why the shell cannot recover from it
}

// recovered opens a disk for another incarnation, and makes a shell from it. The error says why the log could not be
// opened.
func (n *node) recovered(d disk) (r recovery, err error) {
	analysis := core.NewLogAnalysis(chain.Removes(n.stage().chain))
	r.log, err = d.open(func(at wal.Index, _ byte, data []byte) {
		analysis.Add(link.LogIndex(at), data)
		r.heard = append(r.heard, stored{at, append([]byte(nil), data...)})
	})
	if err != nil {
		return r, err
	}
	cfg, err := n.config(r.log)
	if err != nil {
		return r, err
	}
	r.trace = cfg.Core.Trace
	if r.shell, err = shell.New(cfg, n.now()); err != nil {
		return r, err
	}
	r.err = r.shell.Recover(r.log, analysis)
	return r, nil
}

func (n *node) config(log openLog) (cfg shell.Config, err error) {
	l := &n.w.layout
	s := n.stage()
	cfg = shell.Config{
		Core: core.Config{
			Self: n.id, ID: log.identity(), Files: log, Replica: analyses.Replica{Index: n.index, Of: s.replicas},
			Joiner: s.holds(topology.Joiner), Known: n.w.known, Wiring: l.wiring, Window: l.window, Commit: l.commit, Frame: l.frame,
			Memory: l.memory, Held: n.w.faults.sharedMemory, Share: l.limits.ClientShare, Tables: l.tables, Pace: link.DefaultPace,
		},
		Snapshot: n.w.faults.snapshotEvery, Drain: drainTime, Heartbeat: 100 * time.Millisecond, Dir: string(n.id), Again: n.retired,
	}
	c := &cfg.Core
	for _, e := range l.edges {
		if e.to == n.place {
			c.In = append(c.In, core.InEdge{Name: e.Name, From: e.senders, Streams: e.Streams, Dialled: e.Broadcast,
				Inputs: l.stages[e.from].holds(topology.Input), All: e.Route == topology.All})
		}
		if e.from == n.place {
			c.Out = append(c.Out, e.OutEdge)
		}
	}
	about := gateway.About{Cluster: "simulated", Node: string(n.id), InputNodes: l.inputNodes(), Inputs: n.w.endpoints(topology.Input),
		Outputs: n.w.endpoints(topology.Output), Known: n.w.known, Wiring: l.wiring, Limits: l.limits}
	if n.w.faults.files != nil {
		about.Roots = []string{root}
	}
	c.Roles, err = chain.New(s.chain, about)
	n.watchPages(c.Roles)
	n.record(c)
	return cfg, err
}

// later plans an event for this process of the node. A stopped process catches up when it continues.
func (n *node) later(d time.Duration, do func()) {
	life := n.life
	n.w.After(d, func() {
		if n.life == life && n.up {
			n.hear(do)
		}
	})
}

// hear delivers something to the process now, or when it continues.
func (n *node) hear(do func()) {
	if n.stopped {
		n.missed = append(n.missed, do)
		return
	}
	do()
}

// event is a message that the node's transport delivers.
func (n *node) event(e link.Event) {
	n.refused = n.refused[:0]
	n.fed = n.fed || e.Frames != nil
	n.shell.Event(n.now(), e)
	n.wake()
}

// request is a client's request that arrives.
func (n *node) request(from role.Peer, who security.Identity, body []byte) {
	n.fed = true
	n.shell.Requests(n.now(), []role.Request{{From: from, Client: who, Body: body}})
	n.wake()
}

// wake plans a step. The step takes everything that arrives before it, as the loop takes a burst.
func (n *node) wake() {
	if n.awake {
		return
	}
	n.awake = true
	n.later(n.w.Between(0, 2*time.Millisecond), n.step)
}

// setAlarm plans the shell's alarm for the time that the shell asked for, or a little later, unless an earlier alarm is planned. Nothing
// else wakes an idle node: a shell that forgets its alarm hangs.
func (n *node) setAlarm(at time.Time) {
	w := n.w
	wait := at.Sub(n.now())
	if wait > time.Second {
		w.fail("N10: the shell of %s wants to be left alone for %v, and links say hello each second", n.id, wait)
	}
	if w.Chance(0.03) {
		wait += w.Between(0, 300*time.Millisecond)
	}
	rings := w.At + max(0, wait)
	if n.alarm != 0 && n.alarm <= rings {
		return
	}
	n.alarm = rings
	n.later(wait, func() {
		if n.alarm == rings {
			n.alarm = 0
			n.wake()
		}
	})
}

// act carries out the output of a step.
func (n *node) act(o *shell.Output) {
	if o.Job != nil {
		if n.job != nil {
			n.w.fail("N2: the shell of %s has two jobs under way", n.id)
		}
		n.takeJob(o.Job)
	}
	if took := n.core().Counters.FramesIn; n.drains && took > n.took {
		n.w.fail("N5: %s drains and has taken %d frames since", n.id, took-n.took)
	}
	if n.crashes("before sending") {
		return
	}
	n.offersAgain(o)
	n.send(o)
	if !n.up {
		return
	}
	if o.Beat != nil {
		n.lastBeat = o.Beat
		n.w.heartbeat(n, o.Beat)
	}
	if o.End != nil {
		n.end(o)
		return
	}
	if n.drains && n.w.At > n.ends {
		n.w.fail("N5: %s still drains %v after it should have ended", n.id, n.w.At-n.ends)
	}
	n.setAlarm(o.Alarm)
	n.readFiles()
}

// checkSuccession checks how a starting node treats its log (R14): a repaired log must be retired, and the heritage of a retired log must
// be there.
func (n *node) checkSuccession() {
	if n.fixed && n.core().Retired() == "" && n.log.Last() > 0 {
		n.w.fail("R14: %s continues with a log that somebody repaired", n.id)
	}
	if n.left && n.core().Inheritance() == nil {
		n.w.fail("R14: %s has lost what its retired log left", n.id)
	}
	n.fixed = false
}

// end is the end of the loop.
func (n *node) end(o *shell.Output) {
	w := n.w
	again := false
	switch {
	case errors.Is(o.End, shell.ErrRetired):
		again = true
	case errors.Is(o.End, shell.ErrDrained):
		n.checkDrained()
	case n.disk.failed():
	case n.suspect && n.retired: // for the second time in one start: the process ends and is started again
	default:
		w.fail("W4: %s ends although its disk is good: %v", n.id, o.End)
	}
	n.down("ends: " + o.End.Error())
	n.retired = again
	w.restart(n)
}

// mayRetire notes that a log is to be retired. That is allowed only if a disk was lost or set back.
func (n *node) mayRetire() {
	w, why := n.w, n.core().Retired()
	if why == "" || n.suspect {
		return
	}
	n.suspect = true
	w.injected("retirement")
	w.tracef("%s is to retire its log: %s", n.id, why)
	if w.losses == 0 {
		w.fail("R14: %s retires its log although no disk was lost or set back: %s", n.id, why)
	}
	w.lost(n)
}

// crash ends this process. Its current job is carried out up to some point, and it is unknown up to which: every state of the disk must be
// right.
func (n *node) crash(why string) {
	if !n.up {
		return
	}
	n.w.injected("crash")
	n.partly()
	n.down("crashes " + why)
	n.disk.crashed()
	n.retired = false
}

// down ends this process, for any reason.
func (n *node) down(why string) {
	w := n.w
	w.tracef("%s %s", n.id, why)
	w.mix('C', byte(n.place), byte(n.index))
	w.count(n)
	n.life++
	if n.shell != nil {
		n.shell.Close()
	}
	n.fed, n.lastBeat, n.reads = false, nil, nil
	n.up, n.shell, n.job, n.missed, n.awake, n.alarm, n.stopped, n.drains, n.isFull = false, nil, nil, nil, false, 0, false, false, false
	n.refused = n.refused[:0]
	n.disk.close()
	w.disconnectAll(n)
}

// drained reports whether the node holds nothing any more. A node that retires its log has to start again first, because its disk has
// another state than its memory.
func (n *node) drained() bool {
	return n.up && n.core().Retired() == "" && !n.stopped && !n.drains && n.job == nil && n.core().Sessions() == 0 &&
		n.core().Running() == 0 && n.core().Idle()
}
