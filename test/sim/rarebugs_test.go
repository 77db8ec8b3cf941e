package sim

import (
	"slices"

	"posta.dev/posta/test/simulator/mutants"
)

// rareBugs are bugs that hardly a seed shows. Each has a test that finds it.
func rareBugs() []mutants.Mutant {
	return slices.Concat(fullDiskBugs(), newLogBugs(), waitingEndBugs(), secondJoinBugs(), toldTwiceBugs(), forgottenBytesBugs(),
		tooEarlyBugs(), lostLogBugs(), partitionedBugs())
}

// by names the test that must find a bug, and what it must say.
func by(test, says string, m mutants.Mutant) mutants.Mutant {
	m.Test, m.Says = test, says
	return m
}

// fullDiskBugs: what a commit, its removals or a log's heritage leave undone when the disk is full.
func fullDiskBugs() []mutants.Mutant {
	const (
		shell   = "./nodes/shell "
		later   = shell + "TestW5_WhatIsNotRemovedIsRemovedLater"
		drain   = shell + "TestN5_ADrainRemovesWhatItsCommitReplaces"
		hear    = shell + "TestW5_RolesHearThatTheDiskIsFull"
		files   = shell + "TestW5_FilesThatFoundNoRoom"
		which   = shell + "TestW5_WhichErrorOfAJobCounts"
		replies = "./nodes/core TestR3_AnAnswerThatChangesNothingLeavesOnce"
		reserve = "./nodes/core TestW5_FilesWithoutRoomFailTheirSession"
	)
	return []mutants.Mutant{
		by(shell+"TestR14_WhatALogLeaves", "is left", one("full disk: a commit that is tried again leaves the heritage", "R14", fileStore,
			"Commit: a.Commit, DropHeritage: a.DropHeritage, Drop", "Commit: a.Commit, Drop")),
		by(later, "append found no room, and then there are 2 files", one("full disk: a commit that is tried again leaves its files", "W5",
			fileStore, "Commit: a.Commit, DropHeritage: a.DropHeritage, Drop: a.Drop}", "Commit: a.Commit, DropHeritage: a.DropHeritage}")),
		by(later, "is left", one("full disk: what could not be removed is forgotten", "W5", fileStore,
			"!a.Dropped && (a.DropHeritage || len(a.Drop) > 0) {", "!a.Dropped && a.Commit == nil {")),
		by(later, "drop files found no room", one("full disk: files that could not be removed are forgotten", "W5", fileStore,
			"!a.Dropped && (a.DropHeritage || len(a.Drop) > 0) {", "!a.Dropped && a.DropHeritage {")),
		by(later, "it is removed again", one("full disk: each commit removes the heritage", "W5", fileStore,
			"	s.heir = s.heir && !a.DropHeritage\n", "")),
		by(drain, "is left", one("full disk: a drain leaves the heritage", "N5", fileStore, "&Job{Commit: c, DropHeritage: s.heir, Drop",
			"&Job{Commit: c, Drop")),
		by(drain, "a file that nobody needs is left", one("full disk: a drain leaves its commit's files", "N5", fileStore,
			"DropHeritage: s.heir, Drop: s.core.Dropped()}", "DropHeritage: s.heir}")),
		by(hear, "bytes of the reserve are missing", one("full disk: it is over before the reserve is whole", "W5", fileStore,
			"!s.unsaved && !s.short {", "!s.unsaved {")),
		by(hear, "nothing waits for room any more", one("full disk: roles do not hear that nothing waits", "W5", fileStore,
			"			s.full, s.unsaved = nil, false\n			s.core.DiskFull(false)\n", "			s.full, s.unsaved = nil, false\n")),
		by(hear, "there is room, and they are not told", one("full disk: roles do not hear that there is room", "W5", fileStore,
			"	s.core.DiskFull(s.full != nil)\n}", "	if s.full != nil {\n		s.core.DiskFull(true)\n	}\n}")),
		by(files, "is not swept", one("full disk: a sweep that failed counts as done", "W5", fileStore, "	s.swept = s.swept || a.Swept\n",
			"	s.swept = true\n")),
		by(files, "counts as saved", one("full disk: a file that found no room counts as saved", "W5", fileStore,
			"	if a.Kept {\n		s.core.Saved(a.Files)\n	}\n", "	s.core.Saved(a.Files)\n")),
		by(files, "there is always one more job", one("full disk: files are tried again without a pause", "W5", fileStore,
			"	if !now.Before(s.retryAt) {\n		j.Files", "	if !now.IsZero() {\n		j.Files")),
		by(which, "the cut has failed for good", one("full disk: a cut that failed for good is hidden", "W5", fileJob,
			"		if a.Err == nil || err != nil && !isFull(err) {\n", "		if a.Err == nil {\n")),
		by(which, "spent for a descriptor", one("full disk: the reserve is spent for a file descriptor", "W5", fileJob,
			"!isFull(err) || errors.Is(err, wal.ErrNoDescriptor) {", "!isFull(err) {")),
		by(shell+"TestW5_ClaimsAreHurriedOnce", "1 aborts are passed on",
			one("full disk: the reserve is spent to the byte", "W5", fileJob, "log.Spend(int64(bytes) + stepRoom)", "log.Spend(int64(bytes))")),
		by(replies, "has left", one("flush: an answer without a change is lost", "R3", fileCommit,
			"		c.replies = append(c.replies, c.build.replies...) // what they wait for is stored already\n", "")),
		by(replies, "has left", one("flush: an answer without a change leaves again and again", "R3", fileCommit,
			"		c.build.replies = nil\n		return nil\n", "		return nil\n")),
		by(reserve, "may not use the reserve", one("full disk: the commit of a session's end waits for room", "W5", fileCommit,
			"NewLog: b.newLog, leaves: b.leaves,", "NewLog: b.newLog,")),
		by("./wal TestR14_ALogThatLeavesNothingLeavesNothingOlder", "it takes over",
			one("full disk: a log leaves what the log before left to it", "R14", "wal/retire.go",
				"		if err := l.removeHeritage(); err != nil {\n			return l.failLocked(\"retire\", err)\n		}\n	} else {", "	} else {")),
	}
}

