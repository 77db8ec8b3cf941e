package clustertest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"posta.dev/posta/wal"
)

// LoseRecords cuts the last records of a log, except records that a snapshot proves, and returns how many. It simulates
// a disk that lied about a flush before the machine died. No process may have the log open.
func LoseRecords(dir string, n int) (lost int, err error) {
	file, _, tail, err := unprovenTail(dir)
	if n = min(n, len(tail)); n == 0 || err != nil {
		return 0, err
	}
	return n, os.Truncate(file, tail[len(tail)-n])
}

// FlipLastByte changes a bit in the last byte of the last record, unless a snapshot proves that record, and reports
// whether it did. Recovery takes such a record for a torn write and cuts it. No process may have the log open.
func FlipLastByte(dir string) (flipped bool, err error) {
	file, end, tail, err := unprovenTail(dir)
	if len(tail) == 0 || err != nil {
		return false, err
	}
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		return false, err
	}
	defer func() { _ = f.Close() }()
	last := make([]byte, 1)
	if _, err = f.ReadAt(last, end-1); err == nil {
		last[0] ^= 1
		_, err = f.WriteAt(last, end-1)
	}
	return err == nil, err
}

// FlipInTheMiddle changes a bit of a record with others after it, or of a short log's head. No torn write looks like
// that, so the log counts as damaged (W2). No process may have the log open.
func FlipInTheMiddle(dir string) error {
	report, err := wal.Verify(dir)
	if err != nil {
		return err
	}
	name, flips := filepath.Join(dir, "head"), []int{20, 512 + 20} // both of its slots
	if i := slices.IndexFunc(report.Segments, func(s wal.SegmentReport) bool { return s.Last > s.First+1 }); i >= 0 {
		name, flips = filepath.Join(dir, report.Segments[i].File), []int{40}
	}
	b, err := os.ReadFile(name)
	if err == nil {
		for _, at := range flips {
			b[at] ^= 1
		}
		err = os.WriteFile(name, b, 0o600)
	}
	if err != nil {
		return err
	}
	if report, err = wal.Verify(dir); err == nil && report.Damage == nil {
		err = fmt.Errorf("%s is not damaged", dir)
	}
	return err
}

// unprovenTail returns where the records begin that lie in the newest segment behind the newest snapshot, oldest first, and where the last
// one ends.
func unprovenTail(dir string) (file string, end int64, tail []int64, err error) {
	report, err := wal.Verify(dir)
	if err != nil || report.Damage != nil || report.Retired || len(report.Segments) == 0 {
		return "", 0, nil, err
	}
	newest := wal.Index(0)
	for _, s := range report.Snapshots {
		newest = max(newest, s.At)
	}
	last := report.Segments[len(report.Segments)-1]
	err = wal.Dump(dir, func(r wal.DumpRecord) error {
		if r.File == last.File && r.Index > newest {
			tail = append(tail, r.Offset)
		}
		return nil
	})
	return filepath.Join(dir, last.File), last.Good, tail, err
}

// isLock reports whether a file is a lock, which is not part of a directory's content: its holder owns the directory,
// or the host (N4, M4).
func isLock(name string) bool { return name == "lock" || strings.HasSuffix(name, ".lock") }

// CopyDirectory copies a directory that no process uses. It replaces the contents of to, but not to itself, which may
// be a mount.
func CopyDirectory(from, to string) error {
	if err := os.MkdirAll(to, 0o750); err != nil {
		return err
	}
	old, err := os.ReadDir(to)
	if err != nil {
		return err
	}
	for _, e := range old {
		if isLock(e.Name()) {
			continue
		}
		if err := os.RemoveAll(filepath.Join(to, e.Name())); err != nil {
			return err
		}
	}
	return copyInto(from, to)
}

func copyInto(from, to string) error {
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	for _, e := range entries {
		a, b := filepath.Join(from, e.Name()), filepath.Join(to, e.Name())
		switch {
		case isLock(e.Name()):
			continue
		case e.IsDir():
			if err = os.Mkdir(b, 0o750); err == nil {
				err = copyInto(a, b)
			}
		default:
			var data []byte
			if data, err = os.ReadFile(a); err == nil {
				err = os.WriteFile(b, data, 0o600)
			}
		}
		if err != nil {
			return fmt.Errorf("copy %s: %w", a, err)
		}
	}
	return nil
}
