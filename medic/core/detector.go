package core

import (
	"slices"
	"time"
)

// detector remembers who was heard when. Silence is counted only while this medic was awake itself (M6).
type detector struct {
	cfg      *Config
	members  map[NodeID]*liveness // of all members; it never gains or loses one
	ticked   time.Time            // the last tick
	heardAny bool                 // anybody was heard in this medic's incarnation
	lastAny  time.Time            // the last sign of life of anybody, moved on like liveness.silentSince
}

// liveness is what is known of one member.
type liveness struct {
	Identity
	known        bool          // heard in this medic's incarnation; Identity is valid then
	lastSign     time.Time     // the last sign of life, or since when this medic listens
	silentSince  time.Time     // the same, but moved on over the time in which this medic slept: silence is counted from here
	firstSign    time.Time     // the first sign of this incarnation, moved on likewise
	works        bool          // this incarnation has read its log back, and its mark has moved since its first sign (N9)
	firstMark    uint64        // of this incarnation: the mark in its first sign
	standsFor    time.Duration // its loop hangs: for how long its mark has stood, by its last sign; 0 if that sign counted
	ended        bool          // a medic saw the end of the process that was heard last, or of the one that was started after it
	incarnations []incarnation // the newest that was heard of each log, at most maxIncarnations; that of the present log is the last
}

// incarnation is one opening of a log. A member that loses its log gets another one, whose incarnations are counted anew.
type incarnation struct {
	log [16]byte
	n   uint64
}

// maxIncarnations bounds what is remembered of logs that are lost.
const maxIncarnations = 8

func newDetector(cfg *Config, now time.Time) *detector {
	d := &detector{cfg: cfg, members: map[NodeID]*liveness{}, ticked: now, lastAny: now}
	for _, m := range cfg.members() {
		d.members[m.ID] = &liveness{lastSign: now, silentSince: now}
	}
	return d
}

// tick returns how long this medic has slept. A short sleep is taken out of everybody's silence. After a longer one nobody's silence means
// anything, and all of them get one full timeout more: their heartbeats may be lost, and a member that was starved as well needs time.
func (d *detector) tick(now time.Time) (slept time.Duration) {
	gap := now.Sub(d.ticked)
	d.ticked = now
	if gap <= d.cfg.Heartbeat {
		return 0
	}
	for _, v := range d.members {
		v.firstSign = v.firstSign.Add(gap) // what this medic slept through proves nothing about how long the incarnation worked
		v.silentSince = d.shifted(v.silentSince, gap)
	}
	d.lastAny = d.shifted(d.lastAny, gap)
	return gap
}

func (d *detector) shifted(heard time.Time, gap time.Duration) time.Time {
	if heard = heard.Add(gap); gap >= d.cfg.SuspectAfter/2 || heard.After(d.ticked) {
		return d.ticked
	}
	return heard
}

// hear notes a sign of life; false if its sender is unknown, or its incarnation superseded (R8).
//
// A sign that says that its node's loop hangs for so long that the node should have ended itself is no sign of life: the silence goes on, and in
// the end the node is restarted like any that is silent (N9). But whoever hears it is not cut off.
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
	v.ended = false // what speaks is not gone; a hint that was right is given again
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

// superseded reports whether a sign comes from an incarnation that has ended: its log was opened again since, or given up for another one that
// is heard now. Which of two logs is the later one is a guess. So once the log that is believed falls silent, the other is believed again: late
// signs end, an incarnation that works goes on.
func (v *liveness) superseded(id Identity, cfg *Config, now time.Time) bool {
	for i, l := range v.incarnations {
		if l.log == id.LogID {
			return id.Incarnation < l.n || id.Incarnation == l.n && i < len(v.incarnations)-1 && now.Sub(v.lastSign) < cfg.SuspectAfter/2
		}
	}
	return false
}

// reaches reports whether an incarnation can follow what was heard of its log (M10).
func (v *liveness) reaches(id Identity) bool {
	last := uint64(0)
	for _, l := range v.incarnations {
		if l.log == id.LogID {
			last = l.n
		}
	}
	return saneStep(last, id.Incarnation)
}

// disputed reports whether a sign comes from the newest incarnation of a log that is taken for given up. That guess may be wrong: a late sign
// of the log before it may have caused it. Nothing else is believed of the sign, but it ends the silence.
func (v *liveness) disputed(id Identity) bool {
	return slices.Contains(v.incarnations, incarnation{id.LogID, id.Incarnation})
}

// isNew reports whether the present incarnation is neither one of those, nor an earlier one of their logs.
func (v *liveness) isNew(known []incarnation) bool {
	return !slices.ContainsFunc(known, func(l incarnation) bool { return l.log == v.LogID && l.n >= v.Incarnation })
}

// processEnded notes that a process was seen to be gone. With pid 0 there is none at all: one may have come and gone before anybody looked.
func (d *detector) processEnded(who NodeID, pid int) {
	if v := d.members[who]; v != nil && (pid == v.PID || pid == 0) {
		v.ended = true
	}
}

// alive reports whether a member is heard.
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
