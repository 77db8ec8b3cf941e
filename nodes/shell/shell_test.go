package shell

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"posta.dev/posta/internal/wire"
	"posta.dev/posta/link"
	"posta.dev/posta/nodes/heartbeat"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/wal"
)

// TestN10_NothingLeavesBeforeTheAnswer: while a job is under way, more requests come, and no reply leaves (R3). These requests become the
// next job, and there are never two jobs (N2).
func TestN10_NothingLeavesBeforeTheAnswer(t *testing.T) {
	d := newDriver(t, "desk", nil, nil)
	d.ask("a").step(2 * clientDeadline)
	if d.job == nil || d.job.Commit == nil {
		t.Fatal("the first request after a pause is not committed")
	}
	d.ask("b").step(time.Minute).step(time.Minute)
	d.left()
	d.carryOut().left("reply stored a")
	d.carryOut().left("reply stored b").noJob("nothing is left")
	if want := []string{"append", "append"}; !slices.Equal(d.log.calls, want) {
		t.Errorf("the log was asked for %v, want %v", d.log.calls, want)
	}
}

// TestN10_AQuestionForAnotherNode: it is refused at once, because that needs nothing stored.
func TestN10_AQuestionForAnotherNode(t *testing.T) {
	d := newDriver(t, "desk", nil, nil)
	d.ask("?").step(0).noJob("a question for another node")
	if len(d.out) != 1 || !strings.Contains(d.out[0], "ask an output") || !strings.Contains(d.out[0], "tcp://out") {
		t.Errorf("%q", d.out)
	}
}

// TestN10_TheAlarmRingsWhenACommitIsDue: data that no client waits for is committed linger after the last commit, and the alarm is set to
// that time.
func TestN10_TheAlarmRingsWhenACommitIsDue(t *testing.T) {
	d := newDriver(t, "relay", nil, nil).introduce()
	d.frame(link.Data, []byte("x"))
	d.step(linger - 5*time.Millisecond).noJob("before its time")
	if wait := d.last.Alarm.Sub(d.now); wait != 5*time.Millisecond {
		t.Errorf("the alarm rings in %v", wait)
	}
	d.step(5 * time.Millisecond).left()
	d.carryOut().left("ack 2", "data 2")
}

// TestN1_AnIdleNodeCommitsAtOnce: if the loop works hardly at all, data that no client waits for is committed as soon as the disk is free.
func TestN1_AnIdleNodeCommitsAtOnce(t *testing.T) {
	d := newDriver(t, "relay", nil, nil)
	d.idle = true
	d.introduce()
	for n := range 3 {
		d.frame(link.Data, []byte("x"))
		d.step(time.Millisecond)
		d.frame(link.Data, []byte("y")) // while the first is being stored
		d.step(time.Millisecond).left()
		at := 2*n + 2
		d.carryOut().left(fmt.Sprintf("ack %d", at), fmt.Sprintf("data %d", at))
		d.carryOut().left(fmt.Sprintf("ack %d", at+1), fmt.Sprintf("data %d", at+1)).noJob("nothing is left")
	}
}

// TestN10_TheAlarmRingsWhenAHelloIsDue: the second hello after a start does not wait for the tick.
func TestN10_TheAlarmRingsWhenAHelloIsDue(t *testing.T) {
	d := newDriver(t, "relay", nil, nil)
	d.step(0).left("ack 0", "hello 0")
	for range 3 {
		wait := d.last.Alarm.Sub(d.now)
		if wait > link.DefaultPace.Hello/8 {
			t.Fatalf("the alarm rings in %v", wait)
		}
		d.step(wait - 1).left().step(1).left("hello 0")
	}
}

// TestN10_WhatIsNotAcceptedIsOfferedAgain: frames that the transport did not accept are sent again later.
func TestN10_WhatIsNotAcceptedIsOfferedAgain(t *testing.T) {
	d := newDriver(t, "relay", nil, nil).introduce()
	d.frame(link.Data, []byte("x"))
	d.step(linger).carryOut().left("ack 2", "data 2")
	d.s.Unsent("out", "z-1", 2)
	d.step(0).left("data 2").step(0).left()
}