// newLogBugs: cuts while a receiver's new log is not stored yet.
func newLogBugs() []mutants.Mutant {
	const (
		nothing = "./nodes/shell TestR8_NothingIsCutBeforeAReceiversNewLogIsStored"
		reserve = "./nodes/shell TestW5_AReceiversNewLogMayUseTheReserve"
		claims  = "./link TestR14_ANewLogIsNotTakenForTheOneThatAcknowledged"
	)
	return []mutants.Mutant{
		by(nothing, "late true: the log is cut to", one("new log: cut while it is in memory alone", "R8", fileStore,
			"s.snapAt == 0 || s.core.NewLog() {", "s.snapAt == 0 {")),
		by(nothing, "late false: the log is cut to", one("new log: cut though its commit found no room", "R8", fileJob,
			"a.Commit != nil && a.Commit.NewLog && !a.Stored {", "a.Commit != nil && a.Commit.NewLog && a.Err == nil {")),
		by(nothing, "late false: the log is cut to", one("new log: its commit does not say so", "R8", fileCommit, "&Commit{NewLog: b.newLog, ",
			"&Commit{")),
		by(reserve, "late false: 0 bytes", one("new log: its commit waits for room", "W5", fileStatus,
			"(c.inflight.leaves || c.inflight.NewLog)", "c.inflight.leaves")),
		by(reserve, "late true: 0 bytes", one("new log: the commit before it waits for room", "W5", fileStatus,
			"c.build.leaves || c.build.newLog || ", "c.build.leaves || ")),
		by("./nodes/shell TestR8_TheReceiversLogIsStoredSoon", "the job is",
			one("new log: it needs no commit", "R8", fileCommit, "len(b.rec.Frames) == 0 && !b.newLog", "len(b.rec.Frames) == 0")),
		by(claims, "Acked", one("new log: it is told that it has acknowledged", "R14", fileAcked, "		p.ackedHere = false\n		lost", "		lost")),
		by("./link TestN3_AFrameThatIsNotStoredHasNoPlaceInTheLog", "the oldest frame is in record 0",
			one("new log: frames that are not stored keep record 0", "N3", fileSender, "	if len(s.entries) == 0 || s.base() > s.stored {",
				"	if len(s.entries) == 0 {")),
	}
}

