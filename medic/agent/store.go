package agent

import (
	"context"
	"errors"
	"fmt"
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
}

// store makes a job durable. A full disk makes it wait, for as long as ctx lasts; every other error is final.
func store(ctx context.Context, log *wal.Log, j job) error {
	for {
		err := storeOnce(log, j)
		if !errors.Is(err, wal.ErrDiskFull) || medic.Sleep(ctx, retryFull) != nil {
			return err
		}
	}
}

func storeOnce(log *wal.Log, j job) error {
	if j.snapshot != nil {
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
