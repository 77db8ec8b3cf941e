package shell

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"posta.dev/posta/link"
	"posta.dev/posta/wal"
)

// from is an acknowledgement from a given log of the receiver.
func (d *driver) from(id link.Identity, hwm link.Seq) {
	a := link.Ack{Edge: "out", To: "me-1", Log: ours.LogID, Receiver: "z-1", ID: id, Hwm: hwm, Echo: ours.Life}
	if hwm > 0 {
		a.HwmLife = ours.Life
	}
	d.s.Event(d.now, link.Event{Acks: []link.Ack{a}})
}

// cuts returns how far the log was cut since the last call.
func (d *driver) cuts() (all []string) {
	for _, c := range d.log.calls {
		if strings.HasPrefix(c, "cut") {
			all = append(all, c)
		}
	}
	d.log.calls = nil
	return all
}

// newLogOnAFullDisk is a node whose snapshot lets the log be cut, and whose disk is full. Then its receiver comes with another log, which
// has everything. The log that the records name has acknowledged nothing. late: the commit that found the disk full was sealed before.
func newLogOnAFullDisk(t *testing.T, log *memory, late bool) *driver {
	t.Helper()
	d := newDriver(t, "relay", log, func(c *Config) { c.Snapshot = 1 }).introduce()
	for range 3 {
		d.frame(link.Data, []byte("x"))
		d.step(second).settle()
	}
	if d.log.at == 0 || d.log.cut != 0 {
		t.Fatalf("a snapshot of record %d, and %d records are cut", d.log.at, d.log.cut)
	}
	d.log.full, d.log.calls = true, nil
	another := link.Identity{LogID: link.LogID{9}, Incarnation: 1, Life: 99}
	if late {
		d.frame(link.Data, []byte("y"))
		d.step(second).settle()
	}
	d.from(another, 0)
	d.from(another, 3)
	return d
}

// TestR8_NothingIsCutBeforeAReceiversNewLogIsStored: the disk is full. If the log were cut as far as the new log has acknowledged, a
// restart would find records that name the former log only, and fail a session that has lost nothing.
func TestR8_NothingIsCutBeforeAReceiversNewLogIsStored(t *testing.T) {
	for _, late := range []bool{false, true} {
		d := newLogOnAFullDisk(t, nil, late)
		for range 10 {
			d.step(retryFull).settle()
		}
		if all := d.cuts(); len(all) > 0 {
			t.Fatalf("late %v: the log is cut to %v, and no record names the receiver's new log", late, all)
		}
		again := newDriver(t, "relay", &memory{records: d.log.records, snapshot: d.log.snapshot, at: d.log.at, cut: d.log.cut},
			func(c *Config) { c.Core.ID.Incarnation++ })
		again.s.Event(again.now, link.Event{Connected: true, Edge: "out", Node: "z-1"})
		again.from(link.Identity{LogID: link.LogID{9}, Incarnation: 1, Life: 99}, 3)
		if again.s.core.Sessions() != 1 {
			t.Fatalf("late %v: a restart fails a session of which the receiver's new log has everything", late)
		}
		d.log.full = false
		for range 10 {
			d.step(second).settle()
		}
		if d.log.cut != 3 {
			t.Errorf("late %v: the new log is stored, and the log is cut to %d", late, d.log.cut)
		}
	}
}

// TestW5_AReceiversNewLogMayUseTheReserve: otherwise a disk that is full of this log would stay full, because nothing could be cut.
func TestW5_AReceiversNewLogMayUseTheReserve(t *testing.T) {
	for _, late := range []bool{false, true} {
		d := newLogOnAFullDisk(t, &memory{reserve: 1 << 20}, late)
		for range 10 {
			d.step(retryFull).settle()
		}
		if all := d.cuts(); d.log.spent == 0 || !slices.Contains(all, "cut3") {
			t.Errorf("late %v: %d bytes of the reserve are spent, and the log is cut to %v", late, d.log.spent, all)
		}
	}
}

// TestW5_WhatIsNotRemovedIsRemovedLater: the removal of the heritage, or of files, finds no room or no descriptor. The commit is stored, so
// nothing else would remember them before the next start.
func TestW5_WhatIsNotRemovedIsRemovedLater(t *testing.T) {
	d := newDriver(t, "desk", nil, nil)
	d.ask("a").step(second).carryOut()
	d.s.Core().Retire("because")
	d.step(0).carryOut()
	next := &memory{heritage: d.log.heritage, fails: map[string]error{"drop": errFull}}
	d = newDriver(t, "desk", next, nil)
	if d.step(0).carryOut(); len(next.records) != 1 || next.heritage == nil {
		t.Fatalf("%d records, and %q is left", len(next.records), next.heritage)
	}
	delete(next.fails, "drop")
	if d.step(retryFull).settle(); next.heritage != nil || len(next.records) != 1 {
		t.Errorf("%d records, and %q is left", len(next.records), next.heritage)
	}
	next.calls = nil
	if d.ask("b").step(second).settle(); slices.Contains(next.calls, "drop") {
		t.Errorf("it is removed again: %v", next.calls)
	}

	d = newDriver(t, "archive", nil, nil)
	for _, call := range []string{"append", "drop files"} {
		d.ask("old" + call).step(second).settle()
		if d.log.files["old"+call] == nil {
			t.Fatal("the file is not saved")
		}
		d.log.fails[call] = errFull
		d.ask("new" + call).step(second).settle()
		delete(d.log.fails, call)
		d.step(retryFull).settle()
		if d.log.files["old"+call] != nil || d.log.files["new"+call] == nil {
			t.Errorf("%s found no room, and then there are %d files", call, len(d.log.files))
		}
	}
}

