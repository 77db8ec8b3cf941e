package wal

import (
	"path/filepath"
)

// settle makes durable what was read, before anything relies on it, and cuts the torn tail.
//
// The process before may have died of a failed fsync, or before its fsync. What it wrote last is then in memory, reads well, and is not on
// the disk. And after a failed fsync the kernel may consider those pages clean, so that another fsync reports success and writes nothing
// (W4). So the newest segment with records is written to a new file, for which no fsync has failed, and which takes the place of the old
// file:
//
//  1. the torn end, if there is one, is copied to cut/;
//  2. what is good is written to a temporary file, synced, and renamed over the segment; the directory is synced.
//
// A crash leaves the old file or the new one, with the same records. Older segments do not need this: an Append begins only after the fsync
// of the one before has succeeded, and Open ends only after settle. For the same reason only the last Append of the segment is in doubt.
//
// If the disk has no room for the new file, only the last Append is written again: over itself, byte for byte. That makes its
// pages dirty again and needs no room, so a full disk does not keep a node from starting (W5). It is not done if there is room,
// because it overwrites records that may have been acknowledged, and a disk that damages a sector when its power fails would
// damage them.
//
// Directories are only synced. Their fsync fails when the journal of the file system has failed, and then nothing succeeds any more.
func (l *Log) settle(p plan) error {
	for _, sub := range []string{"", segmentsName, snapshotsDir} {
		if err := syncDir(l.fs, filepath.Join(l.dir, sub)); err != nil {
			return err
		}
	}
	newest := len(p.segments) - 1
	if newest > 0 && p.segments[newest].scan.size == 0 {
		newest-- // its seal may be what was written last
	}
	s := p.segments[newest].scan
	if s.size == 0 {
		return nil
	}
	name := segmentFile(l.dir, s.first)
	b, err := readScanned(l.fs, l.dir, s)
	if err != nil {
		return err
	}
	if p.cut {
		if err := l.keepTorn(b, s); err != nil {
			return err
		}
	}
	err = replaceFile(l.fs, name, b[:s.end])
	if !isNoSpace(err) || noDescriptor(err) { // a descriptor comes back, and then the new file has room
		return err
	}
	return changeFile(l.fs, name, func(f File) error {
		if _, err := f.WriteAt(b[s.lastAppend:s.end], s.lastAppend); err != nil || !p.cut {
			return err
		}
		return f.Truncate(s.end)
	})
}

// keepTorn copies the torn end of a segment to cut/. Without room the torn end is dropped, because it was never acknowledged.
// Without a file descriptor Open fails, and the next Open tries again.
func (l *Log) keepTorn(b []byte, s scan) error {
	c, err := copyAside(l.fs, l.dir, b, s)
	if isNoSpace(err) && !noDescriptor(err) {
		c.Kept, err = "nowhere: there is no room for it", nil
	}
	if err != nil {
		return err
	}
	l.opts.Logger.Warn("wal: cut a torn tail", "dir", l.dir, "file", c.File, "offset", c.Offset, "bytes", c.Bytes, "next", c.Next, "kept",
		c.Kept)
	return nil
}
