package shell

import (
	"slices"
	"testing"

	"posta.dev/posta/protocol/session"
)

// TestN9_WhatTheNodeDiedOfFailsFirst: the next process aborts the session before it takes anything in, and tells the receivers. When all of
// that is durable, it reports once that the note may be removed.
func TestN9_WhatTheNodeDiedOfFailsFirst(t *testing.T) {
	for name, id := range map[string]session.ID{"an open session": {7}, "a session that is not in the log": {8}} {
		t.Run(name, func(t *testing.T) {
			log := &memory{}
			newDriver(t, "relay", log, nil).introduce()
			d := newDriver(t, "relay", log, func(c *Config) { c.Lost = []Loss{{Session: id, Reason: "it hung"}} })
			if n := d.s.core.Sessions(); id == (session.ID{7}) && n != 0 {
				t.Errorf("%d sessions are open", n)
			}
			log.fails["append"] = errFull
			if d.step(0).carryOut(); d.last.Settled {
				t.Error("it is settled, and not durable")
			}
			log.fails["append"] = nil
			d.step(second).carryOut()
			if !d.last.Settled {
				t.Error("it is durable, and not settled")
			}
			if d.step(second).settle(); d.last.Settled {
				t.Error("it is settled twice")
			}
			again := newDriver(t, "relay", log, func(c *Config) { c.Lost = []Loss{{Session: id, Reason: "it hung"}} })
			if again.step(0).settle(); !again.last.Settled || again.s.core.Sessions() > 1 {
				t.Error("a crash between the commit and the removal of the note: it is not settled")
			}
		})
	}
}

// TestN9_NothingIsSettledWithoutANote: without a note the shell does not report that.
func TestN9_NothingIsSettledWithoutANote(t *testing.T) {
	d := newDriver(t, "relay", nil, nil).introduce()
	d.step(second).settle()
	if d.last.Settled || slices.Contains(d.out, "abort 2") {
		t.Errorf("something is settled: %+v", d.last)
	}
}