// TestW5_FilesThatFoundNoRoom: they are tried again after a pause, and their role hears that they are saved once they are. So it is with
// the sweep of a start.
func TestW5_FilesThatFoundNoRoom(t *testing.T) {
	log := &memory{files: map[string][]byte{"nobody's": nil}, fails: map[string]error{"sweep": errFull}}
	d := newDriver(t, "archive", log, nil)
	d.step(0).settle()
	delete(log.fails, "sweep")
	if d.step(retryFull).settle(); len(log.files) != 0 {
		t.Error("what nobody refers to is not swept")
	}
	log.fails["save file"] = errFull
	d.ask("a").step(second).settle().noJob("at once").step(retryFull - 1).noJob("too early")
	role := d.s.cfg.Core.Roles[0].(*archive)
	if role.saved {
		t.Error("a file that found no room counts as saved")
	}
	delete(log.fails, "save file")
	if d.step(1).settle(); !role.saved || log.files["a"] == nil {
		t.Error("the file is not saved when there is room")
	}
}

// TestW5_RolesHearThatTheDiskIsFull, and that it is not full any more: inputs open no session meanwhile.
func TestW5_RolesHearThatTheDiskIsFull(t *testing.T) {
	told := func(d *driver) bool { d.step(0).settle(); return d.s.cfg.Core.Roles[0].(*desk).full }
	d := newDriver(t, "desk", nil, nil)
	d.log.fails["append"] = errFull
	if d.ask("a").step(second).settle(); !told(d) {
		t.Error("the disk is full, and they are not told")
	}
	delete(d.log.fails, "append")
	if d.step(retryFull).settle(); told(d) {
		t.Error("there is room, and they are not told")
	}

	d = newDriver(t, "desk", nil, func(c *Config) { c.Snapshot = 1 })
	d.log.fails["save"] = errFull
	if d.ask("a").step(second).settle(); !told(d) {
		t.Error("a snapshot finds no room, and they are not told")
	}
	d.log.full = true // and no more is asked of it
	d.s.sinceCut = 0
	if d.step(retryFull).settle(); told(d) {
		t.Error("nothing waits for room any more, and they are not told")
	}

	log := &memory{reserve: 1 << 20, spent: 1 << 20, full: true}
	d = newDriver(t, "desk", log, nil)
	d.step(0).settle()
	d.log.full = false
	d.ask("a").step(clientDeadline).carryOut() // it finds room, and the reserve is not whole yet
	if d.log.spent == 0 || !d.s.cfg.Core.Roles[0].(*desk).full {
		t.Errorf("%d bytes of the reserve are missing, and they hear that the disk is not full", d.log.spent)
	}
}

// TestN5_ADrainRemovesWhatItsCommitReplaces: the heritage of the log before, and files.
func TestN5_ADrainRemovesWhatItsCommitReplaces(t *testing.T) {
	log := &memory{heritage: encodeHeritage([][]byte{[]byte("a")})}
	d := newDriver(t, "desk", log, nil)
	d.s.Drain(d.now)
	if d.step(0).settle(); len(log.records) != 1 || log.heritage != nil {
		t.Errorf("%d records, and %q is left", len(log.records), log.heritage)
	}
	d = newDriver(t, "archive", nil, nil)
	d.ask("old").step(second).settle().ask("new").s.Drain(d.now)
	if d.step(0).settle(); d.log.files["old"] != nil || len(d.log.records) != 2 {
		t.Errorf("%d records, and a file that nobody needs is left", len(d.log.records))
	}
}

// TestW5_WhichErrorOfAJobCounts: a final error of the cut is more than a full disk, and a lack of descriptors, which the reserve does not
// end, is no reason to spend it.
func TestW5_WhichErrorOfAJobCounts(t *testing.T) {
	d := newDriver(t, "desk", nil, nil)
	d.ask("a").step(second)
	j := *d.job
	j.Cut, j.Spend = 1, true
	m := &memory{fails: map[string]error{"append": errFull, "cut": errFatal}}
	if a := CarryOut(m, j); !errors.Is(a.Err, errFatal) {
		t.Errorf("the cut has failed for good, and the answer says %v", a.Err)
	}
	m = &memory{reserve: 1 << 20, fails: map[string]error{"append": fmt.Errorf("%w: %w", errFull, wal.ErrNoDescriptor)}}
	if a := CarryOut(m, j); m.spent > 0 || a.Stored {
		t.Errorf("%d bytes of the reserve are spent for a descriptor", m.spent)
	}
}

// TestN3_AFileIsRemovedBehindItsCommit: recovery would still need it otherwise.
func TestN3_AFileIsRemovedBehindItsCommit(t *testing.T) {
	d := newDriver(t, "archive", nil, nil)
	d.ask("old").step(second).settle()
	d.s.flush.wait = linger
	d.ask("new").step(0) // the commit waits for more requests, and the new file is saved meanwhile
	if d.job == nil || d.job.Commit != nil || len(d.job.Drop) > 0 {
		t.Fatalf("%+v", d.job)
	}
	if d.settle(); d.log.files["old"] == nil {
		t.Fatal("it is removed before the commit is stored that makes it useless")
	}
	if d.step(second).settle(); d.log.files["old"] != nil || d.log.files["new"] == nil {
		t.Errorf("there are %d files", len(d.log.files))
	}
}