// TestR18_HeartbeatsCountDamagedFrames: frames that were dropped and sent again are reported, because something between the nodes is
// faulty.
func TestR18_HeartbeatsCountDamagedFrames(t *testing.T) {
	d := newDriver(t, "relay", nil, nil).introduce()
	f := link.Frame{Seq: 2, Kind: link.Data, Payload: []byte("x"), Life: upstream.Life, Edge: "in", From: "a-1", ID: upstream}
	f = f.Sealed("me-1")
	f.Payload = []byte("y")
	d.s.Event(d.now, link.Event{Frames: []link.Frame{f}})
	if d.step(second); d.last.Beat == nil || d.last.Beat.Damaged != 1 {
		t.Errorf("%+v", d.last.Beat)
	}
}

// TestR4_DropsAreReportedOnceASecond: at level debug, with how many they were; and with each heartbeat by link.
func TestR4_DropsAreReportedOnceASecond(t *testing.T) {
	d := newDriver(t, "relay", nil, nil).introduce()
	early := func() {
		f := link.Frame{Seq: 9, Kind: link.Data, Payload: []byte("x"), Life: upstream.Life, Edge: "in", From: "a-1", ID: upstream}
		d.s.Event(d.now, link.Event{Frames: []link.Frame{f.Sealed("me-1")}})
	}
	reports := func() (all []Note) {
		for _, n := range d.last.Notes {
			if n.Text == "frames were dropped" && n.Level == slog.LevelDebug {
				all = append(all, n)
			}
		}
		return all
	}
	early()
	d.step(2 * dropsEvery) // the driver's own frames may have been reported before
	if n := reports(); len(n) != 1 || !strings.HasPrefix(fmt.Sprint(n[0].Args...), "frames1last") &&
		!strings.Contains(fmt.Sprint(n[0].Args...), "gap: frame 9") {
		t.Errorf("the first is reported as %v", n)
	}
	early()
	early()
	if d.step(dropsEvery - 1); len(reports()) != 0 {
		t.Errorf("too early: %v", reports())
	}
	d.step(1)
	if n := reports(); len(n) != 1 || n[0].Args[1] != uint64(2) {
		t.Errorf("the next two are reported as %v", n)
	}
	d.step(second)
	if d.last.Beat == nil || len(d.last.Drops) == 0 || d.last.Drops[0].Edge != "in" || d.last.Drops[0].Frames[link.Gap] != 3 {
		t.Errorf("beside the heartbeat: %+v", d.last.Drops)
	}
}

// TestW5_AFullDisk: the same commit is tried again when retryFull has passed and not before; nothing leaves meanwhile, heartbeats say why,
// and when there is room all continues.
func TestW5_AFullDisk(t *testing.T) {
	d := newDriver(t, "desk", nil, nil)
	d.log.fails["append"] = errFull
	d.ask("a").step(second)
	full := d.job.Commit
	d.carryOut().noJob("at once")
	if len(d.last.Notes) != 1 || !strings.Contains(d.last.Notes[0].Text, "no room for the log") {
		t.Errorf("notes %v", d.last.Notes)
	}
	if wait := d.last.Alarm.Sub(d.now); wait > retryFull {
		t.Errorf("the alarm rings in %v", wait)
	}
	d.ask("b").step(retryFull - 1).noJob("too early").step(1)
	if d.job == nil || d.job.Commit != full {
		t.Fatal("it is not the same commit that is tried again")
	}
	if d.carryOut(); len(d.last.Notes) != 0 {
		t.Errorf("it is said once, and then comes %v", d.last.Notes)
	}
	if d.step(second); d.state() != heartbeat.DiskFull {
		t.Errorf("the heartbeat says %q", d.state())
	}
	d.log.fails["append"] = fmt.Errorf("%w: %w", errFull, wal.ErrNoDescriptor)
	d.step(retryFull).carryOut()
	if d.step(second); d.state() != heartbeat.NoFiles {
		t.Errorf("without a descriptor the heartbeat says %q", d.state())
	}
	delete(d.log.fails, "append")
	d.left()
	d.carryOut().left("reply stored a")
	d.carryOut().left("reply stored b")
	if string(bytes.Join(d.log.records, nil)) == "" || len(d.log.records) != 2 {
		t.Errorf("the log holds %d records", len(d.log.records))
	}
	if d.step(second); d.state() != heartbeat.Running {
		t.Errorf("the heartbeat says %q", d.state())
	}
}

