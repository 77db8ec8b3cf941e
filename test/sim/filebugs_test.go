package sim

import "posta.dev/posta/test/simulator/mutants"

const (
	fileCutting    = "nodes/inplace/cutting.go"
	fileInputRead  = "nodes/input/read.go"
	fileClientRead = "client/core/read.go"
)

// fileBugs are bugs in the reading of files in place.
func fileBugs() []mutants.Mutant {
	asIt := "a recovered node is compared with the one that stands"
	all := []mutants.Mutant{
		from(216, one("files: nobody looks whether they change", "S8", fileCutting, "	if err != nil || is == c.read.Stamp {\n",
			"	if err != nil || is != (protocol.Stamp{}) {\n")),
		from(416, many("files: they may change while they are read", "S8",
			edit(fileCutting, "changed != nil {\n", "changed != nil && c.read.From < 0 {\n"),
			edit(fileCutting, "	if err == nil && (look || to == c.read.To) {\n", "	if err == nil && look && to < 0 {\n"))),
		or("N3", asIt, one("files: what was fed is not recorded", "S8", fileInputRead,
			"	in.Host.Record(encodeRange(u.ID, lane, p.To, p.Line, sum))\n", "")),
		or("N3", asIt, one("files: recovery begins a file again", "S8", fileDurable, "		u.advance(lane, to, line)\n",
			"		u.advance(lane, rd.at, line)\n")),
		many("files: what is read is not in the snapshot", "N3",
			edit(fileDurable, "		if rd.begun {\n", "		if rd.at < 0 {\n"),
			edit(fileDurable, "rd.begun { // of the others", "rd.at < 0 { // of the others")),
		from(904, one("files: what was read of them is told to nobody", "R17", fileInputRead, "Size: uint64(to - rd.at), Sum", "Size: 0, Sum")),
		from(2856, one("files: read on after a takeover", "R17", fileInputRead, "	clear(u.reads)\n", "")),
		one("files: declined when half of it was fed", "S8", fileInputRead, "	case p.Err != nil && !rd.begun:\n", "	case p.Err != nil:\n"),
		from(264, one("files: one that is declined is not sent", "D1", fileClientRead, "FileEnd{Conn: l.conn.id, Taken: taken}",
			"FileEnd{Conn: l.conn.id, Taken: true}")),
		one("files: lines are counted from where the node came back", "D1", fileInputRead, "rd.at, rd.line = to, line; to",
			"rd.at = to; to"),
		or("R3", "its client hears that a number before it is missing", one("files: a repeated read is a gap", "R17", fileInputRead,
			"	case rd != nil && rd.seq == req.Seq:\n", "	case rd != nil && rd.seq == req.Seq && arrived && in.now.IsZero():\n")),
		many("files: read as soon as its input has begun", "R17",
			edit(fileClientRead, "	taken := err == nil && reply.Seq > 0\n", "	taken := err == nil\n"),
			edit(fileClientRead, "	if taken && (reply.Lane", "	if taken && reply.Seq > 0 && (reply.Lane"),
			edit(fileClientRead, " || taken && reply.At != end) {", ") {")),
	}
	for i := range all {
		all[i].Args = []string{"-files"}
	}
	return all
}
