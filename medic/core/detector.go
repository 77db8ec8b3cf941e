package core

import (
	"slices"
	"time"
)

// detector remembers who was heard when. Silence is counted only while this medic was awake itself (M6).
type detector struct {
	cfg      *Config
	members  map[NodeID]*liveness
	ticked   time.Time
	heardAny bool      // anybody was heard
	lastAny  time.Time // the last sign of life of anybody, moved on like vital.heard
}

// liveness is what is known of one who is watched.
type liveness struct {
	Identity
	known        bool          // heard in this medic's life
	lastSign     time.Time     // the last sign of life, or since when we listen
	silentSince  time.Time     // the same, but moved on over the time in which we slept: silence is counted from here
	firstSign    time.Time     // the first sign of this life
	recovering   bool          // says that it reads its log back
	ended        bool          // somebody saw the end of the process that was heard last, or of the one that was started after it
	incarnations []incarnation // of each log the newest life that was heard, at most lifesKept; the present log is the last one
}

// incarnation is one opening of a log. Somebody who loses his log gets another one, whose lives are counted anew.
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

// tick says whether this medic has slept. A short nap is taken out of everybody's silence; after a longer one nobody's silence means
// anything, and all of them get one full timeout more: their heartbeats may be lost, and who was starved along with us needs time.
func (d *detector) tick(now time.Time) (slept time.Duration) {
	gap := now.Sub(d.ticked)
	d.ticked = now
	if gap <= d.cfg.Heartbeat {
		return 0
	}
	for _, v := range d.members {
		v.firstSign = v.firstSign.Add(gap) // what we slept through proves nothing of a life's length
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

// hear notes a sign of life; false if it comes from somebody unknown, or from a life that is over (R8).
func (d *detector) hear(who NodeID, id Identity, recovering bool, now time.Time) bool {
	v := d.members[who]
	switch {
	case v == nil:
		return false
	case v.superseded(id, d.cfg, now):
		if v.disputed(id) {
			v.silentSince = now
		}
		return false
	}
	if !v.known || v.Identity != id {
		v.firstSign = now
	}
	v.ended = false // who speaks is not gone; a hint that was right is given again
	v.Identity, v.known, v.lastSign, v.silentSince, v.recovering = id, true, now, now, recovering
	d.heardAny, d.lastAny = true, now
	v.incarnations = slices.DeleteFunc(v.incarnations, func(l incarnation) bool { return l.log == id.LogID })
	v.incarnations = append(v.incarnations, incarnation{id.LogID, id.Incarnation})
	v.incarnations = v.incarnations[max(0, len(v.incarnations)-maxIncarnations):]
	return true
}

// superseded says that what was heard comes from a life that has ended: its log was opened again since, or given up for another one that is heard
// now. Once that one is silent we may have taken the later for the earlier, and believe the other again: a life goes on, late signs end.
func (v *liveness) superseded(id Identity, cfg *Config, now time.Time) bool {
	for i, l := range v.incarnations {
		if l.log == id.LogID {
			return id.Incarnation < l.n || id.Incarnation == l.n && i < len(v.incarnations)-1 && now.Sub(v.lastSign) < cfg.SuspectAfter/2
		}
	}
	return false
}

// disputed says that what was heard is the newest life of its log, and a log that we take for given up. A late sign of that log's successor, or
// rather predecessor, may have misled us: nothing is believed of it yet, but while it is heard nobody is silent.
func (v *liveness) disputed(id Identity) bool {
	return slices.Contains(v.incarnations, incarnation{id.LogID, id.Incarnation})
}

// isNew says that this life is none of those.
func (v *liveness) isNew(known []incarnation) bool {
	return !slices.ContainsFunc(known, func(l incarnation) bool { return l.log == v.LogID && l.n >= v.Incarnation })
}

// processEnded notes that a process was seen to be gone. pid 0 means that there is none at all: it may have come and gone before anybody looked.
func (d *detector) processEnded(who NodeID, pid int) {
	if v := d.members[who]; v != nil && (pid == v.PID || pid == 0) {
		v.ended = true
	}
}

// alive says that somebody is to be counted on.
func (d *detector) alive(who NodeID, now time.Time) bool {
	v := d.members[who]
	return v != nil && v.known && !v.dead(d.cfg, now)
}

// dead says that the silence has lasted long enough. Who was never heard may be about to start.
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
