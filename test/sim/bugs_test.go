package sim

import "posta.dev/posta/internal/simulator/mutants"

const (
	fileRecover       = "nodes/core/recover.go"
	fileClaims        = "nodes/input/claims.go"
	fileInLink        = "nodes/core/inlink.go"
	fileAcked         = "link/acknowledged.go"
	fileHear          = "link/hear.go"
	fileSender        = "link/sender.go"
	fileReceiver      = "link/receiver.go"
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
	fileJoiner        = "nodes/joiner/joiner.go"
	fileReducer       = "nodes/reducer/reducer.go"
	fileTables        = "nodes/role/tables.go"
	fileWork          = "nodes/parser/work.go"
	fileInputRequests = "nodes/input/requests.go"
)

// bugs are what somebody could have made, or has. The simulator must find every one.
func bugs() []mutants.Mutant {
	edit := func(file, old, new string) mutants.Edit { return mutants.Edit{File: file, Old: old, New: new} }
	many := func(name, rule string, seeds int, edits ...mutants.Edit) mutants.Mutant {
		return mutants.Mutant{Name: name, Rule: rule, From: 1, Seeds: seeds, Edits: edits}
	}
	one := func(name, rule string, seeds int, file, old, new string) mutants.Mutant {
		return many(name, rule, seeds, edit(file, old, new))
	}
	// What is rare, as what only a lost disk shows: the search begins near a seed that is known to show it.
	from := func(first uint64, m mutants.Mutant) mutants.Mutant {
		m.From = first
		return m
	}
	return []mutants.Mutant{
		many("hwm saved before the effect", "R5", 100,
			edit(fileReceiver, "ID: r.id, Seq: r.taken, Life", "ID: r.id, Seq: r.taken + 1, Life"),
			edit(fileReceiver, "	if h.Seq > r.taken {\n", "	if h.Seq > r.taken+1 {\n"),
		),
		many("a table is sent in one piece", "R15", 400,
			edit(fileTables, "	case len(payload) <= limit:\n", "	case len(payload) <= max(limit, 1<<30):\n"),
			edit(fileTables, "min(PartialBytes, limit)", "max(PartialBytes, limit)"),
			edit(fileEmit, "size > c.cfg.Frame {", "size > 1<<30 {"),
		),
		many("a batch is sent in one piece", "R15", 200,
			edit(fileWork, "len(w.payload) > w.limit", "len(w.payload) > 1<<30"),
			edit(fileEmit, "size > c.cfg.Frame {", "size > 1<<30 {"),
		),
		one("hwm not saved", "R5", 60, fileCommit, "	b.rec.Hwms = commit.hwms\n", ""),
		one("acknowledged before the fsync", "R3", 60, fileReceiver, "Log: r.id.LogID, Hwm: r.stored,", "Log: r.id.LogID, Hwm: r.taken,"),
		one("sent before the fsync", "R3", 60, fileCommit,
			"	c.inflight = commit\n	return commit\n",
			"	c.inflight = commit\n	for i, o := range c.outboxes {\n		o.Stored(commit.progress[i].Last, 0)\n	}\n	return commit\n"),
		one("client answered before the fsync", "R3", 150, fileHost,
			"	h.c.build.replies = append(h.c.build.replies, Reply{to, body})", "	h.c.replies = append(h.c.replies, Reply{to, body})"),
		one("numbers given out twice after a crash", "R2", 100, fileRestore, "	s.skip(last, life)\n	return nil\n", "	return nil\n"),
		one("outboxes of broadcasts not found in recovery", "R2", 100, fileOutEdge, "	p.To = o.to\n	return p\n", "	p.To = o.Peers()[0]\n	return p\n"),
		one("resend begins one too late", "R7", 60, fileAcked, "	if restarted || !p.ready || a.Resend {\n		p.sent = p.acked\n", "	if restarted || !p.ready || a.Resend {\n		p.sent = min(p.acked+1, s.stored)\n"),
		one("resend begins one too early", "R7", 60, fileAcked, "	if restarted || !p.ready || a.Resend {\n		p.sent = p.acked\n", "	if restarted || !p.ready || a.Resend {\n		p.sent = max(p.acked, 1) - 1\n"),
		one("no resend when it is asked for", "R4", 60, fileAcked, "	if restarted || !p.ready || a.Resend {\n", "	if restarted || !p.ready {\n"),
		many("gap accepted", "R4", 60,
			edit(fileReceiver, "	case f.Seq > r.taken+1:\n		return Gap\n", ""),
			edit(fileReceiver, "	if f.Seq != r.taken+1 {\n", "	if f.Seq <= r.taken {\n"),
		),
		many("duplicate taken", "R4", 60,
			edit(fileReceiver, "	case f.Seq <= r.taken:\n		return Duplicate\n", ""),
			edit(fileReceiver, "	if f.Seq != r.taken+1 {\n", "	if f.Seq > r.taken+1 {\n"),
			edit(fileReceiver, "	r.taken, r.takenLife = f.Seq, f.Life\n", "	r.taken, r.takenLife = max(r.taken, f.Seq), f.Life\n"),
			edit(fileTake, "	case s.eos[f.Stream][l.key()]:\n", "	case false:\n"),
		),
		one("hello not repeated", "R7", 100, fileAcked, "(since < every || p.ready && !stuck) {\n", "(since < every || p.ready && !stuck || !p.helloAt.IsZero()) {\n"),
		one("zombie accepted", "R8", 200, fileHear, "	if r.superseded.has(id.LogID) || same && id.Over(r.id) {\n", "	if r.superseded.has(id.LogID) {\n"),
		one("new log id treated as the old", "R8", 200, fileHear, "	case !same:\n		if lost", "	case r.id.LogID == (LogID{}):\n		if lost"),
		one("a sender's lost disk not noticed", "R8", 400, fileLostDisk,
			"	case lost:\n		c.senderLostDisk(", "	case lost && false:\n		c.senderLostDisk("),
		from(150, one("a receiver's lost disk not noticed", "R8", 20, fileAcked, "		lost = p.acked > 0\n", "")),
		one("payload given back while it is kept", "N3", 300, fileTake, "Payload: f.Payload}); !kept && len(", "Payload: f.Payload}); (kept || !kept) && len("),
		one("windows ignored", "R9", 100, fileOutEdge, "		open := o.WindowLeft() > 0\n", "		open := o.WindowLeft() > -1<<40\n"),
		one("broadcast forgets after the first acknowledgement", "R10", 60, fileSender,
			"	floor := s.next - 1\n	for _, p := range s.peers {\n		floor = min(floor, p.acked)\n	}\n	n := ",
			"	floor := Seq(0)\n	for _, p := range s.peers {\n		floor = max(floor, p.acked)\n	}\n	n := "),
		one("facts before the reference data has ended", "R11", 60, fileAdvance, "		return reference || s.ready() && c.room(false)\n", "		return reference || c.room(false)\n"),
		many("end counted twice", "R12", 100,
			edit(fileAdvance, "	c.Counters.dropped(verdict)\n", "	c.Counters.dropped(verdict)\n	if f.Kind == link.End && verdict == link.Duplicate {\n		c.takeEnd(l, f)\n	}\n"),
			edit(fileTake, "	case s.eos[f.Stream][l.key()]:\n", "	case false:\n"),
			edit(fileEnd, "	s.eos[stream][from] = true\n", "	s.eos[stream][from] = true\n	s.eos[stream][linkKey{from.edge, link.NodeID(fmt.Sprint(len(s.eos[stream])))}] = true\n	delete(s.eos[stream], linkKey{from.edge, \"1\"})\n"),
		),
		one("facts before the reference data that a joiner deferred", "R11", 60, fileJoiner, "		if err := st.catchUp(); err != nil {\n", "		if err := error(nil); err != nil {\n"),
		one("end of one sender is the end of all", "R12", 60, fileEnd, "len(s.eos[stream]) >= max(1, c.sendersOf(s.reference(stream)))", "len(s.eos[stream]) >= 1"),
		many("end passed on before the last partial", "R12", 60,
			edit(fileEnd, "		c.flush(s, i)\n		if s.err != nil {\n			return\n		}\n		more := false\n", "		more := false\n"),
			edit(fileEnd, "		c.flush(s, i)\n	}\n	c.pass(s, stream)\n", "	}\n	c.pass(s, stream)\n"),
		),
		one("abort not forwarded", "R13", 100, fileSession, "	c.forwardAbort(id, why)\n	c.drop(", "	c.drop("),
		one("a session that has left comes to life again", "R13", 300, fileSession, "	c.tombstones.put(id, why)\n", ""),
		one("state input not recorded", "N3", 60, fileEmit, "	if durable {\n", "	if durable && s == nil {\n"),
		one("end not recorded", "N3", 60, fileEnd, "		c.record(record.Input{Op: record.End, Role: i, Session: s.ID, Stream: stream})\n", ""),
		one("flush after recovery emits again", "N3", 100, fileReplay, "		if !s.dirty {\n			continue\n		}\n", "		if s != nil {\n			continue\n		}\n"),
		one("flush after a snapshot emits again", "N3", 200, fileJoiner, "	return st.discardFolded()\n", "	return nil\n"),
		one("snapshot without hwms", "N3", 60, fileSnapshot, "		rec.Hwms = append(rec.Hwms, l.recv.Hwm())\n", "		_ = l\n"),
		one("page not recorded", "N3", 300, fileEnd, "	c.record(record.Input{Op: record.More, Role: at.role, Session: s.ID, Stream: at.stream})\n", ""),
		one("log cut beyond the oldest unacknowledged frame", "N3", 100, fileStatus, "		if p, ok := o.Oldest(); ok && (!found || p < oldest) {\n", "		if p, ok := o.Oldest(); ok && (!found || p > oldest) {\n"),
		one("a session that goes on taken for one that has left", "N3", 60, fileLogAnalysis, "in.Op == record.Drop && a.dropped[in.Session].before(p)", "(in.Op == record.Drop || in.Op == record.Ended) && a.dropped[in.Session].before(p)"),
		from(1, one("a gateway not told of what has left", "N3", 40, fileLogAnalysis, "	return call && in.Role < len(p.c.cfg.Roles) && !p.isGateway(in.Role)\n", "	return call\n")),
		one("frames passed over that one receiver lacks", "N3", 200, fileLogAnalysis, "		floor = min(floor, a.acked[k][r])\n", "		floor = max(floor, a.acked[k][r])\n"),
		one("recovery begins behind frames that nobody has", "N3", 100, fileLogAnalysis, "			if ours && r.seq > floor {\n", "			if ours && r.seq < floor {\n"),
		one("lane's hwm not recorded with the chunk", "R5", 100, fileInput, "	in.Host.Record(encodeLane(u.ID, req.Lane, last, len(req.Data)))\n", ""),
		one("repeated chunk taken again", "R5", 60, fileInput, "	if req.Seq <= last.seq {\n", "	if req.Seq < last.seq {\n"),
		from(5, many("two openers of one id", "R17", 100,
			edit(fileInputRequests, "	if u.Opener != opener {\n", "	if false {\n"),
			edit(fileInputRequests, "Opener: opener, Epoch: 1}", "Epoch: 1}"),
			edit(fileInputRequests, "	case hash == u.Opener:\n", "	case true:\n"),
		)),
		from(5, one("a stranger closes the session", "R17", 100, fileInputRole,
			"{ return by == session.TokenHash{} || by == opener }", "{ return by == session.TokenHash{} || by != opener || true }")),
		one("opener forgotten when the session is over", "R17", 60, fileInputRole, "		gone.Opener = u.Opener\n", ""),
		one("every repeated chunk is another one", "R17", 100, fileInput, "checksum(req) != last.sum {", "checksum(req) == last.sum {"),
		one("a sleeping node blames its clients", "M6", 200, fileInputRole, "			u.lastHeard, u.lastProgress = u.lastHeard.Add(gap), u.lastProgress.Add(gap)\n", "			_ = u\n"),
		one("every joiner counts rejected reference rows", "D1", 60, fileJoiner, "	if len(partial) == 0 || reference && st.Replica.Index != 0 {\n", "	if len(partial) == 0 {\n"),
		one("queries answered at every end", "D1", 60, fileReducer, "		if st.answered[q] || !st.complete(q) {\n", "		if !st.complete(q) {\n"),
		one("a panic takes the node down", "N6", 100, fileExplain, "	if p := recover(); p != nil {\n", "	if p := any(nil); p != nil {\n"),
		from(150, one("a lost receiver is told to nobody", "R8", 20, fileCore, "		if lost != nil {\n", "		if lost != nil && now.IsZero() {\n")),
		from(830, one("a lost receiver fails sessions that it never had", "R8", 40, fileLostDisk, "		if lost.Affects(s.ID) {\n", "		if s != nil {\n")),
		from(90, one("a lost sender fails sessions that it never had", "R8", 40, fileLostDisk,
			"			return s.opened[k.key()] && (k == l ||", "			return k == l || s.opened[k.key()] && (k == nil ||")),
		one("a log that was set back waits instead of retiring", "R14", 300, fileAcked, "		p.ready = false\n		return lost, why\n", "		p.ready = false\n		return lost, \"\"\n"),
		from(25, one("a superseded log hears nothing", "R14", 20, fileHear, "		r.rejected = id\n		return false", "		return false")),
		one("frames are those of the life that reads them", "R14", 20, fileRecover, "		f.Frame.Life = rec.Life\n", "		f.Frame.Life = r.c.cfg.ID.Life\n"),
		from(370, one("an input does not hear what it has acknowledged", "R14", 20, fileClaims, "	if lacks := u.lacks(req); lacks != \"\" &&", "	if lacks := u.lacks(req); lacks == \"?\" &&")),
		one("frames of a former life hold a hello back", "R14", 20, fileInLink, "	if f.Kind == link.Hello {\n		l.dropSuperseded", "	if f.Kind == 0 {\n		l.dropSuperseded"),
	}
}
