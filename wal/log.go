package wal

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"
)

// Options of a log; the zero value is good.
type Options struct {
	// SegmentSize in bytes: a segment that has reached it is sealed, and another one is begun. Default 8 MiB. If it is small, Cut frees room
	// in smaller steps, but every segment costs about four fsyncs. If it is large, it takes more memory while a segment is read, and up to one
	// segment more than needed stays on disk.
	SegmentSize int
	// Snapshots is how many snapshots are kept. Default 3. With 1 there is no other snapshot if its checksum is bad; each further one costs
	// its size on disk.
	Snapshots int
	// Reserve is how many bytes the log reserves on the disk for the writes that free room when the disk is full; see Spend.
	// Default 0: none. A disk that is less than 64 times as large gets no reserve.
	Reserve int64
	// FS is the byte seam; default the operating system.
	FS FS
	// OnLocked, if not nil, is called once the directory belongs to this Log, before anything is read: reading the whole log may take long. If
	// it returns an error, Open ends and returns it unchanged.
	OnLocked func() error
	// OnSegment, if not nil, is called before each segment that Open reads to check the log. If it returns an error, Open wraps
	// and returns it, and has changed nothing. So a caller can stop Open while it reads a log of gigabytes.
	OnSegment func() error
	// OnRecord, if not nil, is called for every good record while Open checks the log, oldest segment first. It saves a second
	// reading for a caller that must know, before Replay, what later records say. data is valid until OnRecord returns. The
	// records are those of the log only if Open returns no error.
	OnRecord func(i Index, typ byte, data []byte)
	// OnSync, if not nil, is called with the duration of each fsync of an append, by the goroutine that appends.
	OnSync func(time.Duration)
	// Random is the source of ids and lives; default crypto/rand. Only the simulator (test/sim) sets another source, to make a seed
	// repeatable. Other callers must not: peers treat two logs with the same id as one log.
	Random io.Reader
	// Logger reports what recovery did: a tail that was cut, a bad snapshot that was skipped. Default slog.Default().
	Logger *slog.Logger
}

const (
	defaultSegmentSize = 8 << 20 // bytes
	defaultSnapshots   = 3       // how many are kept
)

func (o Options) withDefaults() (Options, error) {
	if o.SegmentSize < 0 || o.Snapshots < 0 || o.Reserve < 0 {
		return o, fmt.Errorf("wal: options: SegmentSize %d, Snapshots %d and Reserve %d must not be negative", o.SegmentSize, o.Snapshots,
			o.Reserve)
	}
	if o.SegmentSize == 0 {
		o.SegmentSize = defaultSegmentSize
	}
	if o.Snapshots == 0 {
		o.Snapshots = defaultSnapshots
	}
	if o.FS == nil {
		o.FS = osFS{}
	}
	if o.Random == nil {
		o.Random = rand.Reader
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	return o, nil
}

// Log is an open log. Append and Cut are for one goroutine, the one that commits; all other methods may be called from
// any goroutine beside it. It starts no goroutine of its own.
type Log struct {
	// Set by Open, and never changed.
	dir  string
	opts Options // defaults are filled in
	fs   FS      // that of opts, with the directories held that an open log syncs
	lock io.Closer

	mu       sync.Mutex     // guards what follows; Append holds it over its fsync, so that what is read under it is durable
	head     head           // as it is on disk, or was before a failed write
	segments []segment      // never empty; oldest first, without a hole from head.first on; the last one is the tail
	tail     *segmentWriter // of the last segment; nil: the next append opens one
	store    store          // opens the tail
	last     Index          // of the newest durable record; head.first-1 if there is none
	frames   []frame        // Append's memory, used again; empty between two calls
	reserved int64          // the length of the reserve
	failed   error          // the first error that is final (W4): nothing is written after it
	closed   bool           // by Close: the directory may have another owner

	scratches uint64          // scratch files that were made
	scratch   map[string]bool // those that are there, by name: SweepFiles leaves them

	// snapMu guards the snapshots directory. It is separate from mu so that a large snapshot does not delay appends. Taken after
	// mu, never before it.
	snapMu    sync.Mutex
	snapshots []snapshotName // oldest first, bad ones taken out; each of a record that was durable when it was saved
	snapDone  bool           // closed, for a holder of snapMu alone
}

// segment is one live segment.
type segment struct {
	first Index
	size  int64 // durable bytes
}

// Cutting is a piece taken out of a segment.
type Cutting struct {
	File   string // it was cut from, relative to the directory
	Offset int64
	Bytes  int64
	Next   Index  // the first record that is gone, and the next to be appended
	Kept   string // where the piece is now, relative to the directory
}

// Identity is that of this log in this life.
func (l *Log) Identity() Identity {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.head.id
}

// First returns the first record there is; Last()+1 if there is none.
func (l *Log) First() Index {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.segments[0].first
}

// Last returns the last record there is; First()-1 if there is none, 0 in a new log.
func (l *Log) Last() Index {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last
}

// Size returns how many bytes the records take on disk, snapshots and pieces kept aside not counted.
func (l *Log) Size() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.sizeLocked()
}

func (l *Log) sizeLocked() int64 {
	n := int64(0)
	for _, s := range l.segments {
		n += s.size
	}
	return n
}

// Close ends the use of the log and frees the directory. Nothing needs saving: what Append returned is durable.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return errClosed
	}
	l.snapMu.Lock() // a snapshot being written ends first
	defer l.snapMu.Unlock()
	l.closed, l.snapDone = true, true
	err := l.closeTail()
	if held, ok := l.fs.(heldFS); ok {
		err = errors.Join(err, held.release())
	}
	if err = errors.Join(err, l.lock.Close()); err != nil {
		return fmt.Errorf("wal: close %s: %w", l.dir, err)
	}
	return nil
}

func (l *Log) closeTail() error {
	if l.tail == nil {
		return nil
	}
	w := l.tail
	l.tail = nil
	return w.close()
}

// usableLocked is nil while the log may be written.
func (l *Log) usableLocked() error {
	if l.closed {
		return errClosed
	}
	if l.failed != nil {
		return fmt.Errorf("%w: earlier: %w", errFailed, l.failed)
	}
	return nil
}

// failLocked turns what went wrong into what the caller can do about it: wait for room, or open the log again.
func (l *Log) failLocked(op string, err error) error {
	if isNoSpace(err) {
		return fmt.Errorf("wal: %s in %s is tried again: %w", op, l.dir, noRoom(err))
	}
	if l.failed == nil {
		l.failed = err
	}
	return fmt.Errorf("wal: %s in %s: %w: %w", op, l.dir, errFailed, err)
}
