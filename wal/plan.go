package wal

import "fmt"

const formerReason = "it is a log of version 1, and this program reads version 2: end its sessions with the program that wrote it, and " +
	"start this one with an empty directory"

// plan is what recovery has to do before the log may be used. It is made without touching the disk.
type plan struct {
	fresh bool // nothing was ever appended here and there is no head: start from nothing
	// remove are segments that a crash left: those before the head's first record, which a Cut had no time to remove, then
	// spares, the empty segments that a rotation made and that never became the tail.
	remove   []Index
	segments []foundSegment // the live ones; the last one is the tail
	cut      bool           // the tail's bytes from its scan's end on are torn
}

// makePlan decides whether the directory is usable after the plan's steps, or corrupt. Every state that a crash at any step of
// open, append, rotate, cut and snapshot leaves is usable; see the crash story in doc.go.
func makePlan(s *analysis) (plan, *CorruptionError) {
	var p plan
	if !s.hasHead {
		return p.withoutHead(s)
	}
	p.segments = s.segments
	for len(p.segments) > 0 && p.segments[0].scan.first < s.head.first {
		p.remove = append(p.remove, p.segments[0].scan.first)
		p.segments = p.segments[1:]
	}
	p.takeSpares()
	if err := checkSegments(s, p.segments); err != nil {
		return p, err
	}
	tail := &p.segments[len(p.segments)-1]
	p.cut = !tail.scan.whole()
	if last := tail.scan.next() - 1; last < s.newest() {
		return p, s.corrupt(tail, "the log ends before record %d, which snapshot %d proves to have been durable", s.newest(), s.newest())
	}
	return p, nil
}

// withoutHead: Open makes the first segment before the head, so that a head proves that there are segments. Without
// one there is nothing but, perhaps, that empty segment.
func (p plan) withoutHead(s *analysis) (plan, *CorruptionError) {
	if s.former {
		return p, &CorruptionError{Dir: s.dir, File: headName, Reason: formerReason}
	}
	for i := range s.segments {
		if f := &s.segments[i]; !f.empty() || f.scan.first != 1 {
			return p, &CorruptionError{Dir: s.dir, File: headName, Reason: "there are records but no good head"}
		}
	}
	if len(s.snapshots) > 0 || s.headBytes > 0 {
		return p, &CorruptionError{Dir: s.dir, File: headName, Reason: "there is no good head, but what is there shows that there was one"}
	}
	p.fresh = true
	return p, nil
}

// takeSpares removes, from the end of the live segments, empty segments whose predecessor is not sealed. A rotation makes the
// next segment durable before the seal, so nothing was ever appended to them. The torn end of the tail may be the very Append
// that carried the seal.
func (p *plan) takeSpares() {
	for n := len(p.segments); n > 1 && p.segments[n-1].empty() && !p.segments[n-2].scan.sealed; n-- {
		p.remove = append(p.remove, p.segments[n-1].scan.first)
		p.segments = p.segments[:n-1]
	}
}

// checkSegments demands segments without a hole from the head's first record to an unsealed tail.
func checkSegments(s *analysis, live []foundSegment) *CorruptionError {
	want := s.head.first
	for i := range live {
		f := &live[i]
		switch {
		case f.scan.first != want:
			return s.missing(want)
		case f.foreign != "":
			return s.corrupt(f, "tidwall would take the file %s for a part of it; move it away", f.foreign)
		case f.missing:
			return s.missing(want)
		case !f.scan.whole() && (f.corruption != "" || i < len(live)-1):
			return s.corrupt(f, "%s", orElse(f.corruption, "bad bytes in a segment that was full and sealed"))
		case i < len(live)-1 && !f.scan.sealed:
			return s.corrupt(f, "the segment ends without its seal, but another follows")
		}
		want = f.scan.next()
	}
	if len(live) == 0 || live[len(live)-1].scan.sealed {
		return s.missing(want)
	}
	return nil
}

func (s *analysis) missing(first Index) *CorruptionError {
	return &CorruptionError{Dir: s.dir, File: segmentRel(first), Index: first, Reason: "the segment is missing"}
}

func (s *analysis) corrupt(f *foundSegment, format string, args ...any) *CorruptionError {
	return &CorruptionError{
		Dir: s.dir, File: segmentRel(f.scan.first), Offset: f.scan.end, Index: f.scan.next(), Reason: fmt.Sprintf(format, args...),
	}
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}
