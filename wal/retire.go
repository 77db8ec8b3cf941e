package wal

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
)

// Retire ends the use of a log that was set back to a former state (R14). Its peers have seen records that it no longer has, so
// nothing may be appended to it. heritage, if not nil, is what the next log takes over. After Retire only Close may be called,
// and the next Open:
//
//  1. the heritage is written and synced, by temporary file and rename. A crash leaves it beside a log that continues: the caller drops it.
//     If it is nil, one that was not dropped yet is removed: the next log would take over what this one no longer has.
//  2. the head says that the log is retired, one fsync. It needs no room. From here on there is no way back.
//  3. the next Open removes what an earlier retirement put aside, and moves segments and snapshots to DIR/retired/LOG. A crash leaves them
//     here, there, or one here and one there: the next Open moves what is not there yet.
//  4. it makes an empty segment and a head with a new log id, by temporary file and rename. A crash before the rename leaves a retired head
//     beside an empty segment: the next Open finds everything moved, and makes both again.
//  5. the caller stores the heritage in the new log, and drops it with DropHeritage. A crash before the record is durable leaves an empty
//     log with its heritage: it is taken over again. After it, a log that is not empty: the heritage is dropped.
//
// Errors: ErrDiskFull, from 1 alone: nothing changed. errFailed: the next Open decides.
func (l *Log) Retire(heritage []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.usableLocked(); err != nil {
		return fmt.Errorf("wal: retire %s: %w", l.dir, err)
	}
	if heritage == nil {
		if err := l.removeHeritage(); err != nil {
			return l.failLocked("retire", err)
		}
	} else {
		head, tail := snapshotEnds(0, [][]byte{heritage})
		if err := replaceFile(l.fs, filepath.Join(l.dir, heritageName), head, heritage, tail); err != nil {
			return l.failLocked("retire", err)
		}
	}
	h := l.head
	h.serial++
	h.retired = true
	if err := writeHead(l.fs, l.dir, h); err != nil {
		return l.failLocked("retire", err)
	}
	l.head, l.failed = h, errRetired
	return nil
}

// Repaired reports whether Repair took something out of the log: it is to be retired when what is left has been read (R14).
func (l *Log) Repaired() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.head.repaired
}

// Heritage returns what a retired log left to this one; nil if it left nothing, or if it has rotted, which is reported to Options.Logger.
func (l *Log) Heritage() ([]byte, error) {
	b, err := l.fs.ReadFile(filepath.Join(l.dir, heritageName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("wal: read what the log before left in %s: %w", l.dir, err)
	}
	data, bad := decodeSnapshot(b, 0)
	if bad != nil {
		l.opts.Logger.Error("wal: what the log before left is bad and is dropped", "dir", l.dir, "file", heritageName, "error", bad)
		return nil, nil
	}
	return data, nil
}

// DropHeritage removes what Heritage returns, durably. Without any it does nothing.
func (l *Log) DropHeritage() error {
	if err := l.removeHeritage(); err != nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		return l.failLocked("drop the heritage", err)
	}
	return nil
}

func (l *Log) removeHeritage() error {
	name := filepath.Join(l.dir, heritageName)
	if _, err := l.fs.ReadFile(name); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := removeFile(l.fs, name); err != nil {
		return err
	}
	return syncDir(l.fs, l.dir)
}

// finishRetirement does steps 3 and 4 if the head says that the log is retired.
func (l *Log) finishRetirement() error {
	s := &analysis{dir: l.dir}
	if err := s.readHead(l.fs); err != nil || !s.hasHead || !s.head.retired {
		return err
	}
	if err := l.putAside(hex.EncodeToString(s.head.id.LogID[:])); err != nil {
		return err
	}
	if err := l.create(0); err != nil {
		return err
	}
	l.opts.Logger.Warn("wal: the log was retired; an empty one begins", "dir", l.dir, "retired",
		filepath.Join(retiredName, hex.EncodeToString(s.head.id.LogID[:])))
	l.segments = nil // as if they had not been made: what follows reads them
	return nil
}

// putAside moves segments and snapshots to DIR/retired/NAME. It removes what an earlier retired log left there: only one is
// kept.
func (l *Log) putAside(name string) error {
	above := filepath.Join(l.dir, retiredName)
	aside := filepath.Join(above, name)
	if err := makeDir(l.fs, aside); err != nil {
		return err
	}
	entries, err := readDir(l.fs, above)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name() != name {
			if err := removeAll(l.fs, filepath.Join(above, e.Name())); err != nil {
				return err
			}
		}
	}
	for _, sub := range []string{segmentsName, snapshotsDir} {
		if _, err := l.fs.ReadDir(filepath.Join(aside, sub)); err == nil {
			// Moved before a crash. What has that name now is the new log's, and empty, or the other name of a rename that is not durable.
			if err := removeAll(l.fs, filepath.Join(l.dir, sub)); err != nil {
				return err
			}
			continue
		}
		err := l.fs.Rename(filepath.Join(l.dir, sub), filepath.Join(aside, sub))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return errors.Join(syncDir(l.fs, aside), syncDir(l.fs, above), syncDir(l.fs, l.dir))
}

// removeAll removes a directory and what is in it, or a file.
func removeAll(fsys FS, name string) error {
	entries, err := fsys.ReadDir(name)
	if err == nil {
		for _, e := range entries {
			if err := removeAll(fsys, filepath.Join(name, e.Name())); err != nil {
				return err
			}
		}
	}
	return removeFile(fsys, name)
}
