package wal

import (
	"bytes"
	"fmt"
)

// sector is the smallest piece a disk writes. A piece of a new file that was never written reads as zeros.
const sector = 512

// tornOrCorrupt judges the bytes after the good entries. It returns "" for a torn tail, which a crash explains and which may be
// cut, or else the reason why they are corrupt (W2).
//
// A tail is torn when nothing good follows. If good entries do follow, their Append decides. An entry of a later Append was
// written after the bad bytes had been fsynced, so the disk lost these later. An entry of the same Append may have reached the
// disk before its neighbours; but then a neighbour's sector was never written and reads as zeros. Without such a sector the
// bytes were there and have changed since.
func tornOrCorrupt(b []byte, s scan) string {
	if s.sealed {
		return fmt.Sprintf("%d bytes follow the seal", s.size-s.end)
	}
	bad := s.first + Index(s.entries)
	reason, torn := "", false
	for off := s.end + 1; off < s.size; {
		e, ok := parseEntry(b[off:])
		if !ok || !plausible(e, bad, off-s.end) {
			off++
			continue
		}
		if reason == "" {
			// The first gap decides whether something was never written; later ones can only prove corruption.
			reason = fmt.Sprintf("a bad record is followed by a good one (record %d at byte %d)", e.index, off)
			torn = e.group() >= s.first && e.group() <= bad && lostSector(b, s.offsetOf(e.group()), s.end, off)
		}
		if e.group() > bad || !torn {
			return reason
		}
		off += int64(e.size)
	}
	return ""
}

// plausible rejects bytes inside a record's data that happen to look like a record: within distance bytes after the bad record
// there can be at most distance further records.
func plausible(e entry, bad Index, distance int64) bool {
	return e.index > bad && e.index-bad <= Index(distance)
}

// offsetOf returns where record i begins; i is good, or the first bad one.
func (s *scan) offsetOf(i Index) int64 {
	if k := int(i - s.first); k < len(s.offsets) {
		return s.offsets[k]
	}
	return s.end
}

// lostSector reports whether one of the sectors that [from,to) touches reads as never written. Bytes before begin
// belong to earlier Appends and do not count.
func lostSector(b []byte, begin, from, to int64) bool {
	for at := from - from%sector; at < to; at += sector {
		piece := b[max(at, begin):min(at+sector, int64(len(b)))]
		if len(bytes.TrimLeft(piece, "\x00")) == 0 {
			return true
		}
	}
	return false
}
