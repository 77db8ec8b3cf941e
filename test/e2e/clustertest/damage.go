package clustertest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"posta.dev/posta/wal"
)

// LoseRecords cuts the last records of a log, as far as no snapshot proves that they were there, and returns how many: a disk has lied about
// a flush, and the machine has died. Nobody may have the log open.
func LoseRecords(dir string, n int) (lost int, err error) {
	file, _, tail, err := unprovenTail(dir)
	if n = min(n, len(tail)); n == 0 || err != nil {
		return 0, err
	}
	return n, os.Truncate(file, tail[len(tail)-n])
}

// FlipLastByte changes a bit in the last byte of the last record, unless a snapshot proves that the record was there, and reports whether it
// has. Recovery takes such a record for a torn write and cuts it. Nobody may have the log open.
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

// FlipInTheMiddle changes a bit of a record that has others behind it, or of a short log's head: no torn write looks like that, and the log is damaged
// (W2). Nobody may have the log open.
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

// unprovenTail is where the records begin that lie in the newest segment behind the newest snapshot, oldest first, and where the last one ends.
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

// isLock tells the files that are no content of a directory: whoever holds one keeps the directory, or the host (N4, M4).
func isLock(name string) bool { return name == "lock" || strings.HasSuffix(name, ".lock") }

// CopyDirectory makes to a copy of a directory that nobody uses. It replaces what is in to, and keeps to itself, which may be a mount.
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
