package core

import (
	"slices"
	"time"

	"posta.dev/posta/internal/awake"
)

// detector remembers when each member was last heard. Only time in which this medic itself was awake counts as silence (M6).
type detector struct {
	cfg      *Config
	members  map[NodeID]*liveness // of all members; it never gains or loses one
	ticks    awake.Ticks          // an interval of more than a heartbeat is a sleep
	heardAny bool                 // any member was heard since this medic started
	lastAny  time.Time            // the last sign of life of any member, shifted like liveness.silentSince
}

// liveness is what is known of one member.
type liveness struct {
	Identity
	known        bool          // it was heard since this medic started; Identity is valid then
	lastSign     time.Time     // its last sign of life, or when this medic started
	silentSince  time.Time     // lastSign, shifted by the time that this medic slept: silence is counted from here
	firstSign    time.Time     // the first sign of its incarnation, shifted in the same way
	works        bool          // its incarnation has recovered its log, and its mark has changed since its first sign (N9)
	firstMark    uint64        // the mark in the first sign of its incarnation
	standsFor    time.Duration // if its loop hangs: how long its mark has stayed the same, by its last sign; else 0
	ended        bool          // a medic saw the end of its process: the one last heard, or the one started after it
	incarnations []incarnation // the newest incarnation heard of each of its logs, the present log last; at most maxIncarnations
}

// incarnation is one opening of a log. A member that loses its log gets a new one, whose incarnations count from 1 again.
type incarnation struct {
	log [16]byte
	n   uint64
}

// maxIncarnations bounds how many lost logs of a member are remembered.
const maxIncarnations = 8

func newDetector(cfg *Config, now time.Time) *detector {
	d := &detector{cfg: cfg, members: map[NodeID]*liveness{}, ticks: awake.NewTicks(cfg.Heartbeat, now), lastAny: now}
	for _, m := range cfg.members() {
		d.members[m.ID] = &liveness{lastSign: now, silentSince: now}
	}
	return d
}

// tick returns how long this medic has slept. A short sleep is subtracted from each member's silence. After a longer one silence proves
// nothing, so each member gets a full timeout again: its heartbeats may be lost, and if the whole machine was starved it needs time, too.
func (d *detector) tick(now time.Time) (slept time.Duration) {
	_, gap := d.ticks.Tick(now)
	if gap == 0 {
		return 0
	}
	for _, v := range d.members {
		v.firstSign = v.firstSign.Add(gap) // time in which this medic slept does not show that the incarnation worked
		v.silentSince = d.shifted(v.silentSince, gap)
	}
	d.lastAny = d.shifted(d.lastAny, gap)
	return gap
}

func (d *detector) shifted(heard time.Time, gap time.Duration) time.Time {
	if heard = heard.Add(gap); gap >= d.cfg.SuspectAfter/2 || heard.After(d.ticks.Last()) {
		return d.ticks.Last()
	}
	return heard
}

// hear notes a sign of life; false if its sender is unknown, or its incarnation superseded (R8).
//
// A node ends itself if its loop hangs for too long. A heartbeat of a node whose loop hangs for longer than that is not a sign of life: the
// silence continues, and the node is restarted like any silent node (N9). The heartbeat only shows that this medic is not cut off.
func (d *detector) hear(who NodeID, s Sign, now time.Time) bool {
	v, id := d.members[who], s.Identity
	switch {
	case v == nil:
		return false
	case v.superseded(id, d.cfg, now):
		if v.disputed(id) {
			v.silentSince = now
		}
		return false
	}
	v.ended = false // a process that is heard has not ended; if the hint was right, it is repeated
	d.heardAny, d.lastAny = true, now
	if v.standsFor = s.hungFor(d.cfg); v.standsFor > 0 {
		return true
	}
	if !v.known || v.Identity != id {
		v.firstSign, v.firstMark, v.works = now, s.Mark, false
	}
	v.works = v.works || !s.Recovering && (s.Mark == 0 || s.Mark != v.firstMark)
	v.Identity, v.known, v.lastSign, v.silentSince = id, true, now, now
	v.incarnations = slices.DeleteFunc(v.incarnations, func(l incarnation) bool { return l.log == id.LogID })
	v.incarnations = append(v.incarnations, incarnation{id.LogID, id.Incarnation})
	v.incarnations = v.incarnations[max(0, len(v.incarnations)-maxIncarnations):]
	return true
}

// superseded reports whether a sign comes from an incarnation that has ended: its log was opened again since, or replaced by another log
// that is heard now. Which of two logs is newer is a guess. So when the log that counts as newer falls silent, the other one is accepted
// again: late signs stop, but signs of a living incarnation continue.
func (v *liveness) superseded(id Identity, cfg *Config, now time.Time) bool {
	for i, l := range v.incarnations {
		if l.log == id.LogID {
			return id.Incarnation < l.n || id.Incarnation == l.n && i < len(v.incarnations)-1 && now.Sub(v.lastSign) < cfg.SuspectAfter/2
		}
	}
	return false
}

// reaches reports whether an incarnation number is plausible after those that were heard of its log (M10).
func (v *liveness) reaches(id Identity) bool {
	last := uint64(0)
	for _, l := range v.incarnations {
		if l.log == id.LogID {
			last = l.n
		}
	}
	return saneStep(last, id.Incarnation)
}

// disputed reports whether a sign comes from the newest incarnation of a log that counts as replaced. That guess may be wrong, since a late
// sign of an older log may have caused it. So the sign ends the silence, and is ignored otherwise.
func (v *liveness) disputed(id Identity) bool {
	return slices.Contains(v.incarnations, incarnation{id.LogID, id.Incarnation})
}

// isNew reports whether the present incarnation is newer than the known ones: its log is not among theirs, or its number is higher.
func (v *liveness) isNew(known []incarnation) bool {
	return !slices.ContainsFunc(known, func(l incarnation) bool { return l.log == v.LogID && l.n >= v.Incarnation })
}

// processEnded notes that a process has ended. Pid 0 means that the member has no process at all: one may have started and ended between
// two looks.
func (d *detector) processEnded(who NodeID, pid int) {
	if v := d.members[who]; v != nil && (pid == v.PID || pid == 0) {
		v.ended = true
	}
}

// alive reports whether a member was heard recently enough.
func (d *detector) alive(who NodeID, now time.Time) bool {
	v := d.members[who]
	return v != nil && v.known && !v.dead(d.cfg, now)
}

// dead reports whether the silence has lasted long enough. A member that was never heard may be about to start.
func (v *liveness) dead(cfg *Config, now time.Time) bool {
	silence := now.Sub(v.silentSince)
	switch {
	case v.ended:
		return silence >= cfg.hintTimeout()
	case v.known:
		return silence >= cfg.SuspectAfter
	}
	return silence >= cfg.StartTimeout
}