// waitingEndBugs: ends that wait for room, or for a slice of work, while a node starts again.
func waitingEndBugs() []mutants.Mutant {
	const (
		on    = "./nodes/core TestR12_EndsThatWaitGoOnAfterAStart"
		again = "a node that starts again does"
	)
	return []mutants.Mutant{
		by(on, again, one("ends: a start forgets the next one", "R12", fileRecover, "		if s.ending != nil || s.nextEnd() >= 0 {\n",
			"		if s.ending != nil {\n")),
		by(on, again, one("ends: a start forgets the one that is on its way", "R12", fileRecover, "		if s.ending != nil || s.nextEnd() >= 0 {\n",
			"		if s.ending == nil && s.nextEnd() >= 0 {\n")),
		by(on, again, one("ends: a record has it wait at the first role", "R12", fileReplay, "&ending{in.Stream, in.Role}",
			"&ending{in.Stream, 0}")),
		by(on, again, one("ends: a snapshot has it wait at the first role", "R12", "nodes/core/restore.go", "role: int(d.Uint())}",
			"role: int(d.Uint()) * 0}")),
		by(on, again, one("ends: a page does not move it", "R12", fileReplay, "ok && (in.Op == record.End || in.Op == record.More) {",
			"ok && in.Op == record.End {")),
		by(on, "is passed on twice", one("ends: one that came to its end waits still", "R12", fileReplay, "	s.ending = nil\n	if more {",
			"	if more {")),
		by(on, again, one("ends: those that were passed on are passed on again", "R12", "nodes/core/restore.go",
			"	x.ended[i], x.passed[i] = d.Bool(), d.Bool()\n", "	x.ended[i], _ = d.Bool(), d.Bool()\n")),
		by(on, again, one("ends: the second one waits for nobody", "R12", fileEnd, "(s.ending != nil || s.nextEnd() >= 0) && !slices",
			"s.ending != nil && !slices")),
		by("./nodes/core TestN9_SessionsThatEndTakeTurns", "sessions are left",
			one("ends: a slice of one session loses the others", "N9", fileEnd, "slices.Clone(waiting[i:])",
				"slices.Clone(waiting[min(i+1, len(waiting)):])")),
	}
}

// secondJoinBugs: rows that are freed, or kept, while a second table is made of them.
func secondJoinBugs() []mutants.Mutant {
	const (
		making = "nodes/aggregator/making.go"
		spill  = "nodes/aggregator/spill.go"
		stay   = "./nodes/aggregator TestD1_RowsStayForTheSecondJoin"
		whole  = "./nodes/aggregator TestN3_ATableIsMadeAgain"
		wants  = "times, want 200"
	)
	return []mutants.Mutant{
		by(stay, wants, one("second join: rows go while it waits for the first one to leave", "D1", making,
			"			if slices.Contains(st.making, made) {\n				return true\n			}\n", "")),
		by(stay, wants, one("second join: rows go while it waits for a stream", "D1", making,
			"			if !role.Complete(st.Analysis, made, st.ended) {\n				return true\n			}\n", "")),
		by(stay, "still kept", one("second join: waiting rows stay", "D1", spill, "		st.waiting[i] = fold.NewWaiting(w.Spec())\n", "")),
		by(stay, "still kept", one("second join: groups stay", "D1", spill,
			"		st.tables[i] = st.repeats[i].newTable(st.tables[i].Spec())\n", "")),
		by(stay, "still kept", many("second join: a table that has left needs its rows still", "D1",
			edit(making, "	st.maker, st.making, st.left = nil, st.making[1:], 0\n",
				"	st.maker, st.left = nil, 0\n	defer func() { st.making = st.making[1:] }()\n"))),
		by(whole, "a snapshot is restored as something else", one("second join: a start forgets what has left of it", "N3",
			"nodes/aggregator/durable.go", "	st.left = int(d.Uint())\n", "	_ = d.Uint()\n")),
	}
}

