package core

import (
	"slices"
	"time"
)

// detector remembers who was heard when. Silence is counted only while this medic was awake itself (M6).
type detector struct {
	cfg     *Config
	vitals  map[NodeID]*vital
	ticked  time.Time
	ever    bool      // anybody was heard
	anybody time.Time // the last sign of life of anybody, moved on like vital.heard
}

// vital is what is known of one who is watched.
type vital struct {
	Identity
	ever       bool      // heard in this medic's life
	spoke      time.Time // the last sign of life, or since when we listen
	heard      time.Time // the same, but moved on over the time in which we slept: silence is counted from here
	since      time.Time // the first sign of this life
	recovering bool      // says that it reads its log back
	gone       bool      // somebody saw the end of the process that was heard last, or of the one that was started after it
	lives      []life    // of each log the newest life that was heard, at most lifesKept; the present log is the last one
}

// life is one opening of a log. Somebody who loses his log gets another one, whose lives are counted anew.
type life struct {
	log [16]byte
	n   uint64
}

// lifesKept bounds what is remembered of logs that are lost.
const lifesKept = 8

func newDetector(cfg *Config, now time.Time) *detector {
	d := &detector{cfg: cfg, vitals: map[NodeID]*vital{}, ticked: now, anybody: now}
	for _, members := range [][]Member{cfg.Medics, cfg.Nodes} {
		for _, m := range members {
			d.vitals[m.ID] = &vital{spoke: now, heard: now}
		}
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
	for _, v := range d.vitals {
		v.since = v.since.Add(gap) // what we slept through proves nothing of a life's length
		v.heard = d.moved(v.heard, gap)
	}
	d.anybody = d.moved(d.anybody, gap)
	return gap
}

func (d *detector) moved(heard time.Time, gap time.Duration) time.Time {
	if heard = heard.Add(gap); gap >= d.cfg.SuspectAfter/2 || heard.After(d.ticked) {
		return d.ticked
	}
	return heard
}

// hear notes a sign of life; false if it comes from somebody unknown, or from a life that is over (R8).
func (d *detector) hear(who NodeID, id Identity, recovering bool, now time.Time) bool {
	v := d.vitals[who]
	switch {
	case v == nil:
		return false
	case v.over(id, d.cfg, now):
		if v.doubtful(id) {
			v.heard = now
		}
		return false
	}
	if !v.ever || v.Identity != id {
		v.since = now
	}
	v.gone = false // who speaks is not gone; a hint that was right is given again
	v.Identity, v.ever, v.spoke, v.heard, v.recovering = id, true, now, now, recovering
	d.ever, d.anybody = true, now
	v.lives = slices.DeleteFunc(v.lives, func(l life) bool { return l.log == id.LogID })
	v.lives = append(v.lives, life{id.LogID, id.Life})
	v.lives = v.lives[max(0, len(v.lives)-lifesKept):]
	return true
}

// over says that what was heard comes from a life that has ended: its log was opened again since, or given up for another one that is heard
// now. Once that one is silent we may have taken the later for the earlier, and believe the other again: a life goes on, late signs end.
func (v *vital) over(id Identity, cfg *Config, now time.Time) bool {
	for i, l := range v.lives {
		if l.log == id.LogID {
			return id.Life < l.n || id.Life == l.n && i < len(v.lives)-1 && now.Sub(v.spoke) < cfg.SuspectAfter/2
		}
	}
	return false
}

// doubtful says that what was heard is the newest life of its log, and a log that we take for given up. A late sign of that log's successor, or
// rather predecessor, may have misled us: nothing is believed of it yet, but while it is heard nobody is silent.
func (v *vital) doubtful(id Identity) bool { return slices.Contains(v.lives, life{id.LogID, id.Life}) }

// news says that this life is none of those.
func (v *vital) news(known []life) bool {
	return !slices.ContainsFunc(known, func(l life) bool { return l.log == v.LogID && l.n >= v.Life })
}

// ended notes that a process was seen to be gone. pid 0 means that there is none at all: it may have come and gone before anybody looked.
func (d *detector) ended(who NodeID, pid int) {
	if v := d.vitals[who]; v != nil && (pid == v.PID || pid == 0) {
		v.gone = true
	}
}

// alive says that somebody is to be counted on.
func (d *detector) alive(who NodeID, now time.Time) bool {
	v := d.vitals[who]
	return v != nil && v.ever && !v.dead(d.cfg, now)
}

// dead says that the silence has lasted long enough. Who was never heard may be about to start.
func (v *vital) dead(cfg *Config, now time.Time) bool {
	silence := now.Sub(v.heard)
	switch {
	case v.gone:
		return silence >= cfg.hinted()
	case v.ever:
		return silence >= cfg.SuspectAfter
	}
	return silence >= cfg.Patience
}
