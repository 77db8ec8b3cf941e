package medicsim

import "posta.dev/posta/test/simulator/mutants"

const (
	fileBully     = "medic/core/bully.go"
	fileConfig    = "medic/core/config.go"
	fileCore      = "medic/core/core.go"
	fileDetector  = "medic/core/detector.go"
	fileFence     = "medic/core/fence.go"
	fileIsolation = "medic/core/isolation.go"
	fileJournal   = "medic/core/journal.go"
	fileOrdering  = "medic/core/ordering.go"
	fileOutput    = "medic/core/output.go"
	filePause     = "medic/core/pause.go"
	fileReceive   = "medic/core/receive.go"
	fileReconcile = "medic/core/reconcile.go"
	fileReplicate = "medic/core/replicate.go"
	fileSign      = "medic/core/sign.go"
	fileSane      = "medic/core/sane.go"
	fileSleep     = "medic/core/sleep.go"
	fileTarget    = "medic/core/target.go"
)

// one returns a bug that changes one place.
func one(name, rule, file, old, new string) mutants.Mutant {
	return mutants.Mutant{Name: name, Rule: rule, Edits: []mutants.Edit{{File: file, Old: old, New: new}}}
}

// from begins the search near a seed that is known to show the bug: what takes three coincidences is rare.
func from(first uint64, m mutants.Mutant) mutants.Mutant {
	m.From = first
	return m
}

// bugs returns what somebody could have made, or has. The simulator must find every one.
func bugs() []mutants.Mutant {
	all := steadyBugs()
	for i := range all {
		all[i].Args = append(all[i].Args, "-steady")
	}
	return append(all,
		one("a medic pauses for as long as a medic that is taken for asleep", "M7", filePause, "		return c.cfg.Heartbeat / 2\n",
			"		return c.cfg.Heartbeat + c.cfg.Heartbeat/4\n"),
		one("a medic pauses for long while a target is restarted", "M7", filePause,
			"		return c.cfg.Heartbeat / 2\n	}\n	return c.cfg.Heartbeat / 4\n", "		return c.cfg.Heartbeat / 2\n	}\n	return 2 * c.cfg.Heartbeat\n"),
	)
}

