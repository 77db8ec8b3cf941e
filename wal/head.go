package wal

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"path/filepath"
)

// Identity tells one log, and one life of it, from another (R8).
type Identity struct {
	LogID       [16]byte // random, made with the directory; Repair makes another when durable records are lost
	Incarnation uint64   // grows with every Open, durable before Open returns (N4); a number may be skipped
	Life        uint64   // random, drawn by every Open, durable before Open returns (R14); never zero in an open log
}

// head is what a log stores about itself, besides its records.
type head struct {
	serial        uint64 // grows with each write
	id            Identity
	first         Index // the first record that must be there: segments before it are dead, a hole after it is corruption
	needsSnapshot bool  // records before first were cut trusting a snapshot, so there must be one
	retired       bool  // the log must not be used any more: the next Open puts it aside and begins an empty log (R14)
	repaired      bool  // Repair took something out, so the log must be retired once the rest has been read
}

// The head file has two slots that are written in turn, each in its own sector:
//
//	0      8        16       32            40     48      56      60      64
//	┌──────┬────────┬────────┬─────────────┬──────┬───────┬───────┬───────┐
//	│magic │ serial │ log id │ incarnation │ life │ first │ flags │ crc   │   slot 0 at byte 0, slot 1 at byte 512
//	└──────┴────────┴────────┴─────────────┴──────┴───────┴───────┴───────┘
//
// The slot with the highest serial counts. A crash while one is written leaves the other. Replacing the whole file was
// rejected: it needs room on the disk, and advancing first is just what frees room on a full disk (W5).
const (
	headMagic         = "POSTAWL2" // the last byte is the version
	formerMagic       = "POSTAWAL" // version 1, which had no life
	slotSize          = 64         // bytes
	headFile          = 2 * sector // bytes: each slot has a sector of its own
	flagNeedsSnapshot = 1          // bits of flags
	flagRetired       = 2
	flagRepaired      = 4
)

func newHead(random io.Reader) (head, error) {
	h := head{first: 1}
	if _, err := io.ReadFull(random, h.id.LogID[:]); err != nil {
		return h, fmt.Errorf("wal: make a log id: %w", err)
	}
	return h, nil
}

// newLife draws the life of an opening.
func newLife(random io.Reader) (uint64, error) {
	var b [8]byte
	for {
		if _, err := io.ReadFull(random, b[:]); err != nil {
			return 0, fmt.Errorf("wal: draw a life: %w", err)
		}
		if life := binary.LittleEndian.Uint64(b[:]); life != 0 {
			return life, nil
		}
	}
}

func (h head) encode() []byte {
	b := append(make([]byte, 0, slotSize), headMagic...)
	b = binary.LittleEndian.AppendUint64(b, h.serial)
	b = append(b, h.id.LogID[:]...)
	b = binary.LittleEndian.AppendUint64(b, h.id.Incarnation)
	b = binary.LittleEndian.AppendUint64(b, h.id.Life)
	b = binary.LittleEndian.AppendUint64(b, uint64(h.first))
	flags := uint32(0)
	for flag, set := range map[uint32]bool{flagNeedsSnapshot: h.needsSnapshot, flagRetired: h.retired, flagRepaired: h.repaired} {
		if set {
			flags |= flag
		}
	}
	b = binary.LittleEndian.AppendUint32(b, flags)
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

func decodeSlot(b []byte) (h head, ok bool) {
	if len(b) < slotSize || string(b[:8]) != headMagic ||
		crc32.Checksum(b[:slotSize-4], castagnoli) != binary.LittleEndian.Uint32(b[slotSize-4:]) {
		return h, false
	}
	h.serial = binary.LittleEndian.Uint64(b[8:])
	copy(h.id.LogID[:], b[16:])
	h.id.Incarnation = binary.LittleEndian.Uint64(b[32:])
	h.id.Life = binary.LittleEndian.Uint64(b[40:])
	h.first = Index(binary.LittleEndian.Uint64(b[48:]))
	flags := binary.LittleEndian.Uint32(b[56:])
	h.needsSnapshot, h.retired, h.repaired = flags&flagNeedsSnapshot != 0, flags&flagRetired != 0, flags&flagRepaired != 0
	return h, h.first > 0
}

// decodeHead reads the file; false if no slot is good. When one slot is bad, a write was torn or the newer slot has
// rotted: the incarnation that was in it may have been used, so it is skipped.
func decodeHead(b []byte) (head, bool) {
	if len(b) != headFile {
		return head{}, false
	}
	h0, ok0 := decodeSlot(b[:sector])
	h1, ok1 := decodeSlot(b[sector:])
	switch {
	case ok0 && ok1 && h0.serial > h1.serial:
		return h0, true
	case ok0 && ok1:
		return h1, true
	case ok1:
		h0 = h1
	}
	h0.id.Incarnation++
	return h0, ok0 || ok1
}

// createHead makes the file with both slots, whole or not at all.
func createHead(fsys FS, dir string, h head) error {
	b := make([]byte, headFile)
	for slot := range uint64(2) {
		h.serial = slot
		copy(b[slot*sector:], h.encode())
	}
	return replaceFile(fsys, filepath.Join(dir, headName), b)
}

// writeHead overwrites the older slot; it needs no room on the disk. The caller sets the next serial.
func writeHead(fsys FS, dir string, h head) error {
	return changeFile(fsys, filepath.Join(dir, headName), func(f File) error {
		_, err := f.WriteAt(h.encode(), int64(h.serial%2)*sector)
		return err
	})
}
