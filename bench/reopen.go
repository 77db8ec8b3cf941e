package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"posta.dev/posta/wal"
)

const reopenAbout = `how long a node takes to open its log: all of a log (--amount), which is read and compared with its checksums; and what is left of it when a snapshot is
saved, the log is cut behind it, and 64 MiB (half of a smaller log) come after it: nodes save the next snapshot then (limits.snapshot). Files are in the page cache`

const (
	reopenRecord   = 64 << 10
	reopenSnapshot = 1 << 20  // bytes of the state
	reopenSince    = 64 << 20 // bytes after the snapshot: the default of limits.snapshot
)

// measureReopen shows that the recovery time of a log depends on its length since the snapshot, and not on everything it ever
// held.
func measureReopen(ctx context.Context, c *Config) ([]Case, error) {
	cases := []Case{{Name: "the whole log"}, {Name: "cut behind a snapshot"}}
	pool := newPool()
	for _, counts := range c.rounds() {
		measures, err := reopenRound(ctx, c, pool)
		if err != nil {
			return nil, err
		}
		for i := range cases {
			if counts {
				cases[i].add(measures[i])
			}
		}
	}
	return cases, nil
}

// reopenRound fills a log, opens it, cuts it, and opens it again.
func reopenRound(ctx context.Context, c *Config, pool []byte) (all [2][]Measure, err error) {
	dir, err := os.MkdirTemp(c.Dir, "reopen")
	if err != nil {
		return all, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if _, err = reopen(dir, func(l *wal.Log) error { return fillLog(ctx, l, pool, c.Amount) }); err != nil {
		return all, fmt.Errorf("fill a log of %d bytes: %w", c.Amount, err)
	}
	if all[0], err = reopen(dir, func(l *wal.Log) error {
		if err := l.SaveSnapshot(l.Last(), pool[:reopenSnapshot]); err != nil {
			return err
		}
		if err := l.Cut(l.Last()); err != nil {
			return err
		}
		return fillLog(ctx, l, pool, min(c.Amount/2, reopenSince))
	}); err != nil {
		return all, err
	}
	all[1], err = reopen(dir, func(*wal.Log) error { return nil })
	return all, err
}

// reopen opens a log, loads its snapshot, and reads the records since then, as a node does. Then it changes the log and closes it.
func reopen(dir string, change func(*wal.Log) error) (m []Measure, err error) {
	checked, repeated := 0, 0
	begin := time.Now()
	l, err := wal.Open(dir, wal.Options{OnRecord: func(wal.Index, byte, []byte) { checked++ }})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	at, _, _, err := l.LoadSnapshot()
	if err == nil {
		err = l.Replay(max(at+1, l.First()), func(wal.Index, byte, []byte) error {
			repeated++
			return nil
		})
	}
	took := time.Since(begin)
	if err != nil {
		return nil, err
	}
	return []Measure{
		{"log", "MB", float64(l.Size()) / 1e6}, {"checked", "", float64(checked)}, {"repeated", "", float64(repeated)},
		{"open", "ms", float64(took.Microseconds()) / 1e3},
	}, change(l)
}

func fillLog(ctx context.Context, l *wal.Log, pool []byte, amount int64) error {
	records := make([]wal.Record, piece/reopenRecord)
	for at := 0; amount > 0; amount -= piece {
		for i := range records {
			if at+reopenRecord > len(pool) {
				at = 0
			}
			records[i] = wal.Record{Type: 1, Parts: [][]byte{pool[at : at+reopenRecord]}}
			at += reopenRecord
		}
		if _, err := l.Append(records...); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}