// TestW5_ASnapshotOnAFullDisk: a failed snapshot does not make the node spin. At the next attempt the snapshot includes what was stored
// since.
func TestW5_ASnapshotOnAFullDisk(t *testing.T) {
	d := newDriver(t, "desk", nil, func(c *Config) { c.Snapshot = 1 })
	d.ask("a").step(second)
	d.log.fails["save"] = errFull
	d.carryOut().left("reply stored a")
	if d.job == nil || d.job.Snapshot == nil {
		t.Fatal("no snapshot is due")
	}
	d.carryOut().noJob("at once").step(retryFull - 1).noJob("too early")
	d.ask("b").step(1)
	if d.job == nil || !bytes.Contains(d.job.Snapshot, []byte("ab")) {
		t.Fatalf("%+v", d.job)
	}
	delete(d.log.fails, "save")
	d.settle()
	if d.log.at != 2 {
		t.Errorf("the snapshot is of record %d", d.log.at)
	}
}

// TestW5_ACommitThatFindsRoomProvesNothingForASnapshot: a node that can append and cannot save a snapshot reports a full disk all the time,
// and logs it once. It used to alternate, five times a second.
func TestW5_ACommitThatFindsRoomProvesNothingForASnapshot(t *testing.T) {
	d := newDriver(t, "desk", nil, func(c *Config) { c.Snapshot = 1 })
	d.ask("a").step(second)
	d.log.fails["save"] = errFull
	d.carryOut().carryOut()
	notes := 0
	for range 20 {
		d.ask("b").step(retryFull / 2)
		d.settle()
		notes += len(d.last.Notes)
		if d.step(second); d.state() != heartbeat.DiskFull {
			t.Fatalf("the heartbeat says %q", d.state())
		}
		notes += len(d.last.Notes)
	}
	if notes > 0 {
		t.Errorf("it is said %d times more", notes)
	}
	delete(d.log.fails, "save")
	d.step(retryFull).settle().step(second).settle()
	if d.step(second); d.state() != heartbeat.Running {
		t.Errorf("when there is room the heartbeat says %q", d.state())
	}
}

// TestW5_AFullDiskIsCut: receivers keep acknowledging while this log fills the disk, and cutting it makes room.
func TestW5_AFullDiskIsCut(t *testing.T) {
	d := newDriver(t, "desk", nil, func(c *Config) { c.Snapshot = 1 })
	d.ask("a").step(second).settle() // saves a snapshot of record 1
	d.ask("b").step(2 * clientDeadline)
	d.log.fails["append"] = errFull
	d.carryOut()
	d.log.calls = nil
	d.step(retryFull).carryOut()
	if want := []string{"append", "cut1"}; !slices.Equal(d.log.calls, want) {
		t.Errorf("the log was asked for %v, want %v", d.log.calls, want)
	}
}

// uploads gives a node with a full disk a session: the first commit finds no room, the second is being built, and more data waits.
func uploads(t *testing.T) *driver {
	log := &memory{reserve: 1 << 20}
	d := newDriver(t, "relay", log, func(c *Config) { c.Core.Commit = 1 }).introduce()
	log.full = true
	for _, body := range []string{"x", "y", "z"} {
		d.frame(link.Data, []byte(body))
	}
	d.step(linger).settle()
	d.step(second)
	if d.settle(); d.log.spent != 0 || d.s.core.Sessions() != 1 {
		t.Fatalf("%d bytes of the reserve are spent on a session that continues", d.log.spent)
	}
	return d
}