// steadyBugs are searched in seeds in which medics never pause for long: the ones that are known to show them tell another story with
// pauses.
func steadyBugs() []mutants.Mutant {
	return []mutants.Mutant{
		one("an election without a new generation", "M3", fileBully, "	c.enterTerm(Term{last + 1, c.cfg.Self, c.cfg.Life}, now)\n",
			"	c.enterTerm(Term{max(1, last), c.cfg.Self, c.cfg.Life}, now)\n"),
		one("a generation used before it is stored", "M3", fileCore, "	m.From, m.ID, m.Term = c.cfg.Self, c.cfg.ID, c.stored\n",
			"	m.From, m.ID, m.Term = c.cfg.Self, c.cfg.ID, c.term\n"),
		one("a generation that is not stored", "M3", fileBully, "	c.build.records = append(c.build.records, Record{Term: &t})\n",
			"	c.stored = t\n"),
		one("orders leave before their entry is stored", "M3", fileOrdering,
			"		c.publishStored(Message{Kind: Command, To: t.executor, Order: t.order})\n",
			"		c.publish(Message{Kind: Command, To: t.executor, Order: t.order})\n"),
		one("a leader that hears of a higher generation stays", "M3", fileBully, "	case m.Term.Gen > c.term.Gen:\n",
			"	case m.Term.Gen > c.term.Gen && c.role == leader:\n	case m.Term.Gen > c.term.Gen:\n"),
		one("two leaders of one generation both stay", "M3", fileBully, "	case m.Term != c.term:\n		return c.settleTie(m, now)\n",
			"	case m.Term != c.term:\n		return false\n"),
		one("higher medics are not asked", "M2", fileBully, "	if c.rank[c.cfg.Self] == len(c.rank)-1 {\n", "	if c.rank[c.cfg.Self] >= 0 {\n"),
		one("a candidate that met an objection never stands again", "M7", fileBully, "		case !c.objected.IsZero() && now.Sub(c.objected) >= "+
			"c.cfg.SuspectAfter:\n			c.campaign(now) // the medic that objected did not come to lead\n", "		case !c.objected.IsZero():\n"),
		one("the host does not compare generations", "M4", fileFence, "	case o.Gen < f.Term.Gen, o.Gen == f.Term.Gen && o.Term() != f.Term:\n",
			"	case false:\n"),
		one("the fence accepts any leader of its generation", "M3", fileFence,
			"	case o.Gen < f.Term.Gen, o.Gen == f.Term.Gen && o.Term() != f.Term:\n", "	case o.Gen < f.Term.Gen:\n"),
		one("the host's fence does not move", "M4", fileFence, "	f.Term = t\n	return f, true\n", "	return f, true\n"),
		one("a medic suspects others of its own sleep", "M6", fileDetector, "	if gap == 0 {\n		return 0\n	}\n",
			"	if gap >= 0 {\n		return 0\n	}\n"),
		plainly(from(1700, one("a medic that woke acts on what it knew", "M6", fileSleep,
			"		c.actAfter, c.leaderHeard, c.candidateSince = now.Add(c.cfg.SuspectAfter), now, now\n",
			"		c.leaderHeard, c.candidateSince = now, now\n"))),
		one("a young process is killed for the silence of the old one", "M5", fileFence,
			"	case alive && (o.Ended || last.age(clock) < max(o.Silent+o.Margin, o.Young)):\n		r.Verdict = Found\n", ""),
		one("an order is given once", "M7", fileReconcile,
			"		case now.Sub(t.given) >= c.cfg.Heartbeat:\n			c.give(t, now) // the order, or its report, may be lost\n", ""),
		one("no medic waits for the new life", "M5", fileReconcile, "	case reborn && v.works:\n", "	case v.known && v.works:\n"),
		one("a start that fails is not noticed", "M7", fileReconcile,
			"	case v.ended && silence >= c.cfg.hintTimeout(), silence >= c.cfg.StartTimeout<<min(t.failed, 3):\n",
			"	case silence >= 1000*c.cfg.StartTimeout:\n"),
		one("medics do not restart medics", "M7", fileReconcile, "	for _, m := range c.cfg.members() {\n", "	for _, m := range c.cfg.Nodes {\n"),
		one("a hint alone is a death", "M6", fileDetector, "	case v.ended:\n		return silence >= cfg.hintTimeout()\n",
			"	case v.ended:\n		return true\n"),
		one("entries are sent before they are stored", "M8", fileReplicate,
			"		c.publishStored(Message{Kind: Entries, To: m.From, Entries: entries, Oldest: oldest})\n",
			"		c.publish(Message{Kind: Entries, To: m.From, Entries: entries, Oldest: oldest})\n"),
		one("a new leader does not learn the history", "M8", fileReplicate, "	if c.role != leader && m.From != c.term.Leader || m.Term",
			"	if c.role != leader || m.Term"),
		one("the journal is not replicated", "M8", fileReplicate, "			c.add(e, m.Oldest, now)\n", "			_ = e\n"),
		from(228, one("records are forgotten when the term changes", "M8", fileBully, "		b.orders, b.messages = nil, nil\n",
			"		b.orders, b.messages, b.records = nil, nil, nil\n")),
		one("an incident that a dead leader has left open stays open", "M8", fileReconcile,
			"		case v.known && v.works && c.journal.isOpen(t.ID) &&", "		case now.IsZero() &&"),
		one("an order leaves that is no longer needed", "M6", fileOutput, "		if o.Leader != c.cfg.Self || c.stillNeeded(o) {\n",
			"		if o.Leader != \"\" {\n"),
		from(600, one("a medic that has lost its log does not ask its hosts", "M3", fileCore, "	c.believeFence(s, now)\n", "")),
		one("a late sign of the life that failed is taken for the new one", "M5", fileTarget, "t.heardAgain(v) && v.isNew(t.incarnations) }",
			"t.heardAgain(v) }"),
		from(1646, one("a log that was given up is forgotten", "M5", fileDetector,
			"	v.incarnations = v.incarnations[max(0, len(v.incarnations)-maxIncarnations):]\n",
			"	v.incarnations = v.incarnations[len(v.incarnations)-1:]\n")),
		one("a late sign ends an incident of a former leader", "M5", fileReconcile,
			"&& (v.Incarnation > c.journal.lastFailed(t.ID) ||\n\t\t\tnow.Sub(t.since) >= c.cfg.StartTimeout):\n", ":\n"),
		one("a medic that is cut off acts at once", "M7", fileIsolation, "	return quiet >= c.cfg.freshTimeout() && quiet < enough\n",
			"	return quiet >= c.cfg.freshTimeout() && quiet < enough && quiet < 0\n"),
		one("a medic that was cut off acts on what it has missed", "M6", fileReceive, "	if quiet >= c.cfg.SuspectAfter/2 {\n",
			"	if quiet >= 1000*c.cfg.SuspectAfter {\n"),
		plainly(from(3550, one("an order leaves although the medic hears nothing any more", "M7", fileOrdering,
			"!v.silentSince.Before(t.decided) || !o.Ended && c.isolated(c.det.ticks.Last()) {\n", "!v.silentSince.Before(t.decided) {\n"))),
		one("the last medic alive waits for ever", "M7", fileConfig, "		c.IsolationTimeout = 4 * c.SuspectAfter\n",
			"		c.IsolationTimeout = 4000 * c.SuspectAfter\n"),
		one("a new leader begins the back-off again", "M5", fileJournal, "		case e.Node != who || e.Term == counted.Term:\n",
			"		case e.Gen < j.entries[len(j.entries)-1].Gen:\n			return max(most, n)\n		case e.Node != who || e.Term == counted.Term:\n"),
		plainly(from(4100, one("time that a medic slept through counts as the life of others", "M5", fileDetector,
			"		v.firstSign = v.firstSign.Add(gap) // time in which this medic slept does not show that the incarnation worked\n", ""))),
		one("a row of failures ends with a life before it", "M5", fileReconcile, "|| counted ||", "|| counted && now.IsZero() ||"),
		from(449, one("candidates do not listen to objections", "M2", fileBully, "	if c.role == candidate && c.rank",
			"	if now.IsZero() && c.role == candidate && c.rank")),
		plainly(from(2900, one("an outdated order is carried out", "M4", fileFence, "	case now.After(o.Until):\n		r.Verdict = Late\n", ""))),
		one("the term of a leader does not say in which life it leads", "M8", fileBully,
			"	c.enterTerm(Term{last + 1, c.cfg.Self, c.cfg.Life}, now)\n", "	c.enterTerm(Term{last + 1, c.cfg.Self, 0}, now)\n"),
		one("a fence that was set back stays back", "R14", fileCore, "c.fencedAt, c.out.Fence = now, c.stored //", "c.fencedAt = now //"),
		one("any generation is believed", "M10", fileSane,
			"func (g Generation) reaches(next Generation) bool { return saneStep(uint64(g), uint64(next)) }",
			"func (g Generation) reaches(next Generation) bool { return g < next || true }"),
		one("any incarnation is believed", "M10", fileDetector, "	return saneStep(last, id.Incarnation)\n",
			"	return saneStep(last, id.Incarnation) || last >= 0\n"),
		from(399, one("a row of failures ends by the clock of another medic", "M5", fileJournal, "now.Sub(j.learned[e.EntryID]) > rowTimeout",
			"now.Sub(e.At) > rowTimeout")),
		one("a node that is busy is taken for one that hangs", "N9", fileSign, "	if s.MarkAge >= backstop*cfg.StuckAfter {\n",
			"	if s.MarkAge >= cfg.StuckAfter/6 {\n"),
		from(230, one("medics do not leave a node the time to end itself", "N9", fileSign, "const backstop = 2\n", "const backstop = 1\n")),
		from(230, one("no medic ends a node that cannot end itself", "N9", fileSign, "		return s.MarkAge\n", "		return 0\n")),
		from(230, one("a sign that a loop hangs is a sign of life", "N9", fileDetector, "v.standsFor > 0 {\n		return true\n",
			"v.standsFor > 0 && v.known {\n		v.lastSign, v.silentSince = now, now\n		return true\n")),
		one("a node that reads its log back has recovered", "N9", fileDetector,
			"v.works || !s.Recovering && (s.Mark == 0 || s.Mark != v.firstMark)", "v.works || s.Mark != v.firstMark"),
		one("a node that is heard has recovered", "N9", fileReconcile, "	case reborn && v.works:\n", "	case reborn:\n"),
		one("the first heartbeat is a recovery", "N9", fileDetector, "!s.Recovering && (s.Mark == 0 || s.Mark != v.firstMark)", "!s.Recovering"),
		one("work of a former life counts as progress", "N9", fileDetector, "v.firstSign, v.firstMark, v.works = now, s.Mark, false\n",
			"v.firstSign, v.firstMark = now, s.Mark\n"),
		from(79, one("an order after the note of a start counts as outdated", "M7", fileFence, "	case last.Order.Gen > o.Gen:\n",
			"	case last.Order.Gen > o.Gen && f.Down:\n")),
		from(135, one("a medic that was cut off does not wait for nodes that were never heard", "M6", fileIsolation,
			"			t.wait = max(t.wait, c.cfg.SuspectAfter)\n", "")),
		from(800, one("of two rows of one generation the last one in the journal counts", "M5", fileJournal,
			"		case counted.Gen > e.Gen && !j.learned[e.EntryID].After(j.learned[counted]):", "		case counted.Gen > 0:")),
		from(67, one("an order leaves although its target is heard at the decision", "M6", fileOrdering,
			"!v.silentSince.Before(t.decided) || !o", "v.silentSince.After(t.decided) || !o")),
		plainly(from(17900, one("doubtful signs do not count", "M6", fileDetector, "		if v.disputed(id) {\n			v.silentSince = now\n		}\n", ""))),
	}
}

