package sim

import "posta.dev/posta/test/simulator/mutants"

const (
	fileRecover       = "nodes/core/recover.go"
	fileClaims        = "nodes/input/claims.go"
	fileInLink        = "nodes/core/inlink.go"
	fileAcked         = "link/acknowledged.go"
	fileHear          = "link/hear.go"
	fileSender        = "link/sender.go"
	fileReceiver      = "link/receiver.go"
	fileSum           = "link/sum.go"
	fileRefused       = "nodes/core/refused.go"
	fileRestore       = "link/restore.go"
	fileAdvance       = "nodes/core/advance.go"
	fileCommit        = "nodes/core/commit.go"
	fileCore          = "nodes/core/core.go"
	fileEmit          = "nodes/core/emit.go"
	fileEnd           = "nodes/core/end.go"
	fileExplain       = "nodes/role/explain.go"
	fileHost          = "nodes/core/host.go"
	fileOutEdge       = "nodes/core/outedge.go"
	fileReplay        = "nodes/core/replay.go"
	fileLostDisk      = "nodes/core/lostdisk.go"
	fileStatus        = "nodes/core/status.go"
	fileTake          = "nodes/core/take.go"
	fileSnapshot      = "nodes/core/snapshot.go"
	fileLogAnalysis   = "nodes/core/loganalysis.go"
	fileSession       = "nodes/core/session.go"
	fileInput         = "nodes/input/chunk.go"
	fileInputRole     = "nodes/input/input.go"
	fileJoiner        = "nodes/internal/joiner/joiner.go"
	fileReducer       = "nodes/internal/reducer/reducer.go"
	fileTables        = "nodes/role/tables.go"
	fileWork          = "nodes/internal/parser/work.go"
	fileExchange      = "client/core/exchange.go"
	fileOpen          = "client/core/open.go"
	filePing          = "client/core/ping.go"
	fileParts         = "client/core/parts.go"
	fileWhose         = "client/core/errors.go"
	fileUpload        = "client/core/upload.go"
	fileInputRequests = "nodes/input/requests.go"
	fileAccess        = "nodes/gateway/access.go"
	fileTakeover      = "nodes/input/takeover.go"
)

func edit(file, old, new string) mutants.Edit {
	return mutants.Edit{File: file, Old: old, New: new}
}

// one returns a bug that changes one place.
func one(name, rule, file, old, new string) mutants.Mutant {
	return many(name, rule, edit(file, old, new))
}

// many returns a bug that changes several places, because a second check would catch a bug in the first one.
func many(name, rule string, edits ...mutants.Edit) mutants.Mutant {
	return mutants.Mutant{Name: name, Rule: rule, Edits: edits}
}

// from begins the search at a seed that has shown the bug. It is for bugs that few seeds show, such as bugs that need a
// lost disk.
func from(first uint64, m mutants.Mutant) mutants.Mutant {
	m.From = first
	return m
}

// or names another rule whose violation shows the bug as well, or alone.
func or(rule, because string, m mutants.Mutant) mutants.Mutant {
	m.Or, m.Because = append(m.Or, rule), because
	return m
}

