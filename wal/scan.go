package wal

// scan describes the good entries of a segment, read from the front up to the first bad byte.
type scan struct {
	first   Index
	entries int     // good ones, the seal included; entry k has index first+k
	offsets []int64 // of each good entry; tornOrCorrupt needs them, nobody after it
	lastAt  int64   // offset of the last good entry
	end     int64   // where the good entries end
	// lastAppend is where the last Append of which there is a good entry begins: everything before it was synced.
	lastAppend int64
	size       int64 // of the bytes scanned
	sealed     bool
}

// records returns how many records are good; the seal is none.
func (s *scan) records() int {
	if s.sealed {
		return s.entries - 1
	}
	return s.entries
}

// next is the index after the last good record.
func (s *scan) next() Index { return s.first + Index(s.records()) }

func (s *scan) whole() bool { return s.end == s.size }

// scanSegment reads the segment whose first record is first. It calls each for every good record; each may be nil. It never
// fails: tornOrCorrupt judges the bytes after end.
func scanSegment(b []byte, first Index, each func(off int64, e entry)) scan {
	s := scan{first: first, size: int64(len(b))}
	for !s.sealed && !s.whole() {
		e, ok := parseEntry(b[s.end:])
		if !ok || !s.fits(e) {
			break
		}
		s.offsets, s.lastAt = append(s.offsets, s.end), s.end
		s.entries++
		s.lastAppend = s.offsetOf(e.group())
		if e.seal() {
			s.sealed = true
		} else if each != nil {
			each(s.end, e)
		}
		s.end += int64(e.size)
	}
	return s
}

// fits reports whether e may follow: the next index, and an Append that began in this segment.
func (s *scan) fits(e entry) bool {
	return e.index == s.first+Index(s.entries) && e.group() >= s.first
}