// TestW5_ACancelOnAFullDisk: the disk is full, no room becomes free, and the session's abort waits behind its data. Nevertheless the abort
// is stored in the room of the reserve, it leaves, and the log can be cut. Then the reserve is completed. Until then the node reports a
// full disk.
func TestW5_ACancelOnAFullDisk(t *testing.T) {
	d := uploads(t)
	d.frame(link.Abort, nil)
	d.step(retryFull).settle()
	if d.log.spent == 0 || d.s.core.Sessions() != 0 || !slices.Contains(d.out, "abort 4") {
		t.Fatalf("%d bytes of the reserve are spent, %d sessions are left, and what has left is %q", d.log.spent, d.s.core.Sessions(), d.out)
	}
	d.acked(4)
	for range 20 {
		d.step(retryFull).settle()
	}
	if !slices.Contains(d.out, "ack 5") {
		t.Errorf("what came before the abort is not acknowledged: %q", d.out)
	}
	if d.log.at != d.log.Last() || d.log.cut != d.log.Last() {
		t.Errorf("of %d records there is a snapshot of %d, and %d are cut", d.log.Last(), d.log.at, d.log.cut)
	}
	if d.step(second); d.state() != heartbeat.DiskFull {
		t.Errorf("the reserve is spent, and the heartbeat says %q", d.state())
	}
	d.settle()
	d.log.full = false // the cut has made room
	for range 20 {
		d.step(retryFull).settle()
	}
	if d.step(second); d.log.spent != 0 || d.state() != heartbeat.Running {
		t.Errorf("%d bytes of the reserve are missing, the heartbeat says %q", d.log.spent, d.state())
	}
	d.settle()
}

// TestW5_ABadAbortIsNotHurried: an abort that is damaged, or of a superseded incarnation, ends no session. The same holds on a full disk.
func TestW5_ABadAbortIsNotHurried(t *testing.T) {
	for name, spoil := range map[string]func(*link.Frame){
		"damaged":         func(f *link.Frame) { f.Payload = []byte{1} },
		"of another life": func(f *link.Frame) { f.ID.Incarnation++; *f = f.Sealed("me-1") },
	} {
		d := uploads(t)
		f := link.Frame{Seq: d.seq + 1, Kind: link.Abort, Session: session.ID{7}, Life: upstream.Life, Edge: "in", From: "a-1",
			ID: upstream}.Sealed("me-1")
		spoil(&f)
		d.s.Event(d.now, link.Event{Frames: []link.Frame{f}})
		for range 5 {
			d.step(retryFull).settle()
		}
		if d.s.core.Sessions() != 1 || d.log.spent != 0 {
			t.Errorf("%s: it fails the session", name)
		}
	}
}

// TestW5_ClaimsAreHurriedOnce: two clients claim to have lost one session, and the disk is full. Each claim is passed on once, however
// often the node checks whether an abort waits.
func TestW5_ClaimsAreHurriedOnce(t *testing.T) {
	d := uploads(t)
	for _, owner := range []string{"ann", "bob"} {
		d.seq++
		claim := wire.AppendString(wire.AppendString(wire.AppendBool(wire.AppendArray(nil, 5), true), ""), "lost it")
		claim = wire.AppendString(wire.AppendBin(claim, session.Openers(nil).Append(nil)), owner)
		d.receive(link.Frame{Seq: d.seq, Kind: link.Abort, Session: session.ID{8}, Payload: claim, Life: upstream.Life})
	}
	for range 20 {
		d.step(retryFull).settle()
	}
	passedOn := 0
	for _, what := range d.out {
		if strings.HasPrefix(what, "abort ") {
			passedOn++
		}
	}
	if passedOn != 2 {
		t.Errorf("%d aborts are passed on: %q", passedOn, d.out)
	}
}

