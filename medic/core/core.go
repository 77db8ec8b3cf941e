package core

import (
	"fmt"
	"time"
)

// State is what a medic's log holds.
type State struct {
	Term    Term
	Journal []Entry // in order
	// Fence is the newest term that the hosts of this medic have seen. A medic that has lost its log learns there which generation it may not
	// use again (M3).
	Fence Term
}

// Core is one medic: detector, election, orders, journal. It is pure; one goroutine owns it.
type Core struct {
	cfg     Config         // never changes
	rank    map[NodeID]int // of all medics, this one included: its place in cfg.Medics. Never changes
	started time.Time      // of this medic
	det     *detector      // who was heard when; it has everybody in cfg.Medics and cfg.Nodes, this medic included

	// term is the newest that was heard of. Only enterTerm sets it, and its generation never goes back.
	term Term
	// stored is the newest term that is durable, and the one that every message carries (M3). Only Stored moves it; it is never newer than term.
	stored Term
	// role: leader implies that term.Leader is this medic. A leader says so, and its orders leave, only once stored is term.
	role           role
	leaderHeard    time.Time // follower: when the leader was heard last, or since when this medic waits to hear of one
	candidateSince time.Time // candidate: when the question was put; moved on over sleeps
	objected       time.Time // candidate: when the first higher medic objected; zero while none has
	asked          time.Time // candidate: when the question was repeated last
	// actAfter: before it no order is given or obeyed, and no election begun or ended. Only wake sets it.
	actAfter time.Time
	// electAfter: before it no election is begun. Only listen sets it, when a fence or a peer was found ahead of the log (R14).
	electAfter time.Time
	// refusedAt is when something was last reported that was not believed (M10).
	refusedAt time.Time
	reach     map[NodeID][]string // the hosts on which a peer can act, by its last heartbeat
	lastBeat  time.Time           // of this medic
	fencedAt  time.Time           // when the fences were last told of the term

	journal    *Journal             // all that is known, stored or not
	have       []EntryID            // what of the journal is durable; set by New and Stored
	written    uint64               // leader: entries in this term; the next one is numbered one higher
	ordered    uint64               // leader: orders in this term, likewise
	targets    map[NodeID]*target   // leader: everybody but this medic; empty otherwise, and at the beginning of each term
	replicated map[NodeID]time.Time // when a peer was last sent entries

	executing map[OrderID]bool // orders of this term that were taken in hand here, and of which no report is there
	reports   []Report         // the last maxReports of this term given here, for orders that are repeated

	build    batch  // what is to be stored next, and what waits for it
	inflight *batch // what Seal gave, until Stored; nil while nothing is being stored
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
		reach: map[NodeID][]string{}, journal: newJournal(), executing: map[OrderID]bool{}, replicated: map[NodeID]time.Time{}, targets: map[NodeID]*target{},
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

// believeFence begins with what the hosts have seen, if that is ahead of this medic's log.
func (c *Core) believeFence(s State, now time.Time) {
	switch {
	case s.Fence == s.Term || s.Fence.Gen < s.Term.Gen || s.Fence.Gen == 0:
		return
	case !s.Term.Gen.reaches(s.Fence.Gen):
		c.refuse(now, "a host's fence says generation %d, the log %d: more than a sane step (M10); if the fence is damaged, stop all medics of the host and remove it",
			s.Fence.Gen, s.Term.Gen)
		return
	case s.Fence.Gen > s.Term.Gen:
		c.enterTerm(s.Fence, now)
	}
	c.listen(now)
}

// listen comes when this medic finds that somebody is ahead of its log as it starts: a host's fence, or a peer. Its log may have been lost or
// set back, and with it what it led in. For a while it neither leads nor objects, so that it hears who is ahead of the fence, too (R14).
func (c *Core) listen(now time.Time) { c.electAfter = now.Add(listenTimeouts * c.cfg.SuspectAfter) }

// listenTimeouts is for how many SuspectAfter a medic that finds others ahead of its log listens before it may lead. Another host, or a peer
// that has not spoken yet, may know of a newer generation still.
const listenTimeouts = 3

// Tick must be called several times in a heartbeat, after everything that has arrived was taken.
func (c *Core) Tick(now time.Time) {
	c.check()
	c.noticeSleep(now)
	c.elect(now)
	if c.role == leader {
		c.reconcileAll(now)
	}
	if now.Sub(c.lastBeat) >= c.cfg.Heartbeat {
		c.beat(now)
	}
}

// check asserts what always holds between two calls.
func (c *Core) check() {
	assert(c.role != leader || c.term.Leader == c.cfg.Self, "M1: it leads in the term %v of another", c.term)
	assert(c.stored.Gen <= c.term.Gen, "M3: term %v is stored, and the present one is %v", c.stored, c.term)
	assert(c.role == leader || len(c.targets) == 0, "M1: it does not lead in term %v, and has targets", c.term)
}

func (c *Core) beat(now time.Time) {
	c.lastBeat = now
	if now.Sub(c.fencedAt) >= c.cfg.SuspectAfter && c.stored.Gen > 0 {
		c.fencedAt, c.out.Fence = now, c.stored // a fence that was set back does not stay so (R14)
	}
	_, leading := c.Term()
	c.publish(Message{Kind: Beat, Leading: leading, Uptime: now.Sub(c.started), Reach: c.cfg.Reach, Have: c.have})
}

// publish publishes something that needs no disk.
func (c *Core) publish(m Message) {
	m.From, m.ID, m.Term = c.cfg.Self, c.cfg.ID, c.stored
	c.out.Messages = append(c.out.Messages, m)
}

// publishStored publishes something once all that was recorded until now is durable (M3, M8).
func (c *Core) publishStored(m Message) { c.build.messages = append(c.build.messages, m) }

// Term is the newest term that was heard of, and whether this medic leads in it for all to know.
func (c *Core) Term() (t Term, leading bool) { return c.term, c.role == leader && c.stored == c.term }

// Journal is what the medic knows, oldest first; valid until the next call.
func (c *Core) Journal() []Entry { return c.journal.entries }

// assert stops a medic whose state contradicts a rule. Acting on would do harm; the next start recovers from what is on disk.
func assert(ok bool, rule string, args ...any) {
	if !ok {
		panic(fmt.Sprintf(rule, args...))
	}
}
