package sim

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"posta.dev/posta/link"
	"posta.dev/posta/test/simulator/crashdisk"
	"posta.dev/posta/test/simulator/eventqueue"
	"posta.dev/posta/wal"
)

// realDisk is the real log, package wal, on a file system that simulates crashes. All faults happen to the log's files: a process dies in
// the middle of a write, unsynced bytes are lost or torn, the disk is full, a bit changes.
type realDisk struct {
	w        *world
	files    *crashdisk.Disk
	log      *wal.Log
	random   *rand.ChaCha8 // of ids and lives
	full     bool
	dies     bool // the process dies after as many steps as are left
	left     int
	broken   bool // a step has failed for good: the log may be unusable (W4)
	rotten   bool // a file was changed without the log's knowledge: the log may be damaged
	fellBack bool // the newest snapshot was damaged, and no other was saved since
}

const (
	realDir  = "data"
	idleTail = 4 << 10 // bytes that an idle log may keep, as wal does
)

func (w *world) newRealDisk() *realDisk {
	var seed [32]byte
	w.realDisks++
	binary.LittleEndian.PutUint64(seed[:], w.Seed)
	binary.LittleEndian.PutUint64(seed[8:], w.realDisks)
	d := &realDisk{w: w, random: rand.NewChaCha8(seed)}
	d.use(crashdisk.New())
	return d
}

// use makes the log use these files from now on.
func (d *realDisk) use(files *crashdisk.Disk) {
	d.files, d.dies = files, false
	files.Fault = d.fault
}

// fault decides what happens to a step. On a full disk, half of a write is done, and undoing that may fail, too.
func (d *realDisk) fault(op, _ string) (half bool, err error) {
	if d.dies {
		if d.left--; d.left < 0 {
			return false, errDied
		}
	}
	switch op {
	case "create", "mkdir", "write":
		if d.full {
			return true, syscall.ENOSPC
		}
	case "truncate":
		if d.full && d.w.Chance(0.3) {
			d.broken = true
			return false, syscall.EIO
		}
	}
	return false, nil
}

// open opens the log as package nodes does. A damaged log is repaired, as a person would do it.
func (d *realDisk) open(heard func(at wal.Index, typ byte, data []byte)) (openLog, error) {
	d.broken = false
	d.spoilSnapshot()
	o := wal.Options{
		FS: realFiles{d.files}, Random: d.random, Logger: slog.New(slog.DiscardHandler), SegmentSize: d.w.layout.segment, OnRecord: heard,
	}
	log, err := wal.Open(realDir, o)
	var damage *wal.CorruptionError
	if errors.As(err, &damage) && d.rotten {
		d.w.injected("repair")
		if _, err := wal.RepairWith(realDir, o); err != nil {
			return nil, err
		}
		return nil, errDamaged
	}
	if err != nil {
		return nil, err
	}
	d.log, d.rotten = log, false // it has read everything
	return realLog{log, d}, nil
}

// errDamaged: the log was damaged and has been repaired; the node is started again.
var errDamaged = errors.New("the log was damaged")

// spoilSnapshot flips a bit of the newest snapshot. The log promises to survive one bad snapshot, not two.
func (d *realDisk) spoilSnapshot() {
	if d.fellBack || d.rotten || !d.w.Chance(d.w.faults.badSnapshot) {
		return
	}
	var all []string
	entries, _ := d.files.ReadDir(filepath.Join(realDir, "snapshots"))
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".snapshot") {
			all = append(all, filepath.Join(realDir, "snapshots", e.Name()))
		}
	}
	if len(all) > 1 {
		d.flip(all[len(all)-1], 0)
		d.fellBack = true
	}
}

