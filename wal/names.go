package wal

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
)

// The directory:
//
//	DIR/lock                                   flock, the holder's pid inside
//	DIR/head                                   log id, incarnation, first record (head.go)
//	DIR/segments/FIRST/FIRST                   one tidwall log per segment, one file in it, named by its first record
//	DIR/snapshots/AT-COPY.snapshot             (snapshot.go)
//	DIR/files/NAME                             state that snapshots refer to (files.go)
//	DIR/cut/…                                  what recovery and repair took out, kept aside
//	DIR/heritage                               what a retired log left to this one, until it is stored in it (retire.go)
//	DIR/retired/LOG/…                          segments and snapshots of the log that was retired last
//	DIR/reserve                                room for what makes room on a full disk (reserve.go)
const (
	lockName     = "lock"
	headName     = "head"
	segmentsName = "segments"
	snapshotsDir = "snapshots"
	filesDir     = "files"
	cutName      = "cut"
	heritageName = "heritage"
	retiredName  = "retired"
	reserveName  = "reserve"

	tmpSuffix      = ".tmp"
	badSuffix      = ".bad"
	snapshotSuffix = ".snapshot"
)

// segmentName has the 20 digits tidwall demands of its file names; ours for the directory too, so they sort.
func segmentName(first Index) string { return fmt.Sprintf("%020d", first) }

func segmentDir(dir string, first Index) string {
	return filepath.Join(dir, segmentsName, segmentName(first))
}

func segmentFile(dir string, first Index) string { return filepath.Join(dir, segmentRel(first)) }

// segmentRel returns the file's name below the log's directory, as errors and reports show it.
func segmentRel(first Index) string {
	return filepath.Join(segmentsName, segmentName(first), segmentName(first))
}

func parseSegmentName(name string) (Index, bool) {
	if len(name) != 20 {
		return 0, false
	}
	n, err := strconv.ParseUint(name, 10, 64)
	return Index(n), err == nil && n > 0
}

// snapshotName tells snapshots of one index apart by copy: the twin of snapshot.go, or a state saved twice.
type snapshotName struct {
	at   Index
	copy uint32
}

func (n snapshotName) file() string {
	return fmt.Sprintf("%020d-%06d%s", n.at, n.copy, snapshotSuffix)
}

func (n snapshotName) rel() string { return filepath.Join(snapshotsDir, n.file()) }

func parseSnapshotName(name string) (snapshotName, bool) {
	at, copyNo, found := strings.Cut(strings.TrimSuffix(name, snapshotSuffix), "-")
	a, err1 := strconv.ParseUint(at, 10, 64)
	c, err2 := strconv.ParseUint(copyNo, 10, 32)
	n := snapshotName{at: Index(a), copy: uint32(c)}
	return n, found && err1 == nil && err2 == nil && n.file() == name
}
