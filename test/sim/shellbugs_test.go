package sim

import "posta.dev/posta/test/simulator/mutants"

const (
	fileJob        = "nodes/shell/job.go"
	fileStore      = "nodes/shell/store.go"
	fileStep       = "nodes/shell/step.go"
	fileShell      = "nodes/shell/shell.go"
	fileFlush      = "nodes/shell/flush.go"
	fileShellBack  = "nodes/shell/recover.go"
	fileBeat       = "nodes/shell/beat.go"
	fileWalAppend  = "wal/append.go"
	fileOutputKept = "nodes/output/durable.go"
)

// shellBugs are bugs in a node's shell, and in how it treats its log (N10).
func shellBugs() []mutants.Mutant {
	return []mutants.Mutant{
		one("log cut without asking the outbox", "N3", fileStore, "ok && wal.Index(oldest) <= j.Cut {", "ok && oldest == 0 {"),
		one("log cut one record too far", "N3", fileStore, "		j.Cut = wal.Index(oldest) - 1\n", "		j.Cut = wal.Index(oldest)\n"),
		one("stored said before the append", "R3", fileJob, "	if a.Commit != nil {\n", "	if a.Commit != nil {\n		a.Stored = true\n"),
		one("a commit lost when the disk is full", "N2", fileStore, "	if a.Commit != nil && !a.Stored {\n",
			"	if a.Commit == nil && !a.Stored {\n"),
		one("a commit on a full disk never tried again", "N2", fileStore, "	if now.Before(s.retryAt) {\n		s.wakeAt(s.retryAt)\n",
			"	if !now.IsZero() {\n"),
		one("snapshot saved at the place of the record before", "N3", fileJob, "log.SaveSnapshot(a.At, a.Snapshot)",
			"log.SaveSnapshot(max(a.At, 1)-1, a.Snapshot)"),
		one("snapshot saved before its commit", "N3", fileJob, "	if a.Commit != nil {\n", "	if a.Snapshot != nil {\n		if err := "+
			"log.SaveSnapshot(a.At, a.Snapshot); err != nil {\n			return err\n		}\n	}\n	if a.Commit != nil {\n"),
		one("what the transport did not take is forgotten", "R7", fileShell, "{ s.core.Unsent(edge, to, from) }", "{}"),
		one("a commit that nobody waits for is never closed", "N2", fileFlush, "	case core.FlushLater:\n		return due\n",
			"	case core.FlushLater:\n		return due.AddDate(1, 0, 0)\n"),
		many("a shell without an alarm", "N10",
			edit(fileStep, "	s.alarm = now.Add(tickEvery)\n", "	s.alarm = now.Add(time.Hour)\n"),
			edit(fileBeat, "	defer func() { s.wakeAt(s.beatDue) }()\n", "")),
		one("a drain that does not wait for its last commit", "N5", fileStep, "	busy := s.busy || o.Job != nil\n", "	busy := false\n"),
		from(106, one("a drain that ends before its frames are taken", "N5", fileStep, "len(o.Sends) == 0 && !s.core.Sendable()",
			"(len(o.Sends) > 0 || !s.core.Sendable())")),
		many("a drain without an end", "N5", edit(fileStep, "	if !now.Before(s.drainUntil) {\n", "	if now.IsZero() {\n"),
			edit(fileStep, "len(o.Sends) == 0 && !s.core.Sendable()", "len(o.Sends) == 0 && now.IsZero()")),
		one("a node that drains takes frames", "N5", fileShell, "		if !s.draining {\n			s.core.Receive(e.Frames)\n		}\n",
			"		s.core.Receive(e.Frames)\n		s.core.Advance()\n"),
		one("recovery begins at the snapshot", "N3", fileShellBack, "max(wal.Index(r.First()), log.First())", "max(at+1, log.First())"),
		from(106, one("recovery takes over nothing", "R14", fileShellBack, "	return s.core.Inherit(all)\n", "	_ = all\n	return nil\n")),
		one("a log that somebody repaired continues", "R14", fileShellBack, "	if log.Repaired() {\n",
			"	if log.Repaired() && log.Last() == 0 {\n"),
		one("the output's snapshot without what is gone", "N3", fileOutputKept, "	b = o.Tombstones.Append(b)\n", "	b = wire.AppendArray(b, 0)\n"),
		from(2793, one("an undo whose truncation failed", "W3", fileWalAppend,
			"	if err := w.undo(l.tailLocked().size); err != nil {\n", "	if err := w.undo(l.tailLocked().size); err != nil && l.closed {\n")),
		one("an append without an fsync", "W3", fileWalAppend, "	if err := l.tail.sync(); err != nil {\n",
			"	if err := error(nil); err != nil {\n"),
	}
}
