package core

import (
	"fmt"
	"time"
)

// State is what a medic's log holds.
type State struct {
	Term    Term
	Journal []Entry // in order
	// Fence is the newest term that the hosts of this medic have seen. A medic that has lost its log learns from it which generations it must
	// not use again (M3).
	Fence Term
}

// Core is one medic: detector, election, orders, journal. It is pure; one goroutine owns it.
type Core struct {
	cfg     Config         // never changes
	rank    map[NodeID]int // index in cfg.Medics, of all medics, this one included; never changes
	started time.Time      // of this medic
	det     *detector      // when each member was heard; it has all of cfg.Medics and cfg.Nodes, this medic included

	// term is the newest known term. Only enterTerm sets it, and its generation never decreases.
	term Term
	// stored is the newest durable term. Every message carries it (M3). Only Stored changes it; it is never newer than term.
	stored Term
	// role: if role is leader, term.Leader is this medic. A leader announces itself and sends orders only once stored equals term.
	role           role
	leaderHeard    time.Time // follower: when the leader was last heard, or when this medic began to wait for one
	candidateSince time.Time // candidate: when it began to ask higher medics; shifted by the time that this medic slept
	objected       time.Time // candidate: when the first higher medic objected; zero while none has
	asked          time.Time // candidate: when it last asked
	// actAfter: before this time the medic gives and obeys no order, and begins and ends no election. Only wake sets it.
	actAfter time.Time
	// electAfter: before this time the medic begins no election. Only listen sets it, when a fence or a peer is ahead of the log (R14).
	electAfter time.Time
	// refusedAt is when a refused message was last reported (M10).
	refusedAt time.Time
	reach     map[NodeID][]string // the hosts on which each peer can act, from its last heartbeat
	lastBeat  time.Time           // when this medic last sent a heartbeat
	fencedAt  time.Time           // when the fences were last told about the term

	journal    *Journal             // all that is known, stored or not
	have       []EntryID            // the durable part of the journal; set by New and Stored
	written    uint64               // leader: entries in this term; the next one is numbered one higher
	ordered    uint64               // leader: orders in this term; the next one is numbered one higher
	targets    map[NodeID]*target   // leader: all members but this medic; empty for others, and at the beginning of each term
	replicated map[NodeID]time.Time // when a peer was last sent entries

	executing map[OrderID]bool // orders of this term that this medic carries out and has not reported yet
	reports   []Report         // the last maxReports reports of this medic in this term: the answers to repeated orders

	build    batch  // the records to store next, and what waits for them
	inflight *batch // what Seal returned, until Stored is called; nil while nothing is being stored
	out      Output // what may leave; Output empties it
}

type role int

const (
	follower role = iota
	candidate
	leader
)

// New makes a medic that begins to listen now.
func New(cfg Config, s State, now time.Time) *Core {
	c := &Core{
		cfg: cfg.withDefaults(), rank: map[NodeID]int{}, started: now, term: s.Term, stored: s.Term, leaderHeard: now,
		reach: map[NodeID][]string{}, journal: newJournal(), executing: map[OrderID]bool{}, replicated: map[NodeID]time.Time{},
		targets: map[NodeID]*target{},
	}
	for i, m := range cfg.Medics {
		c.rank[m.ID] = i
	}
	for _, e := range s.Journal {
		c.journal.add(e, e.EntryID, now)
	}
	c.have = c.journal.extents()
	c.det = newDetector(&c.cfg, now)
	c.believeFence(s, now)
	return c
}

// believeFence adopts the term that the hosts have seen, if it is ahead of this medic's log.
func (c *Core) believeFence(s State, now time.Time) {
	switch {
	case s.Fence == s.Term || s.Fence.Gen < s.Term.Gen || s.Fence.Gen == 0:
		return
	case !s.Term.Gen.reaches(s.Fence.Gen):
		c.refuse(now, "a host's fence says generation %d, the log %d: more than a sane step (M10); if the fence is damaged, stop all medics "+
			"of the host and remove it",
			s.Fence.Gen, s.Term.Gen)
		return
	case s.Fence.Gen > s.Term.Gen:
		c.enterTerm(s.Fence, now)
	}
	c.listen(now)
}

// listen is called when this medic starts and finds a host's fence or a peer ahead of its log. The log may have been lost or set back, and
// with it terms in which this medic led. So for a while it neither leads nor objects, and hears whether anybody is even further ahead
// (R14).
func (c *Core) listen(now time.Time) { c.electAfter = now.Add(listenTimeouts * c.cfg.SuspectAfter) }

// listenTimeouts is how many times SuspectAfter a medic with an outdated log listens before it may lead. Another host, or a peer that was
// not heard yet, may know an even newer generation.
const listenTimeouts = 3

// Tick must be called as often as Pause says, each time after all received messages were handed over.
func (c *Core) Tick(now time.Time) {
	c.check()
	c.noticeSleep(now)
	c.elect(now)
	if c.role == leader {
		c.reconcileAll(now)
	}
	if now.Sub(c.lastBeat) >= c.cfg.Heartbeat-c.cfg.Heartbeat/8 { // ticks come a little early or late
		c.beat(now)
	}
}

// check asserts the invariants that hold between two calls.
func (c *Core) check() {
	assert(c.role != leader || c.term.Leader == c.cfg.Self, "M1: it leads in the term %v of another", c.term)
	assert(c.stored.Gen <= c.term.Gen, "M3: term %v is stored, and the present one is %v", c.stored, c.term)
	assert(c.role == leader || len(c.targets) == 0, "M1: it does not lead in term %v, and has targets", c.term)
}

func (c *Core) beat(now time.Time) {
	c.lastBeat = now
	if now.Sub(c.fencedAt) >= c.cfg.SuspectAfter && c.stored.Gen > 0 {
		c.fencedAt, c.out.Fence = now, c.stored // repairs a fence that was set back (R14)
	}
	_, leading := c.Term()
	c.publish(Message{Kind: Beat, Leading: leading, Uptime: now.Sub(c.started), Reach: c.cfg.Reach, Have: c.have})
}

// publish sends a message that does not depend on the disk.
func (c *Core) publish(m Message) {
	m.From, m.ID, m.Term = c.cfg.Self, c.cfg.ID, c.stored
	c.out.Messages = append(c.out.Messages, m)
}

// publishStored sends a message once all records so far are durable (M3, M8).
func (c *Core) publishStored(m Message) { c.build.messages = append(c.build.messages, m) }

// Term is the newest known term, and whether this medic leads in it; it leads once the term is durable.
func (c *Core) Term() (t Term, leading bool) { return c.term, c.role == leader && c.stored == c.term }

// Journal is all entries that this medic has, oldest first; valid until the next call.
func (c *Core) Journal() []Entry { return c.journal.entries }

// assert stops a medic whose state contradicts a rule. To continue would do harm; the next start recovers from the log.
func assert(ok bool, rule string, args ...any) {
	if !ok {
		panic(fmt.Sprintf(rule, args...))
	}
}