// TestW5_AStartWithoutAReserve: the reserve is made when there is room, and until then the disk counts as full.
func TestW5_AStartWithoutAReserve(t *testing.T) {
	log := &memory{reserve: 1 << 20, spent: 1 << 20, full: true}
	d := newDriver(t, "desk", log, nil)
	d.step(0).settle()
	if d.step(second); d.state() != heartbeat.DiskFull {
		t.Errorf("the heartbeat says %q", d.state())
	}
	d.settle()
	log.full = false
	d.step(retryFull).settle()
	if d.step(second); d.state() != heartbeat.Running || log.spent != 0 {
		t.Errorf("the heartbeat says %q, %d bytes of the reserve are missing", d.state(), log.spent)
	}
}

// TestW4_AnErrorOfTheLogIsFinal: the node stops, names the rule, and sends nothing more.
func TestW4_AnErrorOfTheLogIsFinal(t *testing.T) {
	for _, call := range []string{"append", "save", "cut"} {
		d := newDriver(t, "desk", nil, func(c *Config) { c.Snapshot = 1 })
		d.ask("a").step(second).settle().left("reply stored a")
		d.ask("b").step(cutEvery)
		d.log.fails[call] = errFatal
		d.settle()
		if call == "append" {
			d.left()
		}
		if !errors.Is(d.ends, errFatal) || !strings.Contains(d.ends.Error(), "node me-1: W4") {
			t.Errorf("%s: it ends with %v", call, d.ends)
		}
		d.noJob(call)
	}
}

// TestN3_TheLogIsCutToWhatRecoveryNeeds: the log is cut up to the snapshot, never beyond a frame that a receiver lacks, and completely if
// the node is idle.
func TestN3_TheLogIsCutToWhatRecoveryNeeds(t *testing.T) {
	d := newDriver(t, "relay", nil, func(c *Config) { c.Snapshot = 1 }).introduce() // record 1: the open
	for range 4 {
		d.frame(link.Data, []byte("x"))
		d.step(second).settle()
	}
	if d.log.at < 3 || d.log.cut != 0 {
		t.Fatalf("snapshot of record %d, cut to %d, and nobody has acknowledged frame 1", d.log.at, d.log.cut)
	}
	d.acked(2) // the open and the first batch: frame 3 is in record 3
	d.step(cutEvery).carryOut()
	if d.log.cut != 2 {
		t.Errorf("cut to %d, and frame 3 stands in record 3", d.log.cut)
	}
	d.acked(4)
	d.step(cutEvery / 2).noJob("the log was cut a moment ago")
	d.step(cutEvery / 2).carryOut()
	if d.log.cut != 4 {
		t.Errorf("cut to %d, and frame 5 stands in record 5", d.log.cut)
	}
}

func TestN3_AnIdleLogIsCutToNothing(t *testing.T) {
	d := newDriver(t, "desk", nil, nil)
	d.ask("a").step(second).carryOut()
	d.step(idleBefore / 2).noJob("it is idle for a moment only").step(idleBefore)
	if d.job == nil || d.job.Snapshot == nil || !d.job.CutAll {
		t.Fatalf("%+v", d.job)
	}
	d.carryOut()
	if want := []string{"append", "save1", "cut1"}; !slices.Equal(d.log.calls, want) {
		t.Errorf("the log was asked for %v, want %v", d.log.calls, want)
	}
	for range 10 {
		d.step(idleBefore)
		if d.job != nil && d.job.Snapshot != nil {
			t.Fatal("a log that is idle gets another snapshot")
		}
		if d.job != nil {
			d.carryOut()
		}
	}
}

