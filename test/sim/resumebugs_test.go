package sim

import "posta.dev/posta/test/simulator/mutants"

const (
	fileCoverage    = "nodes/input/coverage/coverage.go"
	fileCovered     = "nodes/input/covered.go"
	fileDurable     = "nodes/input/durable.go"
	fileResume      = "client/resume/resume.go"
	fileResumeLanes = "client/core/resume.go"
)

// resumeBugs are bugs in uploads that another client resumes.
func resumeBugs() []mutants.Mutant {
	asIt := "a recovered node is compared with the one that stands"
	missed := "the roles miss the rows that nobody has sent"
	return []mutants.Mutant{
		one("resume: pieces with a gap between them become one", "R17", fileCoverage, "	if i > 0 && f.pieces[i-1].To == p.From {\n",
			"	if i > 0 && f.pieces[i-1].To <= p.From {\n"),
		from(728, one("resume: only the first input is asked", "R17", fileResume, "	for i := range answers {\n		a",
			"	for i := range answers[:1] {\n		a")),
		from(289, or("N3", asIt, one("resume: what was taken is not in the snapshot", "R17", fileDurable, "u.appendReads(u.covered.Append(b))",
			"u.appendReads((&coverage.Set{}).Append(b))"))),
		or("N3", asIt, one("resume: a chunk's record does not say where it comes from", "R17", fileCovered,
			"	return coverage.AppendChunk(b, *from)\n", "	return wire.AppendNil(b)\n")),
		// No client can notice this bug: each row that it sends is right, and is acknowledged.
		from(1523, or("R12", missed, or("R11", missed, many("resume: rows before what was taken are lost", "R17",
			edit(fileResume, "	if taken = f.at >= next; taken {\n", "	if taken = true; taken {\n"),
			edit(fileResume, "		if f.sum != p.Sum {\n", "		if f.sum != p.Sum && f.at == 0 {\n"))))),
		one("resume: lanes begin with their first number", "R17", fileResumeLanes, "		l.seq = l.input.former[at].Seq\n", ""),
		from(289, one("resume: an end leaves out the lanes of the former client", "R17", fileResumeLanes, "	if len(in.former) > 0 {\n",
			"	if len(in.former) > 1<<20 {\n")),
	}
}