// toldTwiceBugs: files of which the shell is told twice, too early, or not at all.
func toldTwiceBugs() []mutants.Mutant {
	const (
		runs   = "./nodes/internal/runs TestR16_RunsGiveBackWhatWasAdded"
		output = "./nodes/output TestR16_FilesOfAnAnswerAreToldOfOnce"
		chain  = "./nodes/core TestN3_FilesOfEachRoleOfAChain"
		files  = "nodes/core/files.go"
		store  = "nodes/internal/runs/store.go"
	)
	return []mutants.Mutant{
		by(runs, "named twice", one("told twice: runs are given up again with each commit", "R16", store,
			"	names := s.dropped\n	s.dropped = nil\n", "	names := s.dropped\n")),
		by(runs, "files are not needed any more", one("told twice: a run is given up twice", "R16", store,
			"{ s.dropped = append(s.dropped, r.name) })\n		delete", "{ s.dropped = append(s.dropped, r.name, r.name) })\n		delete")),
		by(runs, "files are unsaved", one("told twice: saved runs are to be saved again", "R16", store, "			if r.parts != nil {\n				files",
			"			if r != nil {\n				files")),
		by(output, "given up twice", one("told twice: those of an answer are given up again with each commit", "R16", "nodes/output/files.go",
			"	names := o.dropped\n	o.dropped = nil\n", "	names := o.dropped\n")),
		by(output, "files are to be saved", one("told twice: what is too small for one is saved", "R16", "nodes/output/files.go",
			"if f.data != nil && !f.small {", "if f.data != nil {")),
		by(output, "files are given up, want", one("told twice: what was too small for one is given up", "R16", "nodes/output/output.go",
			"		if !f.small {\n			o.dropped", "		if f != nil {\n			o.dropped")),
		by(chain, "and", one("told twice: only the last role's are saved", "N3", files, "files = append(files, f.Unsaved()...)",
			"files = f.Unsaved()")),
		by(chain, "are not needed any more", one("told twice: only the last role's are given up", "N3", files,
			"names = append(names, f.Dropped()...)", "names = f.Dropped()")),
		by(chain, "are needed", one("told twice: only the last role's survive a sweep", "N3", files, "names = append(names, f.Files()...)",
			"names = f.Files()")),
		by("./nodes/shell TestN3_AFileIsRemovedBehindItsCommit", "Drop:[old]",
			one("told twice: one is removed before the commit that makes it useless", "N3", fileStore,
				"			j.DropHeritage, j.Drop = s.heir, s.core.Dropped()\n		}\n	}\n",
				"			j.DropHeritage = s.heir\n		}\n	}\n	j.Drop = s.core.Dropped()\n")),
	}
}