// TestN5_Drain: data that was taken in is stored, acknowledged and sent before the node ends. Nothing more is taken in.
func TestN5_Drain(t *testing.T) {
	d := newDriver(t, "relay", nil, nil).introduce()
	d.frame(link.Data, []byte("x"))
	d.step(linger / 2).noJob("it may wait")
	d.s.Drain(d.now)
	d.frame(link.Data, []byte("y"))
	d.step(0).left()
	if d.ends != nil {
		t.Fatal("it ends while its last commit is stored")
	}
	d.carryOut().left("ack 2", "data 2")
	if d.ends != nil {
		t.Fatal("it ends before the transport has said that it took the frame")
	}
	d.s.Unsent("out", "z-1", 2)
	d.step(drainEvery).left("data 2")
	d.step(drainEvery).left().noJob("drained")
	if d.ends != ErrDrained {
		t.Errorf("it ends with %v", d.ends)
	}
}

// TestN5_ADrainHasAnEnd: this holds whatever the disk and the transport do.
func TestN5_ADrainHasAnEnd(t *testing.T) {
	refuse := func(d *driver) { d.s.Unsent("out", "z-1", 2) }
	for name, hinder := range map[string]func(d *driver){
		"the transport takes nothing": func(d *driver) { d.carryOut(); refuse(d) },
		"the disk does not answer":    func(*driver) {},
	} {
		d := newDriver(t, "relay", nil, nil).introduce()
		d.frame(link.Data, []byte("x"))
		d.step(linger)
		d.s.Drain(d.now)
		d.step(0)
		hinder(d)
		for begun := d.now; d.ends == nil; {
			d.step(drainEvery)
			refuse(d)
			if d.now.Sub(begun) > 6*second {
				t.Fatalf("%s: it drains for ever", name)
			}
		}
		if d.ends != ErrDrained {
			t.Errorf("%s: it ends with %v", name, d.ends)
		}
	}
	d := newDriver(t, "desk", nil, nil)
	d.log.fails["append"] = errFull
	d.ask("a").step(second)
	d.s.Drain(d.now)
	if d.carryOut(); d.ends != ErrDrained {
		t.Errorf("a full disk keeps the node from ending: %v", d.ends)
	}
	d.left()
}

// TestN8_TheFirstCommitIsReported: it is reported at once, because medics wait for it.
func TestN8_TheFirstCommitIsReported(t *testing.T) {
	d := newDriver(t, "desk", nil, nil)
	if d.step(0); d.state() != heartbeat.Running {
		t.Errorf("%q", d.state())
	}
	d.ask("a").step(2 * clientDeadline)
	if d.last.Beat != nil {
		t.Error("a heartbeat before its time")
	}
	if d.carryOut(); d.last.Beat == nil || d.last.Beat.Commits != 1 {
		t.Errorf("%+v", d.last.Beat)
	}
	d.ask("b").step(second / 2).carryOut()
	if d.last.Beat != nil {
		t.Error("every commit makes a heartbeat")
	}
	d.s.Drain(d.now)
	if d.step(second / 2); d.state() != heartbeat.Draining {
		t.Errorf("%q", d.state())
	}
}

// superseded tells the node that its log is replaced.
func (d *driver) superseded() {
	d.s.Event(d.now, link.Event{Acks: []link.Ack{{Edge: "out", To: "me-1", Log: ours.LogID, Echo: ours.Life, Receiver: "z-1", ID: theirs,
		Superseded: true}}})
}

// TestR14_TheLogIsPutAside: the log is put aside when the current job is done. From then on only heartbeats leave, and nothing is stored.
func TestR14_TheLogIsPutAside(t *testing.T) {
	d := newDriver(t, "relay", nil, func(c *Config) { c.Snapshot = 1 }).introduce()
	d.frame(link.Data, []byte("x"))
	d.step(linger)
	d.frame(link.Data, []byte("y"))
	d.superseded()
	d.step(0).left()
	if d.state() != heartbeat.Retiring {
		t.Errorf("the heartbeat says %q", d.state())
	}
	d.carryOut().left()
	if d.job == nil || !d.job.Retire || d.job.Commit != nil || d.ends != nil {
		t.Fatalf("%+v, %v", d.job, d.ends)
	}
	d.log.fails["retire"] = errFull
	d.carryOut().noJob("there is no room for what it leaves").step(retryFull)
	delete(d.log.fails, "retire")
	if d.carryOut(); d.ends != ErrRetired || !d.log.retired {
		t.Errorf("it ends with %v", d.ends)
	}
	d.left()
}

