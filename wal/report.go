package wal

import (
	"fmt"
	"strings"
)

// Report is what Verify found, or Repair left.
type Report struct {
	Dir       string
	Holder    string // pid of the process that has the log open, "" if none: the log may then change while it is read
	Identity  Identity
	Retired   bool  // the next Open puts all of it aside and begins an empty log (R14)
	First     Index // of the records a node would have after Open; Last < First if none
	Last      Index
	Segments  []SegmentReport
	Snapshots []SnapshotReport
	Torn      *Cutting         // the torn tail that the next Open cuts: no damage
	Damage    *CorruptionError // the first one; nil if Open would succeed
	Agreed    int              // by Verify: frames, seals included, that tidwall's library reads from a copy of the segments as Posta does
	Differs   []string         // by Verify: what tidwall's library reads otherwise, by segment; a defect of Posta, and none of the disk
	Lost      []string         // by Repair: what is lost, and where the pieces are; empty if nothing
}

// SegmentReport is one segment directory.
type SegmentReport struct {
	First, Last Index // of the good records; Last < First if none
	File        string
	Bytes       int64
	Good        int64 // bytes up to which it is good
	Sealed      bool
	Problem     string // "" if there is none
}

// SnapshotReport is one snapshot file.
type SnapshotReport struct {
	At      Index
	File    string
	Bytes   int64
	Problem string
}

// OK reports whether Open would succeed, every snapshot is good, and both readers read the same.
func (r Report) OK() bool {
	for _, s := range r.Snapshots {
		if s.Problem != "" {
			return false
		}
	}
	return r.Damage == nil && len(r.Differs) == 0
}

// String returns the report for people.
func (r Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "log %x, incarnation %d, in %s\n", r.Identity.LogID, r.Identity.Incarnation, r.Dir)
	if r.Holder != "" {
		fmt.Fprintf(&b, "warning: process %s has it open; what follows may be in motion\n", r.Holder)
	}
	if r.Retired {
		b.WriteString("retired: the next start puts it aside and begins an empty log\n")
	}
	fmt.Fprintf(&b, "records %d to %d\n", r.First, r.Last)
	for _, s := range r.Segments {
		state := "open"
		if s.Sealed {
			state = "sealed"
		}
		fmt.Fprintf(&b, "segment  %s: records %d to %d, %d bytes, %s%s\n", s.File, s.First, s.Last, s.Bytes, state, because(s.Problem))
	}
	for _, s := range r.Snapshots {
		fmt.Fprintf(&b, "snapshot %s: after record %d, %d bytes%s\n", s.File, s.At, s.Bytes, because(s.Problem))
	}
	if t := r.Torn; t != nil {
		fmt.Fprintf(&b, "torn tail: %d bytes from byte %d of %s, where record %d would begin\n", t.Bytes, t.Offset, t.File, t.Next)
	}
	if r.Agreed > 0 {
		fmt.Fprintf(&b, "second reader: the same %d frames, seals included\n", r.Agreed)
	}
	for _, other := range r.Differs {
		fmt.Fprintf(&b, "DIFFERS: %s\n", other)
	}
	for _, lost := range r.Lost {
		fmt.Fprintf(&b, "lost: %s\n", lost)
	}
	if r.Damage != nil {
		fmt.Fprintf(&b, "DAMAGED: %v\n", r.Damage)
	} else if len(r.Differs) == 0 {
		b.WriteString("ok\n")
	}
	return b.String()
}

func because(problem string) string {
	if problem == "" {
		return ""
	}
	return ": " + problem
}
