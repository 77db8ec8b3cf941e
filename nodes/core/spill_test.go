package core

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"posta.dev/posta/link"
	"posta.dev/posta/nodes/core/record"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol/session"
)

// spiller is an adder that holds as many bytes as its words have, and moves those of a session to a file.
type spiller struct {
	*adder
	files    role.SavedReader
	unsaved  map[session.ID][]string // what has moved, by session, until it is saved
	recorded []string                // what recovery has given to Spill
	fails    bool
}

func newSpiller() *spiller { return &spiller{adder: newAdder(), unsaved: map[session.ID][]string{}} }

func (s *spiller) AttachFiles(r role.SavedReader) { s.files = r }
func (s *spiller) Unsaved() []role.File           { return nil }
func (s *spiller) Saved([]role.File)              {}
func (s *spiller) Dropped() []string              { return nil }
func (s *spiller) Files() []string                { return nil }

func (s *spiller) Excess(limit int) (id session.ID, found bool) {
	total, most := 0, 0
	for x, w := range s.sessions {
		n := len(strings.Join(w.kept, ""))
		if total += n; n > most {
			id, most = x, n
		}
	}
	return id, total > limit
}

func (s *spiller) Spill(id session.ID, recorded []byte) ([]byte, error) {
	if s.fails {
		return nil, fmt.Errorf("it does not move")
	}
	if recorded != nil {
		s.recorded = append(s.recorded, string(recorded))
	}
	w := s.sessions[id]
	name := strings.Join(w.kept, "+")
	s.unsaved[id], w.kept = append(s.unsaved[id], name), nil
	return []byte(name), nil
}

func (s *spiller) UnsavedSessions() (ids []session.ID) {
	for _, id := range []session.ID{sessionOf("s"), sessionOf("t")} {
		if len(s.unsaved[id]) > 0 && s.sessions[id] != nil {
			ids = append(ids, id)
		}
	}
	return ids
}

// spilling is a driver of a node with a spiller, and two sessions.
func spilling(t *testing.T) (*driver, *spiller) {
	d := newDriver(t, 1, "hash")
	sp := newSpiller()
	d.c.cfg.Roles, d.c.cfg.Tables = []role.Role{sp}, 6
	d.says("s", link.Open, 0, announcement("", nil))
	d.says("t", link.Open, 0, announcement("", nil))
	return d, sp
}

// TestR16_TheLargestStateMoves: in the commit that makes it too large, and only then. The call is recorded behind those that made the
// state.
func TestR16_TheLargestStateMoves(t *testing.T) {
	d, sp := spilling(t)
	d.says("s", link.Data, 0, "one")
	d.says("t", link.Data, 0, "two")
	d.commit()
	if len(sp.unsaved) > 0 {
		t.Fatal("state moves that is not too large")
	}
	d.says("s", link.Data, 0, "three")
	d.c.Advance()
	c := d.c.Seal()
	rec, err := record.Decode(bytes.Join(c.Parts, nil))
	if err != nil {
		t.Fatal(err)
	}
	last := rec.Inputs[len(rec.Inputs)-1]
	if last.Op != record.Spill || last.Session != sessionOf("s") || string(last.Payload) != "one+three" {
		t.Fatalf("%+v", last)
	}
	if got := fmt.Sprint(sp.sessions[sessionOf("s")].kept, sp.sessions[sessionOf("t")].kept); got != "[] [two]" {
		t.Fatal(got)
	}
}

// TestN3_LargeTablesMoveBeforeASnapshot: a snapshot of more than half of limits.tables would take as much memory as the tables themselves.
func TestN3_LargeTablesMoveBeforeASnapshot(t *testing.T) {
	d, sp := spilling(t)
	d.says("s", link.Data, 0, "one")
	d.commit()
	if d.c.SealForSnapshot() != nil {
		t.Fatal("a commit with nothing in it")
	}
	d.says("s", link.Data, 0, "two")
	d.commit()
	if len(sp.unsaved) > 0 {
		t.Fatal("state moves that is not too large")
	}
	c := d.c.SealForSnapshot() // of what is stored already
	if c == nil {
		t.Fatal("a snapshot has more than half of limits.tables")
	}
	rec, err := record.Decode(bytes.Join(c.Parts, nil))
	if err != nil || len(rec.Inputs) != 1 || rec.Inputs[0].Op != record.Spill || string(rec.Inputs[0].Payload) != "one+two" {
		t.Fatalf("%v %+v", err, rec.Inputs)
	}
	if len(sp.sessions[sessionOf("s")].kept) > 0 {
		t.Fatal("what has moved is still in memory")
	}
}

// TestW5_FilesWithoutRoomFailTheirSession: on a full disk, the session whose file is not saved fails in words, and the other one goes on.
func TestW5_FilesWithoutRoomFailTheirSession(t *testing.T) {
	d, sp := spilling(t)
	d.says("s", link.Data, 0, "a long word")
	d.commit()
	if d.c.DiskFull(false); d.c.Sessions() != 2 {
		t.Fatal("a session fails although there is room")
	}
	d.c.DiskFull(true)
	if gone, ok := d.c.left(sessionOf("s")); !ok || !gone.Failed || !strings.Contains(gone.Reason, "me-1 has no room on its disk") ||
		!strings.Contains(gone.Reason, "limits.tables") {
		t.Fatalf("%+v", gone)
	}
	if d.c.Sessions() != 1 || sp.sessions[sessionOf("t")] == nil || !d.c.LetsCut() {
		t.Fatal("the session whose state is in memory does not go on")
	}
	c := d.c.Seal()
	if !d.c.LetsCut() {
		t.Error("the commit with which a session leaves may not use the reserve")
	}
	if d.c.Stored(c, 9); d.c.LetsCut() {
		t.Error("it is stored, and the next one may use the reserve")
	}
}

// TestN6_StateThatCannotMoveFailsItsSession, and no other.
func TestN6_StateThatCannotMoveFailsItsSession(t *testing.T) {
	d, sp := spilling(t)
	sp.fails = true
	d.says("s", link.Data, 0, "a long word")
	d.commit()
	if gone, ok := d.c.left(sessionOf("s")); !ok || !strings.Contains(gone.Reason, "it does not move") || d.c.Sessions() != 1 {
		t.Fatalf("%+v, %d sessions", gone, d.c.Sessions())
	}
}

// TestN3_MovesAreRepeated: recovery makes the same calls, with what was recorded, whatever its bound.
func TestN3_MovesAreRepeated(t *testing.T) {
	sp := newSpiller()
	if err := sp.Open(role.Session{ID: sessionOf("s")}); err != nil {
		t.Fatal(err)
	}
	sp.sessions[sessionOf("s")].kept = []string{"a", "b"}
	in := record.Input{Op: record.Spill, Session: sessionOf("s"), Payload: []byte("a+b")}
	if err := spillAgain(sp, &in); err != nil || fmt.Sprint(sp.recorded) != "[a+b]" {
		t.Fatal(err, sp.recorded)
	}
	if err := spillAgain(newAdder(), &in); err == nil || !strings.Contains(err.Error(), "another chain") {
		t.Fatal(err)
	}
}
