package wal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"path/filepath"
	"slices"
)

// A snapshot file is written whole under a temporary name, synced, renamed, and its directory synced (N3):
//
//	0      8    16       24
//	┌──────┬────┬────────┬─────────────────┬─────┐
//	│magic │ at │ length │ data            │ crc │   crc is CRC32C over everything before it; numbers are LE
//	└──────┴────┴────────┴─────────────────┴─────┘
const (
	snapshotMagic = "POSTASNP"
	snapshotHead  = 24 // bytes
	snapshotCRC   = 4  // bytes
)

func snapshotEnds(at Index, parts [][]byte) (head, tail []byte) {
	length := uint64(0)
	for _, p := range parts {
		length += uint64(len(p))
	}
	head = append(make([]byte, 0, snapshotHead), snapshotMagic...)
	head = binary.LittleEndian.AppendUint64(head, uint64(at))
	head = binary.LittleEndian.AppendUint64(head, length)
	crc := crc32.Checksum(head, castagnoli)
	for _, p := range parts {
		crc = crc32.Update(crc, castagnoli, p)
	}
	return head, binary.LittleEndian.AppendUint32(nil, crc)
}

// decodeSnapshot returns the data within b, or what is wrong with it.
func decodeSnapshot(b []byte, at Index) ([]byte, error) {
	n := len(b) - snapshotHead - snapshotCRC
	switch {
	case n < 0:
		return nil, fmt.Errorf("it is too short (%d bytes)", len(b))
	case string(b[:8]) != snapshotMagic:
		return nil, errors.New("it does not begin like a snapshot")
	case binary.LittleEndian.Uint64(b[16:]) != uint64(n):
		return nil, fmt.Errorf("its length is not the one it was written with (%d bytes)", len(b))
	case crc32.Checksum(b[:snapshotHead+n], castagnoli) != binary.LittleEndian.Uint32(b[snapshotHead+n:]):
		return nil, errors.New("bad checksum")
	case binary.LittleEndian.Uint64(b[8:]) != uint64(at):
		return nil, fmt.Errorf("it is of record %d", binary.LittleEndian.Uint64(b[8:]))
	}
	return b[snapshotHead : snapshotHead+n], nil
}

