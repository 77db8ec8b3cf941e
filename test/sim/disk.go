package sim

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"posta.dev/posta/link"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/nodes/shell"
	"posta.dev/posta/wal"
)

// disk is what survives a crash of its node. Most seeds use wholeDisks, some the real log on simulated files.
type disk interface {
	// open opens the log for another incarnation, and reports every record, as wal.Options.OnRecord does.
	open(heard func(at wal.Index, typ byte, data []byte)) (openLog, error)
	// dieSoon makes the process die within the following calls: from some moment on, calls have no effect.
	dieSoon()
	// heal cancels dieSoon: the first phase is over.
	heal()
	// crashed is called when the process has died. close is called when its incarnation has ended for any reason.
	crashed()
	close()
	// failed reports whether a step has failed for good in this incarnation, so that the log may be unusable (W4).
	failed() bool
	// fill sets whether there is room.
	fill(full bool)
	// loseTail removes the last records, like a disk that lies about a flush.
	loseTail(records int)
	clone() disk
	// holds returns how many records the log keeps that an idle node does not need.
	holds() int
}

// openLog is a log in one incarnation.
type openLog interface {
	shell.Log
	shell.History
	role.SavedReader
	identity() link.Identity
}

// wholeDisk keeps exactly the promises of package wal: a record is there as a whole or not at all, whole segments at the front may be
// dropped, and the newest snapshot may turn out to be bad. realDisk and the tests of package wal cover torn bytes.
type wholeDisk struct {
	w           *world
	id          link.Identity
	records     []stored
	last        wal.Index
	size        int64
	snapshots   []snapshot
	files       map[string][]byte // that snapshots refer to
	heritage    []byte            // what a retired log left to this one (R14)
	retired     bool
	full        bool
	spent, free int64 // bytes spent of the reserve on a full disk, and how many of them are still free
	fellBack    bool  // the newest snapshot was bad, and no better one was saved since: wal promises to survive one bad snapshot, not two
	newestIsBad bool  // in this incarnation
	dies        bool  // the process dies after as many calls as are left
	left        int
}

type stored struct {
	at   wal.Index
	data []byte
}

type snapshot struct {
	at   wal.Index
	data []byte
}

// realLogs reports whether the nodes of a seed have the real log: three in 32, two of them with disks that are set back.
func (w *world) realLogs() bool { return w.Seed%32 == 9 || w.Seed%32 == 26 || w.Seed%32 == 23 }

// blankDisk returns a disk without a log.
func (w *world) blankDisk() disk {
	if w.realLogs() {
		return w.newRealDisk()
	}
	d := &wholeDisk{w: w}
	d.id.LogID = w.newLogID()
	return d
}

func (w *world) newLogID() (id link.LogID) {
	for i := range id {
		id[i] = byte(w.Rand.IntN(256))
	}
	id[0] |= 1 // never zero
	return id
}

// open begins an empty log if the last one was retired. It overwrites the buffers in which records are reported, because the log reuses its
// buffers, too.
func (d *wholeDisk) open(heard func(at wal.Index, typ byte, data []byte)) (openLog, error) {
	if d.retired {
		*d = wholeDisk{w: d.w, heritage: d.heritage, files: d.files, full: d.full, spent: d.spent, free: d.free}
		d.id.LogID = d.w.newLogID()
	}
	d.id.Incarnation++
	d.id.Life = d.w.newLife()
	if !d.full {
		d.spent, d.free = 0, 0
	}
	d.newestIsBad = d.w.Chance(d.w.faults.badSnapshot)
	for _, rec := range d.records {
		buf := bytes.Clone(rec.data)
		heard(rec.at, 1, buf)
		overwrite(buf)
	}
	return d, nil
}

func overwrite(b []byte) {
	for i := range b {
		b[i] = 0xdb
	}
}

func joined(parts [][]byte) []byte { return bytes.Join(parts, nil) }

