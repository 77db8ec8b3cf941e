package wal

import (
	"errors"
	"fmt"
	"path/filepath"
)

// Open opens the log in dir, which it makes if need be, for this process alone. It repairs what a crash leaves
// (doc.go), and returns
//   - ErrLocked if another has it,
//   - *CorruptionError, with nothing changed, if the damage is more than a crash explains,
//   - ErrDiskFull if there is no room for the repair or for the new incarnation.
func Open(dir string, o Options) (*Log, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	if err := makeDir(o.FS, dir); err != nil {
		return nil, openError(dir, err)
	}
	lock, err := lockDir(dir)
	if err != nil {
		return nil, err
	}
	l := &Log{dir: dir, opts: o, fs: o.FS, lock: lock}
	if err := l.recover(); err != nil {
		_ = lock.Close()
		return nil, openError(dir, err)
	}
	return l, nil
}

func openError(dir string, err error) error {
	var corrupt *CorruptionError
	if errors.As(err, &corrupt) {
		return err
	}
	if isNoSpace(err) {
		return fmt.Errorf("wal: open %s: %w; make room and start again: %w", dir, ErrDiskFull, err)
	}
	return fmt.Errorf("wal: open %s: %w", dir, err)
}

// recover looks, decides, acts, and makes the new incarnation durable.
func (l *Log) recover() error {
	if err := l.finishRetirement(); err != nil {
		return err
	}
	s, err := analyze(l.fs, l.dir, l.opts.OnRecord)
	if err != nil {
		return err
	}
	p, corrupt := makePlan(s)
	if corrupt != nil {
		return corrupt
	}
	if !p.fresh {
		if err := l.syncUnsynced(p); err != nil {
			return err
		}
	}
	for _, name := range s.leftovers {
		if err := removeFile(l.fs, filepath.Join(l.dir, name)); err != nil {
			return err
		}
	}
	if p.fresh {
		return l.create(1)
	}
	if err := l.carryOut(p); err != nil {
		return err
	}
	l.adopt(s, p)
	return l.startIncarnation()
}

// syncUnsynced syncs what a process that died (and not the machine) may have left unsynced, before anything relies on
// it: the head, the entries of all directories, the tail, and the segment before it, whose seal may be the last thing
// that was written. Only the tail's torn end is synced in vain.
func (l *Log) syncUnsynced(p plan) error {
	files := []string{filepath.Join(l.dir, headName)}
	for i := max(0, len(p.segments)-2); i < len(p.segments); i++ {
		files = append(files, segmentFile(l.dir, p.segments[i].scan.first))
	}
	for _, name := range files {
		if err := changeFile(l.fs, name, func(File) error { return nil }); err != nil {
			return err
		}
	}
	for _, sub := range []string{"", segmentsName, snapshotsDir} {
		if err := syncDir(l.fs, filepath.Join(l.dir, sub)); err != nil {
			return err
		}
	}
	return nil
}

// create starts a new log. The head comes last: it proves that the segment before it is there.
func (l *Log) create(incarnation uint64) (err error) {
	if l.head, err = newHead(); err != nil {
		return err
	}
	l.head.id.Incarnation = incarnation
	if l.head.id.Life, err = newLife(); err != nil {
		return err
	}
	for _, sub := range []string{segmentsName, snapshotsDir} {
		if err := makeDir(l.fs, filepath.Join(l.dir, sub)); err != nil {
			return err
		}
	}
	if err := makeSegment(l.fs, l.dir, 1); err != nil {
		return err
	}
	l.segments = []segment{{first: 1}}
	return createHead(l.fs, l.dir, l.head)
}

// carryOut does what the plan says. Each step leaves a directory for which the same plan, or the rest of it, is made again.
func (l *Log) carryOut(p plan) error {
	for _, first := range p.remove {
		if err := removeSegment(l.fs, l.dir, first); err != nil {
			return err
		}
	}
	if len(p.remove) > 0 {
		if err := syncDir(l.fs, filepath.Join(l.dir, segmentsName)); err != nil {
			return err
		}
	}
	if !p.cut {
		return nil
	}
	c, err := cutAside(l.fs, l.dir, p.segments[len(p.segments)-1].scan)
	if err != nil {
		return err
	}
	l.opts.Logger.Warn("wal: cut a torn tail", "dir", l.dir, "file", c.File, "offset", c.Offset, "bytes", c.Bytes, "next", c.Next, "kept", c.Kept)
	return nil
}

func (l *Log) adopt(s *analysis, p plan) {
	l.head, l.snapshots = s.head, s.snapshots
	for i := range p.segments {
		l.segments = append(l.segments, segment{first: p.segments[i].scan.first, size: p.segments[i].scan.end})
	}
	l.last = p.segments[len(p.segments)-1].scan.next() - 1
}

// startIncarnation makes the next incarnation durable (N4), and its life (R14).
func (l *Log) startIncarnation() (err error) {
	h := l.head
	if h.id.Life, err = newLife(); err != nil {
		return err
	}
	h.serial++
	h.id.Incarnation++
	if err := writeHead(l.fs, l.dir, h); err != nil {
		return err
	}
	l.head = h
	return nil
}
