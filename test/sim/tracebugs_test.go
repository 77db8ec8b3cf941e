package sim

import "posta.dev/posta/test/simulator/mutants"

const (
	fileTraceRecorder = "nodes/trace/recorder.go"
	fileTraceOutbox   = "nodes/trace/outbox.go"
	fileTraceSession  = "nodes/trace/session.go"
	fileTraceReport   = "nodes/trace/report.go"
)

// traceBugs are bugs in what a node records of its sessions (N8).
func traceBugs() []mutants.Mutant {
	return []mutants.Mutant{
		one("trace: a session that has left keeps running", "N8", fileTraceRecorder, "		if s.left && !s.building {\n",
			"		if s.left && s.building {\n"),
		one("trace: some time counts twice", "N8", fileTraceSession, "	s.line.add(s.state, s.since-s.begin, now-s.begin)\n	s.since = now\n",
			"	s.line.add(s.state, s.since-s.begin, now-s.begin)\n	if s.state != Log {\n		s.since = now\n	}\n"),
		one("trace: a frame that every receiver has still waits", "N8", fileTraceOutbox, "		q.waiting -= b.bytes\n", ""),
		one("trace: a session that was taken over never ends", "N8", fileSession, "		c.cfg.Trace.Left(s.trace, why.Failed)\n",
			"		if len(s.Openers) == 1 {\n			c.cfg.Trace.Left(s.trace, why.Failed)\n		}\n"),
		one("trace: a report without its last queue", "N8", fileTraceReport, "		b = wire.AppendArray(b, len(list))\n",
			"		list = list[:max(1, len(list))-1]\n		b = wire.AppendArray(b, len(list))\n"),
	}
}