// plainly searches seeds without loops that are busy or hang: the ones that are known to show the bug tell another story with them.
func plainly(m mutants.Mutant) mutants.Mutant {
	m.Args = []string{"-plain"}
	return m
}

// rareBugs are bugs that hardly a seed shows. Each has a test that finds it.
func rareBugs() []mutants.Mutant {
	const (
		time     = "./medic/core TestM5_AStartGetsMoreTimeAfterEachThatFailed"
		logs     = "./medic/core TestR8_LateSignsOfSeveralLostLogsDoNotCount"
		lateSign = "a late sign of log"
	)
	return []mutants.Mutant{
		by(time, "start 1 gets", one("the timeout of a start does not grow", "M5", fileReconcile, "c.cfg.StartTimeout<<min(t.failed, 3)",
			"c.cfg.StartTimeout")),
		by(time, "start 2 gets", one("the timeout of a start grows once", "M5", fileReconcile, "<<min(t.failed, 3)", "<<min(t.failed, 1)")),
		by(time, "start 4 gets", one("the timeout of a start grows without bound", "M5", fileReconcile, "<<min(t.failed, 3)",
			"<<min(t.failed, 30)")),
		by(time, "start 1 gets", one("starts that failed are not counted", "M5", fileReconcile, "		t.failed++\n", "")),
		by(time, "row 1, start 0 gets", one("a recovery does not end the row of failed starts", "M5", fileReconcile, "		t.failed = 0\n",
			"		_ = t\n")),
		by(logs, lateSign, one("a failed node is known by its last log alone", "R8", fileReconcile, "slices.Clone(v.incarnations)\n",
			"slices.Clone(v.incarnations[max(0, len(v.incarnations)-1):])\n")),
		by(logs, lateSign, one("two logs of a member are remembered", "R8", fileDetector, "const maxIncarnations = 8",
			"const maxIncarnations = 2")),
	}
}

// by names the test that must find a bug, and what it must say.
func by(test, says string, m mutants.Mutant) mutants.Mutant {
	m.Test, m.Says = test, says
	return m
}