// bugs are mistakes that a programmer could make, or has made. The simulator must find every one.
func bugs() []mutants.Mutant {
	return []mutants.Mutant{
		one("role: what a joiner has flushed is flushed again", "R5", fileJoiner, "	}\n	t.Reset()\n	return nil\n",
			"	}\n	return nil\n"),
		one("role: rejected rows of a chunk that a fork has folded are forgotten", "D1", fileJoiner, "st.reject(m.Folded.Rejected, false)",
			"st.reject(nil, false)"),
		one("role: a chunk that a fork has folded travels as rows, too", "D1", fileWork,
			"		w.folded = &role.Folded{Fork: p.joiner, Rejected: rejected}\n		return nil, nil\n",
			"		w.folded = &role.Folded{Fork: p.joiner, Rejected: rejected}\n"),
		one("role: a commit leaves behind what forks have folded for it", "R12", fileJoiner, "	st.dirty = true\n	tables := st.tables",
			"	tables := st.tables"),
		many("role: facts are folded in a fork before the reference data has ended", "R11",
			edit(fileJoiner, "st == nil || st.deferred || !st.referenceEnded()", "st == nil || st.deferred"),
			edit(fileHost, "	case h.c.cfg.Joiner && !reference && s != nil && s.endsReference():",
				"	case h.c.cfg.Joiner && !reference && s == nil:"),
			edit(fileAdvance, "return reference || s.ready() && !s.endsReference() && c.room(false)", "return reference || c.room(false)")),
		one("role: a joiner's snapshot without the streams that have ended", "R11", fileJoiner,
			"	dst = wire.AppendArray(dst, len(st.ended))\n	for _, s := range st.ended {\n",
			"	dst = wire.AppendArray(dst, 0)\n	for _, s := range st.ended[:0] {\n"),
		from(128, one("role: a joiner takes more than limits.memory", "R16", fileJoiner, "out != nil && st.bytes > out.Limits().Memory {",
			"out != nil && st.bytes < 0 {")),
		one("role: a query does not wait for its streams", "R12", fileReducer, "		if st.answered[q] || !st.complete(q) {\n",
			"		if st.answered[q] {\n"),
		one("role: every reducer answers every session", "R12", fileReducer, "	if role.Partition(id, st.Replica.Of) != st.Replica.Index {\n",
			"	if st == nil {\n"),
		one("role: an aggregator hands reference tables on with the facts", "D1", "nodes/aggregator/aggregator.go",
			"return role.TableStream(st.Analysis, table) == st.stream", "return st.stream == len(st.Analysis.Streams)-1"),
		from(200, one("role: rejected rows of a chunk that is split are lost", "D1", fileWork,
			"	if err != nil || rejects.Rows == 0 {\n		return payloads, err\n",
			"	if err != nil || rejects.Rows != 0 || true {\n		return payloads, err\n")),
		from(850, one("gateway: an output does not report answers that were closed", "R13", "nodes/output/ended.go",
			"range o.Tombstones.Recent(recent) {", "range o.Tombstones.Recent(0) {")),
		one("gateway: an input does not hear of sessions that ended", "R13", fileInputRole, "		if in.uploads[e.ID] == nil {\n",
			"		if e.ID != (session.ID{}) {\n"),
		many("gateway: an input runs one session more than limits.sessions", "R16",
			edit("nodes/input/places.go", "	if len(in.uploads) >= l.Sessions && ", "	if len(in.uploads) > l.Sessions && "),
			edit("nodes/input/places.go", "len(in.uploads)+before >= l.Sessions {", "len(in.uploads)+before > l.Sessions {")),
		one("gateway: a client runs more sessions than its share", "R16", "nodes/input/places.go",
			"len(in.uploads)+1 >= in.About.Limits.Sessions ||", "len(in.uploads) >= in.About.Limits.Sessions ||"),
		from(468, one("core: the owner that holds least gives way", "R16", "nodes/core/memory.go", "	owner := owners.Most()\n",
			"	owner := owners.Most()\n	for other, n := range owners {\n		if n > 0 && n < owners[owner] {\n			owner = other\n		}\n	}\n")),
		one("core: no session gives way", "R16", "nodes/core/commit.go", "		c.shareMemory()\n", ""),
		one("gateway: a session that makes progress gives its place away", "M6", "nodes/input/places.go", "	return u.uploading() && "+
			"!u.lastProgress.IsZero() && in.now.Sub(u.lastProgress) >= in.About.Limits.ClientTimeout && !in.holds(u.ID)", "	return u.uploading()"),
		one("core: an end that waits for room is forgotten", "R12", fileEnd, "		c.ending = append(c.ending, s)\n", ""),
		one("core: the end of reference data waits for a window that facts fill", "R9", fileAdvance, "	return c.room(reference)\n",
			"	return c.room(reference) && c.room(false)\n"),
		from(307, one("clock: hellos are paced by the wall clock", "M10", fileAcked, "	p.helloAt = now\n", "	p.helloAt = now.Round(0)\n")),
		from(900, one("clock: an input measures silence by the wall clock", "M10", fileInputRole, "	in.advanceClock(now)\n",
			"	now = now.Round(0)\n	in.advanceClock(now)\n")),
		many("the hwm is saved before the effect", "R5",
			edit(fileReceiver, "ID: r.id, Seq: r.taken, Life", "ID: r.id, Seq: r.taken + 1, Life"),
			edit(fileReceiver, "	if h.Seq > r.taken {\n", "	if h.Seq > r.taken+1 {\n"),
		),
		many("a table is sent in one piece", "R15",
			edit(fileTables, "	case len(payload) <= limit:\n", "	case len(payload) <= max(limit, 1<<30):\n"),
			edit(fileTables, "min(PartialBytes, limit)", "max(PartialBytes, limit)"),
			edit(fileEmit, "size > c.cfg.Frame {", "size > 1<<30 {"),
		),
		many("a batch is sent in one piece", "R15",
			edit(fileWork, "len(w.payload) > w.limit", "len(w.payload) > 1<<30"),
			edit(fileEmit, "size > c.cfg.Frame {", "size > 1<<30 {"),
		),
		one("hwm not saved", "R5", fileCommit, "	b.rec.Hwms = commit.hwms\n", ""),
		one("an acknowledgement leaves before the fsync", "R3", fileReceiver, "Log: r.id.LogID, Hwm: r.stored,",
			"Log: r.id.LogID, Hwm: r.taken,"),
		one("a frame leaves before the fsync", "R3", fileCommit,
			"	c.inflight = commit\n	return commit\n",
			"	c.inflight = commit\n	for i, o := range c.outboxes {\n		o.Stored(commit.progress[i].Last, 0)\n	}\n	return commit\n"),
		one("a client is answered before the fsync", "R3", fileHost,
			"	h.c.build.replies = append(h.c.build.replies, Reply{to, body})", "	h.c.replies = append(h.c.replies, Reply{to, body})"),
		from(173, one("frame numbers are given out twice after a crash", "R2", fileRestore, "	s.skip(last, life)\n	return nil\n",
			"	return nil\n")),
		or("N3", "a node whose outbox forgets its numbers is another one after recovery, which is seen first",
			one("recovery does not find the outboxes of broadcasts", "R2", fileOutEdge, "	p.To = o.to\n	return p\n",
				"	p.To = o.Peers()[0]\n	return p\n")),
		one("resend begins one too late", "R7", fileAcked, "	if restarted || !p.ready || a.Resend {\n		p.sent = p.acked\n",
			"	if restarted || !p.ready || a.Resend {\n		p.sent = min(p.acked+1, s.stored)\n"),
		one("resend begins one too early", "R7", fileAcked, "	if restarted || !p.ready || a.Resend {\n		p.sent = p.acked\n",
			"	if restarted || !p.ready || a.Resend {\n		p.sent = max(p.acked, 1) - 1\n"),
		one("a sender ignores that a receiver asks for a resend", "R4", fileAcked, "	if restarted || !p.ready || a.Resend {\n",
			"	if restarted || !p.ready {\n"),
		many("a receiver accepts a gap", "R4",
			edit(fileReceiver, "	case f.Seq > r.taken+1:\n		return Gap\n", ""),
			edit(fileReceiver, "	if f.Seq != r.taken+1 {\n", "	if f.Seq <= r.taken {\n"),
		),
		many("a receiver takes a duplicate", "R4",
			edit(fileReceiver, "	case f.Seq <= r.taken:\n		return Duplicate\n", ""),
			edit(fileReceiver, "	if f.Seq != r.taken+1 {\n", "	if f.Seq > r.taken+1 {\n"),
			edit(fileReceiver, "	r.taken, r.takenLife = f.Seq, f.Life\n", "	r.taken, r.takenLife = max(r.taken, f.Seq), f.Life\n"),
			edit(fileTake, "	case s.eos[f.Stream][l.key()]:\n", "	case false:\n"),
		),
		one("a hello is not repeated", "R7", fileAcked, "!due || now.Before(at) {\n",
			"!due || now.Before(at) || !p.helloDue && !p.unheard && !p.helloAt.IsZero() {\n"),
		one("a zombie's frames are accepted", "R8", fileHear, "	if r.superseded.has(id.LogID) || same && id.over(r.id) {\n",
			"	if r.superseded.has(id.LogID) {\n"),
		one("a new log id is treated as the old one", "R8", fileHear, "	case !same:\n		if lost", "	case r.id.LogID == (LogID{}):\n		if lost"),
		or("R14", "to its peers a log that retires is a lost disk", one("a sender's lost disk is not noticed", "R8", fileLostDisk,
			"	case lost:\n		c.senderLostDisk(", "	case lost && false:\n		c.senderLostDisk(")),
		from(310, or("R14", "to its peers a log that retires is a lost disk",
			one("a receiver's lost disk is not noticed", "R8", fileAcked, "		lost = p.acked > 0\n", ""))),
		one("a payload is released while a role keeps it", "N3", fileTake, "Payload: f.Payload}); !kept && len(",
			"Payload: f.Payload}); (kept || !kept) && len("),
		one("windows are ignored", "R9", fileOutEdge, "		open := o.WindowLeft() > 0\n", "		open := o.WindowLeft() > -1<<40\n"),
		one("a broadcast drops a frame after the first acknowledgement", "R10", fileSender,
			"	floor := s.next - 1\n	for _, p := range s.peers {\n		floor = min(floor, p.acked)\n	}\n	n := ",
			"	floor := Seq(0)\n	for _, p := range s.peers {\n		floor = max(floor, p.acked)\n	}\n	n := "),
		one("facts are taken before the reference data has ended", "R11", fileAdvance,
			"		return reference || s.ready() && !s.endsReference() && c.room(false)\n", "		return reference || c.room(false)\n"),
		many("an end is counted twice", "R12",
			edit(fileAdvance, "	c.dropFrame(l, verdict, f)\n",
				"	c.dropFrame(l, verdict, f)\n	if f.Kind == link.End && verdict == link.Duplicate {\n		c.takeEnd(l, f)\n	}\n"),
			edit(fileTake, "	case s.eos[f.Stream][l.key()]:\n", "	case false:\n"),
			edit(fileEnd, "	s.eos[stream][from] = true\n", "	s.eos[stream][from] = true\n	s.eos[stream][linkKey{from.edge, "+
				"link.NodeID(fmt.Sprint(len(s.eos[stream])))}] = true\n	delete(s.eos[stream], linkKey{from.edge, \"1\"})\n"),
		),
		one("facts are folded before the reference data that a joiner deferred", "R11", fileJoiner, "		if err := st.catchUp(); err != nil {\n",
			"		if err := error(nil); err != nil {\n"),
		one("the end of one sender counts as the end of all", "R12", fileEnd, "len(s.eos[stream]) >= max(1, c.sendersOf(s.reference(stream)))",
			"len(s.eos[stream]) >= 1"),
		many("an end is passed on before the last partial", "R12",
			edit(fileEnd, "		c.flush(s, i)\n		if s.err != nil {\n			return\n		}\n		more := false\n", "		more := false\n"),
			edit(fileEnd, "		c.flush(s, i)\n	}\n	c.pass(s, stream)\n", "	}\n	c.pass(s, stream)\n"),
		),
		one("an abort is not forwarded", "R13", fileSession, "	c.forwardAbort(id, why)\n	c.drop(", "	c.drop("),
		one("a session that has left begins again", "R13", fileSession, "	c.tombstones.put(id, why)\n", ""),
		one("a call that changes state is not recorded", "N3", fileEmit, "	if durable {\n", "	if durable && s == nil {\n"),
		one("an end is not recorded", "N3", fileEnd, "		c.record(record.Input{Op: record.End, Role: i, Session: s.ID, Stream: stream})\n", ""),
		or("D1", "what is emitted again is counted again", one("flush after recovery emits again", "N3", fileReplay,
			"		if !s.dirty {\n			continue\n		}\n", "		if s != nil {\n			continue\n		}\n")),
		or("D1", "what is emitted again is counted again", one("flush after a snapshot emits again", "N3", fileJoiner,
			"	return st.discardFolded()\n", "	return nil\n")),
		one("a snapshot lacks the hwms", "N3", fileSnapshot, "		rec.Hwms = append(rec.Hwms, l.recv.Hwm())\n", "		_ = l\n"),
		one("a page is not recorded", "N3", fileEnd,
			"	c.record(record.Input{Op: record.More, Role: at.role, Session: s.ID, Stream: at.stream})\n", ""),
		one("the log is cut beyond the oldest unacknowledged frame", "N3", fileStatus,
			"		if p, ok := o.Oldest(); ok && (!found || p < oldest) {\n", "		if p, ok := o.Oldest(); ok && (!found || p > oldest) {\n"),
		one("a session that continues is taken for one that has left", "N3", fileLogAnalysis,
			"in.Op == record.Drop && a.dropped[in.Session].before(p)",
			"(in.Op == record.Drop || in.Op == record.Ended) && a.dropped[in.Session].before(p)"),
		one("a gateway is not told which sessions have left", "N3", fileLogAnalysis,
			"	return call && in.Role < len(p.c.cfg.Roles) && (!p.isGateway(in.Role) || at.before(p.removed[in.Session]))\n", "	return call\n"),
		one("recovery skips frames that one receiver lacks", "N3", fileLogAnalysis, "		floor = min(floor, a.acked[k][r])\n",
			"		floor = max(floor, a.acked[k][r])\n"),
		one("recovery begins after frames that no receiver has", "N3", fileLogAnalysis, "			if ours && r.seq > floor {\n",
			"			if ours && r.seq < floor {\n"),
		or("N3", "a change that no record has is what a recovered node lacks",
			one("a lane's hwm is not recorded with its chunk", "R5", fileInput,
				"	in.Host.Record(encodeLane(u.ID, req.Lane, last, len(req.Data), from))\n", "")),
		one("a repeated chunk is taken again", "R5", fileInput, "	if req.Seq <= last.seq {\n", "	if req.Seq < last.seq {\n"),
		many("two clients open one id", "R17",
			edit(fileInputRequests, "	case opener == u.Openers.Now() && (", "	case true || ("),
			edit(fileInputRequests, "a.Openers = session.Openers{req.Token.Hash()}", "a.Openers = nil"),
			edit(fileInputRequests, "	case a.Openers.Now() != req.Token.Hash(), req", "	case req"),
			edit(fileInputRequests, "	case h.OpenedBy(by):\n", "	case h.OpenedBy(by) || true:\n"),
		),
		one("a stranger closes the session", "R17", fileAccess,
			"(by.Token == session.TokenHash{} || by.Token == h.Openers.Now())",
			"(by.Token == session.TokenHash{} || by.Token != h.Openers.Now() || true)"),
		one("takeover: before the opener was silent for 5 s", "R17", fileTakeover, "	case silent < leftAfter:\n", "	case silent < 0:\n"),
		from(240, one("takeover: the old token is still accepted", "R17", fileInputRequests,
			"	case h.OpenedBy(by):\n", "	case h.OpenedBy(by) || u.Openers.Superseded(by.Token):\n")),
		one("takeover: it may have another plan", "R17", fileInputRequests, "	same := slices.Equal(u.payload, a.Encode())\n", "	same := true\n"),
		one("takeover: at any input first", "R17", fileTakeover, "	if in.first() {\n		a.Openers = append(",
			"	if in != nil {\n		a.Openers = append("),
		or("N3", "a recovered node is compared with the one that stands", one("takeover: it is not durable", "R17", fileTakeover,
			"		in.Host.Record(encodeTakeOver(u.ID, u.payload))\n", "")),
		one("the opener is forgotten when the session is over", "R17", fileInputRole, "		gone.Holder = u.holder()\n", ""),
		one("every repeated chunk counts as a new one", "R17", fileInput, ".Sum()) != last.sum {", ".Sum()) == last.sum {"),
		from(940, one("a sleeping node blames its clients", "M6", fileInputRole,
			"			u.lastHeard, u.lastProgress = u.lastHeard.Add(gap), u.lastProgress.Add(gap)\n", "			_ = u\n")),
		one("every joiner counts rejected reference rows", "D1", fileJoiner, "	if len(partial) == 0 || reference && st.Replica.Index != 0 {\n",
			"	if len(partial) == 0 {\n"),
		one("queries answered at every end", "D1", fileReducer, "		if st.answered[q] || !st.complete(q) {\n", "		if !st.complete(q) {\n"),
		one("a panic takes the node down", "N6", fileExplain, "	if p := recover(); p != nil {\n", "	if p := any(nil); p != nil {\n"),
		one("the loss of a receiver is reported to no node", "R8", fileCore, "		if lost != nil {\n", "		if lost != nil && now.IsZero() {\n"),
		from(129, one("a lost receiver fails sessions that it never had", "R8", fileLostDisk, "		if lost.Affects(s.ID) {\n",
			"		if s != nil {\n")),
		from(140, one("a lost sender fails sessions that it never had", "R8", fileLostDisk,
			"			return s.opened[k.key()] && (k == l ||", "			return k == l || s.opened[k.key()] && (k == nil ||")),
		one("a log that was set back waits instead of retiring", "R14", fileAcked, "		p.ready = false\n		return lost, why\n",
			"		p.ready = false\n		return lost, \"\"\n"),
		one("a superseded log hears nothing", "R14", fileHear, "		r.rejected = id\n		return false", "		return false"),
		one("a frame counts for the life that reads it", "R14", fileRecover, "		f.Frame.Life = rec.Life\n", "		f.Frame.Life = r.c.cfg.ID.Life\n"),
		from(51, one("an input ignores claims about what it has acknowledged", "R14", fileClaims, "	if lacks := u.lacks(req); lacks != \"\" &&",
			"	if lacks := u.lacks(req); lacks == \"?\" &&")),
		one("damage: checksums are not compared", "R18", fileSum, "return s.sent(s.content(f), f.ID) == f.Sum }", "return f != nil }"),
		one("damage: checksums are compared after the hwm has moved", "R18", fileAdvance, "	if !l.sound && !c.intact(l, f) {\n",
			"	if v := l.recv.Check(f); v == link.Take && !l.recv.Intact(f) {\n		l.recv.Took(f)\n		c.build.moved(l)\n		l.pop()\n		return "+
				"true\n	}\n	if !l.sound && !c.intact(l, f) {\n"),
		from(115, one("damage: the receiver is not covered", "R18", fileSum, "string(l.To)+", "\"\"+")),
		one("damage: the number is not covered", "R18", fileSum, "uint64(f.Seq))", "0)"),
		one("damage: the payload is not covered", "R18", fileSum, "crc32.Update(crc32.Update(s.link, castagnoli, b), castagnoli, f.Payload)",
			"crc32.Update(s.link, castagnoli, b)"),
		one("damage: a damaged hello is believed", "R18", fileCore, "(!c.intact(l, f) || !c.addressedToUs(f))", "!c.addressedToUs(f)"),
		from(230, one("frames of a former life hold a hello back", "R14", fileInLink, "	if f.Kind == link.Hello {\n		l.dropSuperseded",
			"	if f.Kind == 0 {\n		l.dropSuperseded")),
		one("client: an old reply is the answer to another request", "N10", fileExchange, "	if !c.busy() || c.try != try {\n",
			"	if !c.busy() {\n"),
		one("client: a silent chunk counts as sent", "R17", fileExchange, "	default:\n		s.retries++\n",
			"	case c.x.purpose == carrying:\n		s.out.Drops = append(s.out.Drops, c.id)\n		s.complete(c, protocol.Reply{Type: protocol.OK, Lane: "+
				"c.lane.id, Seq: c.lane.seq}, nil)\n	default:\n		s.retries++\n"),
		one("client: a chunk that is sent again has another number", "R17", fileExchange, "	c.try++\n	c.tries++\n",
			"	c.try++\n	c.tries++\n	if c.lane != nil && c.tries > 1 {\n		c.x.request.Seq++\n		c.lane.seq++\n	}\n"),
		one("client: a connection that broke is not tried again", "N10", fileExchange,
			"		if again := now.Add(s.jitter(shortestTry)); again.Before(c.deadline) {\n			c.deadline = again\n		}\n",
			"		c.deadline = now.Add(24 * time.Hour)\n"),
		one("client: an end is said before the last chunk is acknowledged", "R17", fileUpload, "		if l.stage != drained {\n			return\n",
			"		if l.stage == wanting {\n			return\n"),
		one("client: an end says the numbers of all inputs", "R17", fileUpload,
			"		q.Lanes = s.numbers(in, func(l *lane) uint64 { return l.seq })\n",
			"		for _, l := range s.lanes {\n			if l.seq > 0 {\n				q.Lanes = append(q.Lanes, protocol.LaneSeq{Lane: l.id, Seq: "+
				"l.seq})\n			}\n		}\n"),
		one("client: facts follow the first end of the reference stream", "R11", fileUpload, "s.ending--; s.ending > 0 {",
			"s.ending--; s.ending > 0 && in != s.inputs[0] {"),
		one("client: a ping has no claims", "R14", filePing, "	q.Lanes = s.numbers(in, func(l *lane) uint64 { return l.acked })\n", ""),
		one("client: a ping claims what is under way", "R14", filePing, "return l.acked })", "return l.seq })"),
		one("client: inputs are kept alive when all are open", "N10", fileOpen, "		s.planPing(in)\n",
			"		if in == s.inputs[len(s.inputs)-1] {\n			for _, in := range s.inputs {\n				s.planPing(in)\n			}\n		}\n"),
		one("client: what is too early is asked again at once", "N10", fileOpen, "		s.pause(pauseFor(reply))\n", "		s.pause(0)\n"),
		one("client: one lost ping ends all pings", "N10", filePing,
			"	s.askInput(in, exchange{purpose: pinging, request: s.pingTo(in), want: protocol.OK})",
			"	s.ask(in.conn, exchange{purpose: pinging, request: s.pingTo(in), want: protocol.OK, once: true})"),
		one("client: inputs are opened last to first", "R17", fileOpen, "	s.ask(s.inputs[s.at].conn,",
			"	s.ask(s.inputs[len(s.inputs)-1-s.at].conn,"),
		one("client: parts of two outputs are mixed", "D1", fileParts, "	have := in.rows[p.Query]\n", "	have := p.Offset\n"),
		from(240, one("client: a session that was taken over is cancelled", "R17", fileWhose, " && !errors.Is(err, protocol.ErrSuperseded) &&\n",
			" &&\n")),
		one("client: a takeover shows no openers", "R17", fileOpen, "	if s.cfg.Takeover && s.at > 0 {", "	if s.cfg.Takeover && s.at < 0 {"),
		one("client: rows come again from another output", "D1", fileParts, "p.Rows.Skip(int(min(have-p.Offset, uint64(p.Rows.Len()))))",
			"p.Rows.Skip(0)"),
	}
}
