package agent

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"posta.dev/posta/medic"
	"posta.dev/posta/medic/core"
	"posta.dev/posta/wal"
)

// A medic whose disk is full continues: entries wait in memory, its term is stored nevertheless, and the journal is
// complete once there is room.
func TestW5_AFullDiskHoldsUpNoMedic(t *testing.T) {
	disk := t.TempDir()
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=4m"); err != nil {
		t.Skipf("mount a small tmpfs: %v; run this test as root", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(disk, syscall.MNT_DETACH) })
	dir := filepath.Join(disk, "medic-1")
	s := &storage{log: log(t, dir), reserve: filepath.Join(dir, reserveFile)}
	if err := medic.ReserveSlots(s.reserve); err != nil {
		t.Fatal(err)
	}
	records := func(gen core.Generation) []core.Record {
		term := core.Term{Gen: gen, Leader: "medic-1", Life: 9}
		e := core.Entry{EntryID: core.EntryID{Term: term, N: 1}, At: time.Unix(int64(gen), 0), Kind: core.Elected}
		return []core.Record{{Term: &term}, {Entry: &e}}
	}
	give := func(j job) {
		t.Helper()
		if err := s.store(t.Context(), j); err != nil {
			t.Fatal(err)
		}
	}
	give(job{records: records(1)})
	filler := fill(t, filepath.Join(disk, "filler"))
	gen := core.Generation(1)
	for range 100_000 { // until the log's last block is full, too
		if gen++; s.behind {
			break
		}
		give(job{records: records(gen)})
	}
	if !s.behind {
		t.Fatal("the disk is not full")
	}
	give(job{records: records(gen)})
	again := func() core.State {
		t.Helper()
		if err := s.log.Close(); err != nil {
			t.Fatal(err)
		}
		s.log = log(t, dir) // a medic that dies meanwhile starts on the full disk
		state, err := s.restore()
		if err != nil {
			t.Fatal(err)
		}
		return state
	}
	if state := again(); state.Term != (core.Term{Gen: gen, Leader: "medic-1", Life: 9}) {
		t.Fatalf("after a restart on the full disk the term is %v, want generation %d", state.Term, gen)
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	state := again()
	c := core.New(core.Config{Self: "medic-1", Medics: []core.Member{{ID: "medic-1"}}}, state, time.Now())
	give(job{snapshot: c.Snapshot(), term: state.Term})
	if s.behind {
		t.Error("there is room, and it is still behind")
	}
	if got := again(); got.Term != state.Term || len(got.Journal) != len(c.Journal()) {
		t.Errorf("with room again: term %v with %d entries, want %v with %d", got.Term, len(got.Journal), state.Term, len(c.Journal()))
	}
	if err := s.log.Close(); err != nil {
		t.Fatal(err)
	}
}

// A snapshot belongs to a record; a medic that started on a full disk has none.
func TestW5_AMedicThatBeganOnAFullDiskWritesItsJournalLater(t *testing.T) {
	dir := t.TempDir()
	s := &storage{log: log(t, dir), reserve: filepath.Join(dir, reserveFile), behind: true}
	term := core.Term{Gen: 3, Leader: "medic-2", Life: 1}
	if err := s.store(t.Context(), job{records: []core.Record{{Term: &term}}}); err != nil || !s.behind || s.log.Last() != wal.Index(0) {
		t.Fatalf("%v, behind: %v, %d records", err, s.behind, s.log.Last())
	}
	c := core.New(core.Config{Self: "medic-1", Medics: []core.Member{{ID: "medic-1"}}}, core.State{Term: term}, time.Now())
	if err := s.store(t.Context(), job{snapshot: c.Snapshot(), term: term}); err != nil || s.behind {
		t.Fatalf("%v, behind: %v", err, s.behind)
	}
	if state, err := s.restore(); err != nil || state.Term != term {
		t.Errorf("%v: %v", err, state.Term)
	}
	if err := os.WriteFile(s.reserve, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := s.restore(); !errors.Is(err, medic.ErrBadSlots) {
		t.Errorf("a damaged reserve: %v", err)
	}
	if err := s.log.Close(); err != nil {
		t.Fatal(err)
	}
}

// fill takes all the room that there is.
func fill(t *testing.T, name string) string {
	t.Helper()
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	for size := 64 << 10; size > 0; size /= 2 {
		for err = error(nil); err == nil; {
			_, err = f.Write(make([]byte, size))
		}
	}
	return name
}
