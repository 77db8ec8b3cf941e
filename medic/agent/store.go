package agent

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"time"

	"posta.dev/posta/medic"
	"posta.dev/posta/medic/core"
	"posta.dev/posta/wal"
)

// snapshotAt is the size of the log at which all of it is put into a snapshot: the journal is bounded, so a snapshot is some ten KiB.
const snapshotAt = 256 << 10

// retryFull is the pause before a full disk is tried again (W5).
const retryFull = 200 * time.Millisecond

// job is what is to be stored next: records, or a snapshot of all that is stored.
type job struct {
	records  []core.Record
	snapshot []byte
	term     core.Term // with a snapshot: the one in it
}

// A full disk must not keep a medic from restarting what died. Its journal may wait: the medic goes on with what it has in memory, and writes all
// of it as one snapshot once there is room. A term may not wait, because nothing is said or ordered in a generation that is not durable (M3); it
// goes into a file that is there already, and is overwritten in place.
const reserveFile = "term"

// storage is where a medic's records go. The task that stores, of which there is one at a time, owns it.
type storage struct {
	log     *wal.Log
	reserve string // the file for the term
	behind  bool   // the disk was full, and the log lacks entries; only a snapshot mends that
}

// store makes a job durable, or, on a full disk, as much of it as must be; every other error is final.
func (s *storage) store(ctx context.Context, j job) error {
	if !s.behind || j.snapshot != nil {
		err := storeOnce(s.log, j)
		if s.behind = errors.Is(err, wal.ErrDiskFull); !s.behind {
			return err
		}
	}
	term := lastTerm(j.records)
	if term == nil {
		return nil
	}
	for {
		err := medic.WriteSlots(s.reserve, formatTerm(*term), true)
		if !errors.Is(err, syscall.ENOSPC) || medic.Sleep(ctx, retryFull) != nil {
			return err
		}
	}
}

func lastTerm(records []core.Record) (t *core.Term) {
	for _, r := range records {
		if r.Term != nil {
			t = r.Term
		}
	}
	return t
}

const termFormat = "generation %d life %d leader %s"

func formatTerm(t core.Term) string { return fmt.Sprintf(termFormat, t.Gen, t.Life, t.Leader) }

// readReserve returns the term in the reserve; zero if none was ever put there.
func readReserve(name string) (t core.Term, err error) {
	text, err := medic.ReadSlots(name)
	if err != nil || text == "" {
		return t, err
	}
	_, err = fmt.Sscanf(text, termFormat, &t.Gen, &t.Life, &t.Leader)
	return t, err
}

func storeOnce(log *wal.Log, j job) error {
	if j.snapshot != nil {
		if log.Last() == 0 { // a snapshot needs a record to stand at
			typ, data := core.Record{Term: &j.term}.Encode()
			if _, err := log.Append(wal.Record{Type: typ, Parts: [][]byte{data}}); err != nil {
				return err
			}
		}
		if err := log.SaveSnapshot(log.Last(), j.snapshot); err != nil {
			return err
		}
		return log.Cut(log.Last())
	}
	records := make([]wal.Record, len(j.records))
	for i, r := range j.records {
		typ, data := r.Encode()
		records[i] = wal.Record{Type: typ, Parts: [][]byte{data}}
	}
	_, err := log.Append(records...)
	return err
}

// restore reads what the log and the reserve hold.
func (s *storage) restore() (core.State, error) {
	state, err := restore(s.log)
	if err != nil {
		return state, err
	}
	switch t, err := readReserve(s.reserve); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return state, fmt.Errorf("read the term that a full disk left no other place for: %w; if the file is damaged, remove it: the hosts know the generation, too", err)
	case t.Gen > state.Term.Gen:
		state.Term = t
	}
	return state, nil
}

// restore reads what the log holds.
func restore(log *wal.Log) (s core.State, err error) {
	at, snapshot, ok, err := log.LoadSnapshot()
	if err == nil && ok {
		s, err = core.DecodeSnapshot(snapshot)
	}
	if err == nil {
		err = log.Replay(at+1, func(_ wal.Index, typ byte, data []byte) error { return s.Restore(typ, data) })
	}
	if err != nil {
		return s, fmt.Errorf("read the log back: %w", err)
	}
	return s, nil
}