// TestR14_OncePerStart: a second retirement ends the process, and its error names the directory.
func TestR14_OncePerStart(t *testing.T) {
	d := newDriver(t, "relay", nil, func(c *Config) { c.Again = true })
	d.superseded()
	d.step(0).noJob("it stops")
	if d.ends == nil || errors.Is(d.ends, ErrRetired) || !strings.Contains(d.ends.Error(), "/data") {
		t.Errorf("it ends with %v", d.ends)
	}
}

// TestR14_WhatALogLeaves: the heritage goes into the first commit of the next log, and is dropped when that is stored. A log with records
// has stored it already.
func TestR14_WhatALogLeaves(t *testing.T) {
	old := &memory{repaired: true}
	d := newDriver(t, "desk", old, nil)
	d.ask("a").step(0).carryOut()
	if d.ends != ErrRetired || old.heritage != nil {
		t.Fatalf("a repaired log that left nothing: %v, %q", d.ends, old.heritage)
	}
	d = newDriver(t, "desk", nil, nil)
	d.ask("a").step(second).carryOut()
	d.s.Core().Retire("because")
	d.step(0).carryOut()
	left := d.log.heritage
	if d.ends != ErrRetired || !bytes.Contains(left, []byte("a")) {
		t.Fatalf("%v, %q", d.ends, left)
	}

	next := &memory{heritage: left, fails: map[string]error{"append": errFull}}
	d = newDriver(t, "desk", next, nil)
	d.step(0).carryOut()
	if next.heritage == nil {
		t.Fatal("it is dropped before it is stored")
	}
	delete(next.fails, "append")
	d.step(retryFull).carryOut()
	if next.heritage != nil || len(next.records) != 1 {
		t.Errorf("%d records, and %q is left", len(next.records), next.heritage)
	}
	if want := []string{"append", "append", "drop"}; !slices.Equal(next.calls, want) {
		t.Errorf("the log was asked for %v, want %v", next.calls, want)
	}
	next.heritage = left // as if the drop had not been durable
	newDriver(t, "desk", next, nil)
	if next.heritage != nil {
		t.Error("a log with records has taken it over")
	}
}

// TestN3_TheShellComesBack: it recovers from its log alone, whichever job was the last one.
func TestN3_TheShellComesBack(t *testing.T) {
	for _, snapshot := range []int64{1, 20, 1 << 30} {
		log := &memory{}
		d := newDriver(t, "desk", log, func(c *Config) { c.Snapshot = snapshot })
		for _, body := range []string{"a", "b", "c", "d"} {
			d.ask(body).step(second).settle()
			again := newDriver(t, "desk", log, nil)
			if got, want := again.s.core.Snapshot(), d.s.core.Snapshot(); !bytes.Equal(got, want) {
				t.Fatalf("snapshots each %d bytes, after %s: it comes back with %q, want %q", snapshot, body, got, want)
			}
		}
	}
}

