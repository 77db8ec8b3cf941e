package scratch

import (
	"errors"
	"io"
)

// Memory is a disk in memory, for tests and simulations. The zero value is ready for use.
type Memory struct {
	Files int   // that were created and not removed
	Made  int   // that were created
	Bytes int64 // that were appended
	Room  int64 // if it is not 0, an Append beyond this many bytes fails
	Harm  func(p []byte)
}

// ErrFull is the error of an Append for which a Memory has no room.
var ErrFull = errors.New("no room on the device")

// Create implements Disk.
func (m *Memory) Create() (File, error) {
	m.Files++
	m.Made++
	return &memoryFile{disk: m}, nil
}

type memoryFile struct {
	disk    *Memory
	b       []byte
	removed bool
}

func (f *memoryFile) Append(p []byte) error {
	if f.disk.Bytes += int64(len(p)); f.disk.Room > 0 && f.disk.Bytes > f.disk.Room {
		return ErrFull
	}
	f.b = append(f.b, p...)
	return nil
}

func (f *memoryFile) ReadAt(p []byte, off int64) error {
	if f.removed || off+int64(len(p)) > int64(len(f.b)) {
		return io.ErrUnexpectedEOF
	}
	if copy(p, f.b[off:]); f.disk.Harm != nil {
		f.disk.Harm(p)
	}
	return nil
}

func (f *memoryFile) Remove() error {
	if !f.removed {
		f.disk.Files--
	}
	f.removed, f.b = true, nil
	return nil
}