func (d *wholeDisk) identity() link.Identity { return d.id }
func (d *wholeDisk) Last() wal.Index         { return d.last }
func (d *wholeDisk) First() wal.Index        { return d.last + 1 - wal.Index(len(d.records)) }
func (d *wholeDisk) Size() int64             { return d.size }
func (d *wholeDisk) holds() int              { return len(d.records) }
func (d *wholeDisk) Repaired() bool          { return false }
func (d *wholeDisk) fill(full bool)          { d.full = full }
func (d *wholeDisk) dieSoon()                { d.dies, d.left = true, d.w.Rand.IntN(4) }
func (d *wholeDisk) heal()                   { d.dies = false }
func (d *wholeDisk) crashed()                { d.dies = false }
func (d *wholeDisk) failed() bool            { return false }
func (d *wholeDisk) close()                  { d.dies = false }

// call returns an error if a call that needs needsRoom bytes of room has no effect.
func (d *wholeDisk) call(needsRoom int64) error {
	if d.dies {
		if d.left--; d.left < 0 {
			return errDied
		}
	}
	if d.full && needsRoom > 0 {
		if needsRoom <= d.free {
			d.free -= needsRoom
			return nil
		}
		return fmt.Errorf("simulated: %w", wal.ErrDiskFull)
	}
	return nil
}

// Append makes records durable.
func (d *wholeDisk) Append(records ...wal.Record) (wal.Index, error) {
	room := int64(1)
	for i := range records {
		room += int64(len(joined(records[i].Parts)))
	}
	if err := d.call(room); err != nil {
		return 0, err
	}
	for i := range records {
		d.last++
		data := joined(records[i].Parts)
		d.size += int64(len(data))
		d.records = append(d.records, stored{d.last, data})
	}
	return d.last, nil
}

// SaveSnapshot makes a snapshot durable; the last three are kept (N3).
func (d *wholeDisk) SaveSnapshot(at wal.Index, parts ...[]byte) error {
	if err := d.call(1 + int64(len(joined(parts)))); err != nil {
		return err
	}
	if n := len(d.snapshots); at > d.last || n > 0 && at < d.snapshots[n-1].at {
		return fmt.Errorf("simulated: snapshot of record %d, the last is %d: %w", at, d.last, wal.ErrSnapshotIndex)
	}
	d.save(at, joined(parts))
	return nil
}

func (d *wholeDisk) save(at wal.Index, data []byte) {
	d.snapshots = append(d.snapshots, snapshot{at, data})
	d.snapshots = d.snapshots[max(0, len(d.snapshots)-3):]
	d.fellBack = false
}

// Cut drops records up to upTo, like wal: never beyond the second newest snapshot, because the newest may turn out to be bad, unless the
// newest is stored twice. Some of these records stay, because segments are dropped as a whole.
func (d *wholeDisk) Cut(upTo wal.Index) error {
	if err := d.call(0); err != nil {
		return err
	}
	n := len(d.snapshots)
	if n == 0 {
		return nil
	}
	slack := d.w.Rand.IntN(4)
	if upTo >= d.last && d.snapshots[n-1].at == d.last && !d.full {
		d.save(d.last, bytes.Clone(d.snapshots[n-1].data))
		n = len(d.snapshots)
		slack = 0
	}
	if n == 1 {
		return nil
	}
	upTo = min(upTo, d.snapshots[n-2].at)
	drop := 0
	for drop < len(d.records) && d.records[drop].at <= upTo {
		drop++
	}
	drop = max(0, drop-slack)
	for _, r := range d.records[:drop] {
		d.size -= int64(len(r.data))
	}
	d.records = d.records[drop:]
	return nil
}

// SaveFile makes a file durable.
func (d *wholeDisk) SaveFile(name string, parts ...[]byte) error {
	data := bytes.Join(parts, nil)
	if err := d.call(1 + int64(len(data))); err != nil {
		return err
	}
	if d.files == nil {
		d.files = map[string][]byte{}
	}
	d.files[name] = data
	d.w.report.Counters["files"]++
	return nil
}

// ReadFileAt reads a file.
func (d *wholeDisk) ReadFileAt(name string, p []byte, off int64) error {
	b, ok := d.files[name]
	if !ok || off+int64(len(p)) > int64(len(b)) {
		return fmt.Errorf("simulated: file %s: %w", name, fs.ErrNotExist)
	}
	copy(p, b[off:])
	return nil
}

