// Package scratch keeps what a computation has no memory for in files that end with the computation.
//
//	f, err := disk.Create()
//	s := scratch.NewSpool(f)
//	n, err := s.Add(block)         // the block's number
//	b, err := s.Read(n, b)         // checks the block's sum
//	err = s.Remove()
//
// A computation that begins again, after a restart for example, begins with empty files: nothing durable refers to one. So a file is never
// synced. The maker of the [Disk] removes what a killed process leaves.
//
// The package does no I/O itself, and starts no goroutine. A spool belongs to one goroutine.
package scratch

import (
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
)

// Disk makes files.
type Disk interface {
	// Create makes an empty file.
	Create() (File, error)
}

// File is a file that grows at its end. No file descriptor is open between two calls, so there may be any number of files.
type File interface {
	// Append writes p behind what is there. After an error the file must not be used, except for Remove.
	Append(p []byte) error
	// ReadAt fills all of p, or returns an error.
	ReadAt(p []byte, off int64) error
	// Remove removes the file, which must not be used afterwards.
	Remove() error
}

// ErrDamaged is wrapped by the error of [Spool.Read] if a block does not hold what was written.
var ErrDamaged = errors.New("a file in which a statement keeps rows for a while is damaged; check the disk, and start the session again")

// Spool is a file of numbered blocks. It has the places and the checksums of the blocks in memory, 16 bytes for each.
type Spool struct {
	file   File
	size   int64
	blocks []block
}

type block struct {
	end int64
	sum uint32
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// NewSpool returns an empty spool over an empty file.
func NewSpool(f File) *Spool { return &Spool{file: f} }

// Add appends a block, and returns its number. Blocks are numbered from 0.
func (s *Spool) Add(p []byte) (number int, err error) {
	if err := s.file.Append(p); err != nil {
		return 0, fmt.Errorf("keep rows in a file, because there is no memory for them: %w; make room on the disk, or ask for less", err)
	}
	s.size += int64(len(p))
	s.blocks = append(s.blocks, block{s.size, crc32.Checksum(p, castagnoli)})
	return len(s.blocks) - 1, nil
}

// Len returns the number of blocks.
func (s *Spool) Len() int { return len(s.blocks) }

// Bytes returns how many bytes the blocks have together.
func (s *Spool) Bytes() int64 { return s.size }

// Read returns a block, in the memory of room if it is large enough.
func (s *Spool) Read(number int, room []byte) ([]byte, error) {
	from := int64(0)
	if number > 0 {
		from = s.blocks[number-1].end
	}
	n := int(s.blocks[number].end - from)
	p := slices.Grow(room[:0], n)[:n]
	if err := s.file.ReadAt(p, from); err != nil {
		return nil, fmt.Errorf("read back rows from a file: %w", err)
	}
	if crc32.Checksum(p, castagnoli) != s.blocks[number].sum {
		return nil, ErrDamaged
	}
	return p, nil
}

// Remove removes the file. A nil spool has none.
func (s *Spool) Remove() error {
	if s == nil {
		return nil
	}
	return s.file.Remove()
}