// flip changes a bit of a file, from a byte on.
func (d *realDisk) flip(name string, from int) {
	b, err := d.files.ReadFile(name)
	if err != nil || len(b) <= from {
		return
	}
	bit := int64(from)*8 + d.w.Rand.Int64N(int64(len(b)-from)*8)
	if err := d.files.Flip(name, bit); err != nil {
		d.w.fail("the simulator: %v", err)
	}
	d.w.tracef("bit %d of %s rots", bit, name)
}

func (d *realDisk) fill(full bool) { d.full = full }
func (d *realDisk) failed() bool   { return d.broken }
func (d *realDisk) heal()          { d.dies = false }
func (d *realDisk) dieSoon()       { d.dies, d.left = true, d.w.Rand.IntN(12) }

func (d *realDisk) close() {
	if d.log != nil {
		_ = d.log.Close() // like a dying process: without a sync
		d.log = nil
	}
}

// crashed simulates the crash: often only the process has died, sometimes the machine.
func (d *realDisk) crashed() {
	d.close()
	outcome := eventqueue.OneOf(d.w.Queue, crashdisk.Kept, crashdisk.Kept, crashdisk.Lost, crashdisk.Torn)
	d.w.tracef("what was not synced is %s", outcome)
	d.use(d.files.Crash(outcome, d.w.Rand))
}

func (d *realDisk) clone() disk {
	c := *d
	c.log, c.full = nil, false
	c.use(d.files.Clone())
	return &c
}

func (d *realDisk) holds() int {
	if d.log.Size() < idleTail {
		return 0
	}
	return int(d.log.Last() + 1 - d.log.First())
}

// loseTail drops the last records, like a disk that lies about a flush, or flips a bit of them.
func (d *realDisk) loseTail(records int) {
	d.rotten = true
	entries, err := d.files.ReadDir(filepath.Join(realDir, "segments"))
	if err != nil || len(entries) == 0 {
		return
	}
	newest := entries[len(entries)-1].Name()
	name := filepath.Join(realDir, "segments", newest, newest)
	b, err := d.files.ReadFile(name)
	if err != nil || len(b) == 0 {
		return
	}
	var begins []int // of each record in the file: its length as a uvarint, and the record
	for at := 0; at < len(b); {
		size, n := binary.Uvarint(b[at:])
		if n <= 0 {
			break
		}
		begins = append(begins, at)
		at += n + int(size)
	}
	at := begins[max(0, len(begins)-records)]
	if d.w.Chance(0.5) {
		d.flip(name, at)
		return
	}
	d.files.Fault = nil // this is not a step of the node
	defer func() { d.files.Fault = d.fault }()
	f, err := d.files.OpenFile(name, os.O_WRONLY)
	if err == nil {
		err = errors.Join(f.Truncate(int64(at)), f.Sync())
	}
	if err != nil {
		d.w.fail("the simulator: %v", err)
	}
}

// realLog is the log in one incarnation.
type realLog struct {
	*wal.Log
	d *realDisk
}

func (l realLog) identity() link.Identity {
	id := l.Identity()
	return link.Identity{LogID: id.LogID, Incarnation: link.Incarnation(id.Incarnation), Life: link.Life(id.Life)}
}

func (l realLog) SaveSnapshot(at wal.Index, parts ...[]byte) error {
	err := l.Log.SaveSnapshot(at, parts...)
	if err == nil {
		l.d.fellBack = false
	}
	return err
}

// realFiles is a crashdisk as the log sees it.
type realFiles struct{ *crashdisk.Disk }

func (f realFiles) OpenFile(name string, flag int, _ os.FileMode) (wal.File, error) {
	file, err := f.Disk.OpenFile(name, flag)
	if err != nil {
		return nil, err
	}
	return file, nil
}

func (f realFiles) Mkdir(name string, _ os.FileMode) error { return f.Disk.Mkdir(name) }

func (f realFiles) Lock(dir string) (io.Closer, error) {
	l, ok := f.Disk.Lock(dir)
	if !ok {
		return nil, fmt.Errorf("simulated: %w", wal.ErrLocked)
	}
	return l, nil
}
