// Package wal is a node's memory: an append-only log of records, snapshots beside it, and the identity of both, in one
// directory that one process owns. What Append or SaveSnapshot has acknowledged is there after a crash, in order. Damage that
// no crash explains is reported and never ignored.
//
// Its format is that of github.com/tidwall/wal, which has no checksums, refuses to open after a torn write, and rewrites files
// to cut. The log is therefore a sequence of small tidwall logs, the segments. This package adds framing, recovery, rotation
// and cutting.
//
// Of tidwall's library only the reader runs in production: Verify lets it read a copy of each segment, as a second opinion on
// the frames (opinion.go). Its writer does not run, because it copies every byte twice more, keeps the tail in memory (1.83 ns
// of CPU per byte of records of 1 KiB, and 0.69 here), and cannot take back an append that found no room.
//
// # Words
//
//   - record: what is appended; has an Index, 1, 2, 3, … without holes, and a type that is the caller's.
//   - frame: a record on disk, with its index and a checksum (record.go draws the bytes).
//   - segment: a directory with one file of frames, named by its first index; the last segment is the tail.
//   - seal: the last frame of a full segment. It proves that another segment follows.
//   - spare: the next segment before the seal that makes it the tail.
//   - head: a file with the id of the log, how often it was opened, its life, and which record it begins with (head.go).
//   - life: a random number for each opening. A directory that is set back may be opened under an incarnation once more, never under a
//     life.
//   - retire: put the log aside and begin an empty one with another id; heritage: what the retired log leaves to that one (retire.go).
//   - reserve: a file that only takes room; on a full disk its room is given up for the writes that allow cutting the log (reserve.go).
//   - snapshot: the caller's state after a record; its twin, a second copy of the newest (snapshot.go).
//
// # Main loop
//
//	log, err := wal.Open(dir, wal.Options{})
//	at, state, ok, err := log.LoadSnapshot()              // ok: start from state
//	err = log.Replay(at+1, apply)                         // then from what came after it
//	for batch := range commits {
//		last, err := log.Append(batch...)                 // many records, one fsync
//		if errors.Is(err, wal.ErrDiskFull) { … }          // say so, wait, the same again
//		if err != nil { … }                               // stop; the next Open decides what is there
//		… now what depends on the records may leave the node …
//		err = log.SaveSnapshot(last, state)               // now and then
//		err = log.Cut(min(last, oldest still needed))
//	}
//
// A node without state saves no snapshots, and replays from First.
//
// # What is assumed of the disk
//
// After an fsync of a file its bytes survive; after an fsync of a directory its entries do. Before that, every byte and entry
// may survive or not, independently of each other and in any order, in pieces of a sector (512 bytes) or parts of one; a piece
// of a new file that did not survive reads as zeros or is beyond the end. After a failed fsync it is unknown what is durable,
// and a second fsync proves nothing, because the kernel may have marked the unwritten pages clean. Bits may rot; checksums
// detect that, and nothing here repairs it. flock excludes other processes. Not assumed: that rename is atomic beyond one
// entry, that a file grows in order, or that a sector is written whole.
//
// # The crash story
//
// Create, when there is nothing:
//
//  1. the directories segments and snapshots, then segment 1, empty: each synced with its entry;
//  2. the head, by temporary file and rename. Before it, there is nothing: Open starts over. A head proves that there
//     is a segment, so a log that lost its head, or all its segments, is not taken for a new one.
//
// Append:
//
//  1. all frames are written to the tail; where they are many, the disk is asked to begin with the first half (writeback_linux.go);
//  2. one fsync; then Append returns.
//
// A crash before 2 leaves any pieces of the frames. Open keeps the whole frames at the front, which were appended but not
// acknowledged, and cuts the rest, the torn tail. Without room in 1 the tail is truncated to its former size and synced. The
// next append opens the segment again. After any other error the Log is failed for good.
//
// Rotate, when an Append fills the segment:
//
//  1. the spare is made: directory, empty file, each synced with its entry. Without room, or without a file descriptor, it is taken back. A
//     crash leaves it, whole or in part, after an unsealed segment: Open removes it.
//  2. the frames and the seal are written to the tail; one fsync. A crash leaves a torn tail before an empty spare: the
//     spare is removed and the tail cut, or, if all of it survived, the spare is the tail.
//  3. the spare is the tail. A sealed segment without a successor is thus a loss, and reported.
//
// Cut:
//
//  1. the head says which record the log begins with, one fsync. It is overwritten in place, in the older one of two
//     slots, because a full disk has no room for a new file. A crash leaves either slot: the cut happened or not.
//  2. segments before it are removed, oldest first, file before directory; the directory is synced. A crash leaves
//     some: Open removes what lies before the head's first record.
//  3. if the tail, too, holds nothing needed, it is rotated away, and 1 and 2 are done again.
//
// The snapshots' promise limits how far a Cut goes. "A bad snapshot falls back to the one before" is true only while the log
// reaches back to the one before. So a Cut stops at the second newest snapshot, which costs the records of one more snapshot
// interval. This rule would also keep an idle log from becoming small. Therefore, if only this rule keeps the remaining
// records, Cut first stores the newest snapshot a second time, and then needs no records between the two. The rejected way is
// to keep only the records after the newest snapshot, and to fall back if that happens to be possible: after a cut it never is.
//
// Snapshot:
//
//  1. a temporary file is written and synced; 2. renamed; 3. the directory synced; 4. the oldest beyond
//     Options.Snapshots removed, and the directory synced.
//
// A crash leaves a temporary file, which Open removes, or one snapshot more or fewer than asked for. A file whose name lacks
// ".tmp" is complete, and proves that all records up to its index were durable. If the log ends earlier, that is corruption,
// not a torn tail.
//
// Open:
//
//  1. lock; read head, segments and snapshots; decide. Corruption ends here, with nothing changed.
//  2. the incarnation grows, and a life is drawn, durably, and what the head says with them;
//  3. remove temporary files, dead segments, spares;
//  4. write what the last process may have written and not synced once more: what is read now is acted upon now, and an fsync that has
//     failed may have left it in memory alone. The torn tail is copied to cut/ and left out (settle.go).
//
// After a crash in 1 to 4 the next Open decides the same again.
//
// Before 1, a head that says "retired" lets Open put aside what is there, and begin an empty log: retire.go has the steps.
//
// Torn tail or corruption? What follows the last good frame is torn if nothing good comes after it. A good frame of a later
// Append after it means corruption, because the fsync between them had covered the bad bytes. A good frame of the same Append
// means nothing by itself, as pages reach the disk in any order; then it is torn if one of the bad sectors reads as never
// written, and else corruption (torn.go). One case cannot be told apart: a bit that rots in the very last record looks like a
// torn write. The record is cut, kept aside and reported, unless a snapshot covers it.
//
// # What it never does
//
// It never acknowledges before the fsync, retries an fsync, changes a record, gives an index twice in one log id, deletes what
// it cannot explain, or starts a goroutine. Repair does give indexes again, and therefore changes the log id.
package wal
