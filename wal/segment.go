package wal

import (
	"path/filepath"
)

// makeSegment makes the directory and the empty file of a segment, durable with its entries when it returns. It reuses what an
// earlier attempt left. A new directory is not held open yet, so its sync needs a file descriptor. If there is none, the caller
// takes the segment back, as it does on a full disk.
func makeSegment(fsys FS, dir string, first Index) error {
	segDir := segmentDir(dir, first)
	if err := makeDir(fsys, segDir); err != nil {
		return err
	}
	if err := writeFile(fsys, segmentFile(dir, first)); err != nil {
		return err
	}
	err := fsys.SyncDir(segDir)
	if err == nil || noDescriptor(err) {
		return err
	}
	return notSynced(segDir, err)
}

// removeSegment removes a segment: file before directory, so that what a crash leaves is a directory without its file.
// The caller syncs the directory above.
func removeSegment(fsys FS, dir string, first Index) error {
	if err := removeFile(fsys, segmentFile(dir, first)); err != nil {
		return err
	}
	return removeFile(fsys, segmentDir(dir, first))
}

// unmakeSegment takes back a segment that must not stay, durably: if the next Append has another number of records,
// an empty segment with the wrong name would stand among the others.
func unmakeSegment(fsys FS, dir string, first Index) error {
	if err := removeSegment(fsys, dir, first); err != nil {
		return err
	}
	return syncDir(fsys, filepath.Join(dir, segmentsName))
}
