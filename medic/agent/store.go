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

// snapshotAt is the size of the log at which a snapshot replaces it. The journal is bounded, so a snapshot has some ten KiB.
const snapshotAt = 256 << 10

// retryFull is the pause before a full disk is tried again (W5).
const retryFull = 200 * time.Millisecond

// job is what to store next: records, or a snapshot of everything.
type job struct {
	records  []core.Record
	snapshot []byte
	term     core.Term // the newest term in a snapshot
}

// A full disk must not keep a medic from restarting processes. The journal may wait: the medic keeps it in memory, and writes it as one
// snapshot once there is room. A term may not wait, because in a generation that is not durable nothing is sent or ordered (M3). So the
// term goes into a file that exists already and is overwritten in place.
const reserveFile = "term"

// storage is where a medic's records are stored. The storing task owns it; there is one at a time.
type storage struct {
	log     *wal.Log
	reserve string // the file for the term
	behind  bool   // the disk was full, so the log lacks entries until the next snapshot
}

// store makes a job durable; on a full disk it makes only the term durable. Every other error is final.
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

// readReserve returns the term in the reserve; zero if there is none.
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
		if log.Last() == 0 { // a snapshot belongs to a record, so there must be one
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
		return state, fmt.Errorf("read the term that was written while the disk was full: %w; if the file is damaged, remove it: the hosts "+
			"know the generation, too", err)
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
