package wal

import (
	"path/filepath"
)

// makeSegment makes the directory and the empty file of a segment, durable with its entries when it returns. What an
// earlier attempt left is taken up. A new directory cannot be held open yet: for want of a file descriptor to sync it the caller takes the segment
// back, as it does without room.
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