// DropFiles removes files.
func (d *wholeDisk) DropFiles(names ...string) error {
	for _, name := range names {
		if err := d.call(0); err != nil {
			return err
		}
		delete(d.files, name)
	}
	return nil
}

// SweepFiles removes all files but some.
func (d *wholeDisk) SweepFiles(keep []string) error {
	for _, name := range slices.Sorted(maps.Keys(d.files)) {
		if !slices.Contains(keep, name) {
			if err := d.DropFiles(name); err != nil {
				return err
			}
		}
	}
	return nil
}

// reserveOf is the size of a wholeDisk's reserve, in bytes.
const reserveOf = 1 << 20

// Spend makes room on a full disk. Refill takes back the room that is left of it, and the rest when the disk has room.
func (d *wholeDisk) Spend(bytes int64) (given bool, err error) {
	if err := d.call(0); err != nil {
		return false, err
	}
	if bytes = min(bytes, reserveOf-d.spent); bytes == 0 {
		return false, nil
	}
	d.spent, d.free = d.spent+bytes, d.free+bytes
	d.w.injected("reserve")
	return true, nil
}

// Refill makes the reserve whole.
func (d *wholeDisk) Refill() error {
	d.spent, d.free = d.spent-d.free, 0
	if err := d.call(d.spent); err != nil {
		return err
	}
	d.spent = 0
	return nil
}

// Short reports whether a part of the reserve is spent.
func (d *wholeDisk) Short() bool { return d.spent > 0 }

// LoadSnapshot returns the newest snapshot, or the one before it if the newest is bad.
func (d *wholeDisk) LoadSnapshot() (at wal.Index, data []byte, ok bool, err error) {
	n := len(d.snapshots)
	if n > 1 && d.newestIsBad && !d.fellBack {
		d.fellBack = true
		d.snapshots = d.snapshots[:n-1]
		n--
	}
	if n == 0 {
		return 0, nil, false, nil
	}
	return d.snapshots[n-1].at, bytes.Clone(d.snapshots[n-1].data), true, nil
}

// Replay calls fn for the records from one on.
func (d *wholeDisk) Replay(from wal.Index, fn func(i wal.Index, typ byte, data []byte) error) error {
	if from < d.First() {
		return fmt.Errorf("simulated: record %d is asked for, the first is %d: %w", from, d.First(), wal.ErrGone)
	}
	for _, rec := range d.records {
		if rec.at < from {
			continue
		}
		buf := bytes.Clone(rec.data)
		if err := fn(rec.at, 1, buf); err != nil {
			return err
		}
		overwrite(buf)
	}
	return nil
}

// Retire makes the next open begin an empty log.
func (d *wholeDisk) Retire(heritage []byte) error {
	room := int64(0)
	if heritage != nil {
		room = int64(1 + len(heritage))
	}
	if err := d.call(room); err != nil {
		return err
	}
	d.retired, d.heritage = true, bytes.Clone(heritage)
	return nil
}

// Heritage returns what the log before left.
func (d *wholeDisk) Heritage() ([]byte, error) { return bytes.Clone(d.heritage), nil }

// DropHeritage removes it.
func (d *wholeDisk) DropHeritage() error {
	if err := d.call(0); err != nil {
		return err
	}
	d.heritage = nil
	return nil
}

// loseTail removes records down to the newest snapshot. The snapshot proves that the records before it existed, so a
// real log that ends before its snapshot is not opened.
func (d *wholeDisk) loseTail(records int) {
	for ; records > 0 && len(d.records) > 0; records-- {
		tail := d.records[len(d.records)-1]
		if k := len(d.snapshots); k > 0 && d.snapshots[k-1].at >= tail.at {
			break
		}
		d.records = d.records[:len(d.records)-1]
		d.size -= int64(len(tail.data))
		d.last = tail.at - 1
	}
}

func (d *wholeDisk) clone() disk {
	c := *d
	c.records, c.snapshots, c.files = slices.Clone(d.records), slices.Clone(d.snapshots), maps.Clone(d.files)
	c.full, c.dies, c.spent, c.free = false, false, 0, 0
	return &c
}