// SaveSnapshot makes the state after record at durable. The data is the concatenation of parts, which are only read.
// at is at most Last and not below the newest snapshot's, else ErrSnapshotIndex. On ErrDiskFull nothing changed; on
// errFailed the next Open decides. May run beside Append.
func (l *Log) SaveSnapshot(at Index, parts ...[]byte) error {
	l.mu.Lock()
	err, last := l.usableLocked(), l.last
	l.mu.Unlock()
	if err == nil && at > last {
		err = fmt.Errorf("last record is %d: %w", last, ErrSnapshotIndex)
	}
	if err != nil {
		return fmt.Errorf("wal: snapshot %d in %s: %w", at, l.dir, err)
	}
	if err := l.storeSnapshot(at, parts); err != nil {
		if errors.Is(err, ErrSnapshotIndex) || errors.Is(err, errClosed) {
			return fmt.Errorf("wal: snapshot %d in %s: %w", at, l.dir, err)
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		return l.failLocked(fmt.Sprintf("snapshot %d", at), err)
	}
	return nil
}

func (l *Log) storeSnapshot(at Index, parts [][]byte) error {
	l.snapMu.Lock()
	defer l.snapMu.Unlock()
	if l.snapDone {
		return errClosed
	}
	name := snapshotName{at: at}
	if n := len(l.snapshots); n > 0 {
		newest := l.snapshots[n-1]
		if at < newest.at {
			return fmt.Errorf("newest snapshot is %d: %w", newest.at, ErrSnapshotIndex)
		}
		if at == newest.at {
			name.copy = newest.copy + 1
		}
	}
	head, tail := snapshotEnds(at, parts)
	all := append(append([][]byte{head}, parts...), tail)
	if err := replaceFile(l.fs, filepath.Join(l.dir, name.rel()), all...); err != nil {
		return err
	}
	l.snapshots = append(l.snapshots, name)
	return l.pruneSnapshotsLocked()
}

// pruneSnapshotsLocked removes the oldest beyond Options.Snapshots. Cut never relies on those: it looks at the newest two
// (and with Options.Snapshots = 1 at none).
func (l *Log) pruneSnapshotsLocked() error {
	return l.dropSnapshotsLocked(len(l.snapshots) - l.opts.Snapshots)
}

// dropSnapshotsLocked removes the n oldest.
func (l *Log) dropSnapshotsLocked(n int) error {
	if n <= 0 {
		return nil
	}
	for _, s := range l.snapshots[:n] {
		if err := removeFile(l.fs, filepath.Join(l.dir, s.rel())); err != nil {
			return err
		}
	}
	l.snapshots = slices.Clone(l.snapshots[n:])
	return syncDir(l.fs, filepath.Join(l.dir, snapshotsDir))
}

// outdatedSnapshots returns how many bytes the snapshots have that are of another state than the newest.
func (l *Log) outdatedSnapshots() (bytes int64, err error) {
	l.snapMu.Lock()
	defer l.snapMu.Unlock()
	n := len(l.snapshots)
	if n < 2 || l.snapshots[0].at == l.snapshots[n-1].at {
		return 0, nil
	}
	files, err := readDir(l.fs, filepath.Join(l.dir, snapshotsDir))
	for _, f := range files {
		if name, ok := parseSnapshotName(f.Name()); ok && name.at < l.snapshots[n-1].at {
			if info, err := f.Info(); err == nil { // otherwise it was removed meanwhile
				bytes += info.Size()
			}
		}
	}
	return bytes, err
}

// dropStrandedSnapshots removes the snapshots between which and the log's first record there are records missing. LoadSnapshot
// can never use them. They hold the state of busier times, which is often far larger than an idle log.
func (l *Log) dropStrandedSnapshots(first Index) error {
	l.snapMu.Lock()
	defer l.snapMu.Unlock()
	n := 0
	for n < len(l.snapshots) && l.snapshots[n].at+1 < first {
		n++
	}
	return l.dropSnapshotsLocked(n)
}

// twinSnapshot makes a second copy of the newest snapshot when it covers the log up to upTo and the one before does not.
// With the copy, losing either file loses nothing, and the records between are needed no more.
func (l *Log) twinSnapshot(upTo Index) error {
	l.snapMu.Lock()
	n := len(l.snapshots)
	if n == 0 || l.snapshots[n-1].at < upTo || l.opts.Snapshots < 2 || n > 1 && l.snapshots[n-2].at >= upTo {
		l.snapMu.Unlock()
		return nil
	}
	newest := l.snapshots[n-1]
	b, err := l.fs.ReadFile(filepath.Join(l.dir, newest.rel()))
	l.snapMu.Unlock()
	if err != nil {
		return err
	}
	data, err := decodeSnapshot(b, newest.at)
	if err != nil {
		// It rotted while the process ran. The records that could replace it still exist; keep them.
		l.opts.Logger.Error("wal: the newest snapshot is bad; the log is kept", "dir", l.dir, "file", newest.rel(), "error", err)
		return nil
	}
	return l.storeSnapshot(newest.at, [][]byte{data})
}

// LoadSnapshot returns the newest good snapshot and the record it was made after; ok is false if there is none. Continue
// with Replay(at+1). A bad one is skipped, reported to Options.Logger, and renamed to NAME.bad, so that Cut does not
// count on it. A *CorruptionError says that the log was cut trusting a snapshot and that none reaches it any more.
func (l *Log) LoadSnapshot() (at Index, data []byte, ok bool, err error) {
	l.mu.Lock()
	closed, h, first := l.closed, l.head, l.segments[0].first
	l.mu.Unlock()
	if closed {
		return 0, nil, false, errClosed
	}
	l.snapMu.Lock()
	defer l.snapMu.Unlock()
	for n := len(l.snapshots); n > 0; n = len(l.snapshots) {
		name := l.snapshots[n-1]
		if name.at+1 < first {
			break // the log does not reach back to it
		}
		data, bad, err := readSnapshot(l.fs, l.dir, name)
		if err != nil {
			return 0, nil, false, fmt.Errorf("wal: load snapshot %d in %s: %w", name.at, l.dir, err)
		}
		if bad == nil {
			return name.at, data, true, nil
		}
		if err := l.discardLocked(name, bad); err != nil {
			return 0, nil, false, fmt.Errorf("wal: set bad snapshot %d in %s aside: %w", name.at, l.dir, err)
		}
	}
	if h.needsSnapshot {
		return 0, nil, false, noSnapshot(l.dir, first)
	}
	return 0, nil, false, nil
}

// readSnapshot returns two kinds of errors: bad means that the file is not what was written, err that it could not be read now.
func readSnapshot(fsys FS, dir string, name snapshotName) (data []byte, bad, err error) {
	b, err := fsys.ReadFile(filepath.Join(dir, name.rel()))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errors.New("the file is gone"), nil
	}
	if err != nil {
		return nil, nil, err
	}
	data, bad = decodeSnapshot(b, name.at)
	return data, bad, nil
}

func (l *Log) discardLocked(name snapshotName, bad error) error {
	l.opts.Logger.Error("wal: bad snapshot, falling back to the one before", "dir", l.dir, "file", name.rel(), "error", bad)
	path := filepath.Join(l.dir, name.rel())
	if err := l.fs.Rename(path, path+badSuffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	l.snapshots = l.snapshots[:len(l.snapshots)-1]
	return syncDir(l.fs, filepath.Join(l.dir, snapshotsDir))
}
