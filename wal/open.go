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
	lock, err := Lock(o.FS, dir)
	if err != nil {
		return nil, err
	}
	if o.OnLocked != nil {
		if err := o.OnLocked(); err != nil {
			return nil, errors.Join(err, lock.Close())
		}
	}
	l := &Log{dir: dir, opts: o, fs: o.FS, lock: lock, store: store{fs: o.FS}}
	err = l.recover()
	if err == nil {
		l.fs, err = holdDirs(l.fs, dir, filepath.Join(dir, segmentsName), filepath.Join(dir, snapshotsDir))
	}
	if err != nil {
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
	if isNoSpace(err) || noDescriptor(err) { // for lack of a descriptor nothing was synced, so the next Open may try again
		return fmt.Errorf("wal: open %s: %w", dir, noRoom(err))
	}
	return fmt.Errorf("wal: open %s: %w", dir, err)
}

// recover reads the directory, makes a plan, makes the new incarnation durable, and then carries out the plan: doc.go has the
// steps.
func (l *Log) recover() error {
	if err := l.finishRetirement(); err != nil {
		return err
	}
	s, err := analyze(l.fs, l.dir, l.opts.OnSegment, l.opts.OnRecord)
	if err != nil {
		return err
	}
	p, corrupt := makePlan(s)
	if corrupt != nil {
		return corrupt
	}
	if !p.fresh {
		if err := l.startIncarnation(s.head); err != nil {
			return err
		}
	}
	for _, name := range s.leftovers {
		if err := removeFile(l.fs, filepath.Join(l.dir, name)); err != nil {
			return err
		}
	}
	if p.fresh {
		if err := l.create(1); err != nil {
			return err
		}
		return l.openReserve()
	}
	if err := l.removeDead(p); err != nil { // which may make room
		return err
	}
	if err := l.settle(p); err != nil {
		return err
	}
	l.adopt(s, p)
	return l.openReserve()
}

// create starts a new log. The head comes last: it proves that the segment before it is there.
func (l *Log) create(incarnation uint64) (err error) {
	if l.head, err = newHead(l.opts.Random); err != nil {
		return err
	}
	l.head.id.Incarnation = incarnation
	if l.head.id.Life, err = newLife(l.opts.Random); err != nil {
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

// removeDead removes the segments that the plan says are dead. A crash leaves some, for which the same plan is made again.
func (l *Log) removeDead(p plan) error {
	for _, first := range p.remove {
		if err := removeSegment(l.fs, l.dir, first); err != nil {
			return err
		}
	}
	if len(p.remove) == 0 {
		return nil
	}
	return syncDir(l.fs, filepath.Join(l.dir, segmentsName))
}

func (l *Log) adopt(s *analysis, p plan) {
	l.snapshots = s.snapshots
	for i := range p.segments {
		l.segments = append(l.segments, segment{first: p.segments[i].scan.first, size: p.segments[i].scan.end})
	}
	l.last = p.segments[len(p.segments)-1].scan.next() - 1
}

// startIncarnation makes the next incarnation (N4) and its life (R14) durable, and with them everything else in the head. The
// slot that was read may be only in memory, if its fsync failed (W4). It must be durable before segments are removed because of
// it.
func (l *Log) startIncarnation(h head) (err error) {
	if h.id.Life, err = newLife(l.opts.Random); err != nil {
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