// forgottenBytesBugs: memory that does not count, or no longer after a start.
func forgottenBytesBugs() []mutants.Mutant {
	const (
		answer = "./nodes/output TestR16_AllOfAnAnswerInMemoryCounts"
		rows   = "nodes/output/rows.go"
	)
	return []mutants.Mutant{
		by("./rows/fold TestR16_RowsThatWaitCount", "after a snapshot", one("bytes: rows that wait for a join count only in blocks", "R16",
			"rows/fold/waiting.go", "return w.bytes + w.last.index.held()", "return w.bytes")),
		by("./nodes/internal/joiner TestR16_ReferenceDataCountsAfterAStart", "there is room for more",
			one("bytes: reference data does not count after a start", "R16", fileJoiner,
				"		if st.bytes += len(m.Payload); out", "		if out == nil {\n			st.bytes -= len(m.Payload)\n		}\n		if st.bytes += len(m.Payload); out")),
		by(answer, "are in memory", one("bytes: rows that are in no run yet do not count", "R16", rows,
			"	for _, q := range r.sorted {\n		n += len(q.pending)\n	}\n", "")),
		by(answer, "are in memory", one("bytes: parts that are in no file yet do not count", "R16", rows, "	n := len(r.tail)\n	for _, f",
			"	n := 0\n	for _, f")),
		by(answer, "are in memory", one("bytes: an answer has no size after a start", "R16", rows, "	r.made, r.size = d.Uint(), d.Uint()\n",
			"	r.made, _ = d.Uint(), d.Uint()\n")),
		by("./rows/fold TestR16_CellsCount", "rows with cells", one("bytes: cells of a table do not count", "R16", "rows/fold/table.go",
			"	for i := range t.aggs {\n		n += t.aggs[i].memory()\n	}\n	return n", "	return n")),
	}
}

// tooEarlyBugs: files and pieces of an upload that count as taken too early, and lanes of a former client.
func tooEarlyBugs() []mutants.Mutant {
	const (
		read   = "client/core/read.go"
		early  = "./client/core TestR17_NoFileIsTakenTooEarly"
		end    = "./client/core TestS8_AFileIsTakenAtItsEnd"
		lanes  = "./client/core TestR17_LanesOfAFormerClient"
		resume = "./client/resume TestR17_AnyNumberOfClientsSendAFileOnce"
	)
	return []mutants.Mutant{
		by(early, "the file ends as", one("too early: a file is taken before its end", "R17", read,
			" || taken && reply.At != end) {", ") {")),
		by(early, "the file ends as", one("too early: an answer to another number ends a file", "R17", read,
			"	if taken && (reply.Lane != l.id || reply.Seq != l.seq) {", "	if taken && reply.Lane != l.id {")),
		by(early, "the file ends as", one("too early: an answer to another lane ends a file", "R17", read,
			"	if taken && (reply.Lane != l.id || reply.Seq != l.seq) {", "	if taken && reply.Seq != l.seq {")),
		by(end, "the input said that it is at byte 30", one("too early: bytes of an older answer count again", "S8", read,
			"	if at > l.fileAt {", "	if at != l.fileAt {")),
		by(end, "the file is acknowledged", one("too early: a file that was taken is not claimed", "S8", read, "	l.acked = l.seq\n	s.out.Files",
			"	s.out.Files")),
		by("./client/core TestS8_ADeclinedFileIsNotTaken", "Taken:true",
			one("too early: a declined file is taken", "S8", read, "Taken: taken}", "Taken: taken || declined}")),
		by("./nodes/input TestR17_AFileIsTakenAtItsLastByte", "a byte is missing",
			one("too early: an input has a file before its last byte", "R17", "nodes/input/read.go", "to == rd.to {",
				"to+1 >= rd.to {")),
		by(lanes, "the input is told", one("too early: a former client's lane is claimed twice", "R17", fileResumeLanes,
			"		l.input.former = slices.Delete(l.input.former, at, at+1)\n", "")),
		by(lanes, "the input is told", one("too early: a lane that is used again is not claimed", "R17", fileResumeLanes, "		l.acked = l.seq\n",
			"")),
		by("./client/core TestR17_AllEndsOfAFormerClientCount", "the task continues",
			one("too early: only the first end of a former client counts", "R17", fileResumeLanes,
				"		if slices.Contains(opened.Ended, stream.Name) {\n", "		if slices.Contains(opened.Ended, stream.Name) && in.ended == \"\" {\n")),
		by(resume, "these are other files", one("too early: a piece counts as compared before its end", "R17", fileResume,
			"	if p := f.pieces[0]; end == p.To {", "	if p := f.pieces[0]; end > p.From {")),
		by(resume, "these are other files", one("too early: a piece begins behind its first byte", "R17", fileResume,
			"taken = f.at >= next; taken", "taken = f.at > next; taken")),
	}
}