// TestN10_AJobIsCarriedOutUpToTheFirstError: a full disk does not prevent the log from being cut.
func TestN10_AJobIsCarriedOutUpToTheFirstError(t *testing.T) {
	d := newDriver(t, "desk", nil, nil)
	d.ask("a").step(second)
	whole := *d.job
	whole.Snapshot, whole.Cut, whole.DropHeritage = []byte("s"), 1, true
	for _, x := range []struct {
		fails  string
		err    error
		calls  []string
		stored bool
		saved  bool
	}{
		{"", nil, []string{"append", "drop", "save2", "cut1"}, true, true},
		{"append", errFatal, []string{"append"}, false, false},
		{"append", errFull, []string{"append", "cut1"}, false, false},
		{"drop", errFatal, []string{"append", "drop"}, true, false},
		{"save", errFatal, []string{"append", "drop", "save2"}, true, false},
		{"save", errFull, []string{"append", "drop", "save2", "cut1"}, true, false},
		{"cut", errFatal, []string{"append", "drop", "save2", "cut1"}, true, true},
		{"cut", errFull, []string{"append", "drop", "save2", "cut1"}, true, true},
	} {
		m := &memory{records: [][]byte{{1}}, fails: map[string]error{x.fails: x.err}}
		a := CarryOut(m, whole)
		if !slices.Equal(m.calls, x.calls) || a.Stored != x.stored || a.Saved != x.saved || !errors.Is(a.Err, x.err) {
			t.Errorf("%s fails with %v: %v, stored %v, saved %v, error %v", x.fails, x.err, m.calls, a.Stored, a.Saved, a.Err)
		}
		if want := m.Last(); a.At != want {
			t.Errorf("%s fails: the last record is %d, the answer says %d", x.fails, want, a.At)
		}
	}
	m := &memory{records: [][]byte{{1}, {2}}}
	if CarryOut(m, Job{Snapshot: []byte("s"), CutAll: true}); m.cut != 2 || m.at != 2 {
		t.Errorf("everything may go, and the log is cut to %d with a snapshot of %d", m.cut, m.at)
	}
	m = &memory{records: [][]byte{{1}}, fails: map[string]error{"save": errFull}}
	if CarryOut(m, Job{Snapshot: []byte("s"), CutAll: true}); m.cut != 0 {
		t.Error("the log is cut to a snapshot that is not saved")
	}
}

// TestR8_TheReceiversLogIsStoredSoon: a change of a receiver's log is stored soon, even if nothing else needs a commit, and nothing is cut
// before. Otherwise a node that starts again from a log that was cut would conclude that what the new log has acknowledged was lost with
// the old one.
func TestR8_TheReceiversLogIsStoredSoon(t *testing.T) {
	d := newDriver(t, "relay", nil, nil).introduce().settle()
	another := link.Identity{LogID: link.LogID{9}, Incarnation: 1, Life: 99}
	says := link.Event{Acks: []link.Ack{{Edge: "out", To: "me-1", Log: ours.LogID, Receiver: "z-1", ID: another, Echo: ours.Life}}}
	d.s.Event(d.now, says)
	for range 10 {
		if d.step(linger / 5); d.job != nil {
			break
		}
	}
	if d.job == nil || d.job.Commit == nil || d.job.Cut > 0 {
		t.Fatalf("the job is %+v", d.job)
	}
	d.settle()
	d.s.Event(d.now, says)
	d.step(linger).step(linger).noJob("the same log again")
}

// TestN3_FilesAreSavedBeforeTheSnapshotThatNamesThem: they are removed once the commit is stored that makes them useless.
func TestN3_FilesAreSavedBeforeTheSnapshotThatNamesThem(t *testing.T) {
	d := newDriver(t, "desk", nil, nil)
	d.ask("a").step(second)
	whole := *d.job
	whole.Snapshot, whole.Drop, whole.Files = []byte("s"), []string{"old"}, []role.File{{Name: "new", Parts: [][]byte{[]byte("n")}}}
	for _, x := range []struct {
		fails             string
		err               error
		old, isNew, saved bool
	}{
		{"", nil, false, true, true}, {"append", errFull, true, false, false}, {"append", errFatal, true, false, false},
		{"save file", errFull, false, false, false}, {"save file", errFatal, false, false, false}, {"save", errFull, false, true, false},
	} {
		m := &memory{records: [][]byte{{1}}, fails: map[string]error{x.fails: x.err}, files: map[string][]byte{"old": nil}}
		a := CarryOut(m, whole)
		_, old := m.files["old"]
		_, isNew := m.files["new"]
		if old != x.old || isNew != x.isNew || a.Kept != x.isNew || a.Saved != x.saved || !errors.Is(a.Err, x.err) {
			t.Errorf("%s fails with %v: the old file is there: %v, the new one: %v, told: %v, snapshot: %v, %v", x.fails, x.err, old, isNew, a.Kept,
				a.Saved, a.Err)
		}
	}
}
