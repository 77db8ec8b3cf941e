package wal

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// The reserve is a file that only takes room: Options.Reserve bytes, if the disk has them. On a full disk Spend frees a part of
// it for the writes that in turn make room: the end of a session, the snapshot that follows, and the cut. Refill takes the room
// back.
//
// No step of it needs to survive a crash. Whatever size the file has then is what is reserved, and Open fills it up if it can.
//
// It is spent in pieces, because others write to the same disk and could take all of the freed room. Writing into the reserve
// itself, as segments made in advance, was rejected: its name and length would then have a meaning, and recovery would have to
// tell room from records.

// reservePiece is how much Refill asks for at once if there is no room for all of it, or if it has to be written; it keeps the pieces that
// it gets before the disk is full.
const reservePiece = 1 << 20

// reserveShare is the part of a disk that a reserve may take. On a smaller disk there is none: the nodes of a host often share one, and
// their reserves must not be what fills it.
const reserveShare = 64

// Reserved returns how many bytes are reserved; Short reports whether that is less than Options.Reserve, on a disk that is large enough for
// it.
func (l *Log) Reserved() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.reserved
}

// Short reports whether some of the reserve is spent.
func (l *Log) Short() bool { return l.Reserved() < l.opts.Reserve }

// Spend gives up that many bytes of the reserve, or what is left of it, and reports whether that is anything. It needs no room. Errors:
// ErrDiskFull (for lack of a file descriptor: call it again), errFailed.
func (l *Log) Spend(bytes int64) (given bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.usableLocked(); err != nil {
		return false, fmt.Errorf("wal: give up the reserve in %s: %w", l.dir, err)
	}
	if l.reserved == 0 {
		return false, nil
	}
	if err := l.setReserveLocked(max(0, l.reserved-bytes)); err != nil {
		return false, l.failLocked("give up the reserve", err)
	}
	return true, nil
}

// Refill fills the reserve up again. Errors: ErrDiskFull (as much as there was room for is reserved; call it again), errFailed.
func (l *Log) Refill() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.usableLocked(); err != nil {
		return fmt.Errorf("wal: reserve room in %s: %w", l.dir, err)
	}
	if l.reserved >= l.opts.Reserve {
		return nil
	}
	if err := l.growReserveLocked(); err != nil {
		return l.failLocked("reserve room", err)
	}
	return nil
}

// openReserve takes over the reserve of a former life. A full disk does not prevent opening the log.
func (l *Log) openReserve() error {
	entries, err := readDir(l.fs, l.dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name() != reserveName || e.IsDir() {
			continue
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		l.reserved = info.Size()
	}
	if _, real := l.fs.(osFS); real {
		if size, known := diskSize(l.dir); known && size/reserveShare < l.opts.Reserve {
			l.opts.Reserve = 0
		}
	}
	switch {
	case l.reserved > l.opts.Reserve: // it was to be larger in a former incarnation
		return l.setReserveLocked(l.opts.Reserve)
	case l.reserved < l.opts.Reserve:
		if err := l.growReserveLocked(); !isNoSpace(err) {
			return err
		}
	}
	return nil
}

func (l *Log) setReserveLocked(size int64) error {
	// Only after the fsync does a file system with a journal give the room to others.
	if err := truncateFile(l.fs, filepath.Join(l.dir, reserveName), size); err != nil {
		return err
	}
	l.reserved = size
	return nil
}

func (l *Log) growReserveLocked() (err error) {
	name := filepath.Join(l.dir, reserveName)
	f, err := l.fs.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_APPEND, filePerm)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if preallocate(f, l.reserved, l.opts.Reserve-l.reserved) {
		l.reserved = l.opts.Reserve
		return nil
	}
	written := false
	for err == nil && l.reserved < l.opts.Reserve {
		size := min(reservePiece, l.opts.Reserve-l.reserved)
		if preallocate(f, l.reserved, size) {
			l.reserved += size
			continue
		}
		written = true
		size, err = writeNoise(f, size)
		l.reserved += size
	}
	// Written bytes may get their room later, so only the fsync tells whether there was room. Preallocated bytes have their room
	// at once, so a start need not wait for the disk.
	if err != nil || !written {
		return err
	}
	return syncFile(f, name)
}

// writeNoise appends size bytes that no file system can compress.
func writeNoise(f File, size int64) (written int64, err error) {
	b := make([]byte, size)
	_, _ = rand.NewChaCha8([32]byte{}).Read(b) // never fails
	n, err := f.Write(b)
	return int64(n), err
}