// lostLogBugs: more than one log of a peer that was lost.
func lostLogBugs() []mutants.Mutant {
	const (
		logs = "link/superseded.go"
		each = "./link TestR8_EachOfSeveralLostLogsIsAZombie"
		told = "./link TestR14_SeveralLostLogsOfAReceiverAcknowledgeNothing"
		is   = "a frame of number"
	)
	return []mutants.Mutant{
		by(each, is, one("lost logs: the newest ones are forgotten first", "R8", logs, "slices.Delete(r.logs, 0, 1)", "r.logs[:maxSuperseded]")),
		by(each, is, one("lost logs: only the last one is a zombie", "R8", logs, "return slices.Contains(r.logs, l)",
			"return len(r.logs) > 0 && r.logs[len(r.logs)-1] == l")),
		by(each, is, one("lost logs: a start knows the first one alone", "R8", fileReceiver, "supersededLogs{logs: slices.Clone(h.Superseded)}",
			"supersededLogs{logs: slices.Clone(h.Superseded[:min(1, len(h.Superseded))])}")),
		by(each, is, one("lost logs: a record has the last one alone", "R8", fileReceiver, "slices.Clone(r.superseded.logs)}",
			"slices.Clone(r.superseded.logs[max(0, len(r.superseded.logs)-1):])}")),
		by(told, "acknowledges", one("lost logs: those of a receiver acknowledge", "R14", fileAcked,
			"	return p.superseded.has(id.LogID) || id.LogID", "	return id.LogID")),
		by(told, "hears nothing of", one("lost logs: those of a receiver hear nothing", "R14", fileAcked, "		p.rejected = a.ID.Life\n", "")),
	}
}

// partitionedBugs: NULL keys of one use, minus zero, and sums of full tables in partitioned joins.
func partitionedBugs() []mutants.Mutant {
	const (
		region = "analyses/sql/split/region.go"
		parts  = "analyses/sql/exec/parts.go"
		joins  = "./analyses/sql/split TestQ7_PartitionedJoins"
		full   = "./analyses/sql/split TestQ7_FullTablesLeaveSettled"
	)
	return []mutants.Mutant{
		by(joins, "s AS x LEFT JOIN s AS y", one("partitioned: rows with a NULL key are dropped that one use needs", "Q7", region,
			"old.DropNull = old.DropNull && drop", "old.DropNull = old.DropNull || drop")),
		by(joins, "s AS x RIGHT JOIN s AS y", one("partitioned: the first use decides about NULL keys", "Q7", region,
			"			old.DropNull = old.DropNull && drop\n", "			_ = old\n")),
		by(joins, "ax * 0e0 = bx * 0e0", one("partitioned: minus zero has a partition of its own", "Q7", parts,
			"for k := len(w.vector); k < len(keys); k++ {", "for k := range keys {")),
		by(full, "", one("partitioned: a full table leaves without its sums", "Q7", parts, "			w.settle(t)\n			full()\n", "			full()\n")),
		by(full, "", one("partitioned: sums are settled in the table that follows", "Q7", parts, "			w.settle(t)\n			full()\n",
			"			full()\n			w.settle(t)\n")),
		by(full, "want", one("partitioned: rows of a full table leave again", "Q7", "analyses/making.go", "			leave()\n			made.Reset()\n",
			"			leave()\n")),
	}
}
