package sim

import (
	"bytes"

	"posta.dev/posta/link"
)

// disk is what survives a crash of its node: the log, snapshots, who the node is. It keeps the promises of package wal, and
// no others: a record is there whole or not at all, whole segments of the front may go, the newest snapshot may turn out
// to be bad. What a torn write does to bytes is for that package's own tests.
type disk struct {
	id        link.Identity
	records   []stored
	heritage  [][]byte // what a retired log left to this one, until its first record is stored (R14)
	last      link.LogIndex
	snapshots []snapshot
	full      bool
	fellBack  bool // the newest snapshot was bad, and no better one was saved since: wal promises one bad one, not two
}

type stored struct {
	at   link.LogIndex
	data []byte
}

type snapshot struct {
	at   link.LogIndex
	data []byte
}

// append makes a record durable.
func (d *disk) append(parts [][]byte) link.LogIndex {
	d.last++
	d.records = append(d.records, stored{d.last, bytes.Join(parts, nil)})
	return d.last
}

// save makes a snapshot durable; the last three are kept (N3).
func (d *disk) save(data []byte) {
	d.snapshots = append(d.snapshots, snapshot{d.last, data})
	d.snapshots = d.snapshots[max(0, len(d.snapshots)-3):]
	d.fellBack = false
}

// cut lets records up to upTo go, as wal does: never beyond the second newest snapshot, so that the newest may turn out to
// be bad; but all of them where the newest is doubled. slack is how many stay because segments are dropped whole.
func (d *disk) cut(upTo link.LogIndex, slack int) {
	n := len(d.snapshots)
	if n == 0 {
		return
	}
	if upTo >= d.last && d.snapshots[n-1].at == d.last {
		d.save(bytes.Clone(d.snapshots[n-1].data))
		n = len(d.snapshots)
		slack = 0
	}
	if n == 1 {
		return
	}
	upTo = min(upTo, d.snapshots[n-2].at)
	drop := 0
	for drop < len(d.records) && d.records[drop].at <= upTo {
		drop++
	}
	drop = max(0, drop-slack)
	d.records = d.records[drop:]
}

// good returns the newest snapshot, or the one before it if the newest is bad.
func (d *disk) good(newestIsBad bool) (data []byte, at link.LogIndex) {
	n := len(d.snapshots)
	if n > 1 && newestIsBad && !d.fellBack {
		d.fellBack = true
		d.snapshots = d.snapshots[:n-1]
		n--
	}
	if n == 0 {
		return nil, 0
	}
	return bytes.Clone(d.snapshots[n-1].data), d.snapshots[n-1].at
}
