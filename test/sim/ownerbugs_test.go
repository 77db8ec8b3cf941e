package sim

import "posta.dev/posta/test/simulator/mutants"

const (
	fileOutput         = "nodes/output/output.go"
	fileOutputRequests = "nodes/output/requests.go"
)

// ownerBugs are bugs that only clients with names and roles show (S5).
func ownerBugs() []mutants.Mutant {
	bug := func(name string, edits ...mutants.Edit) mutants.Mutant {
		return many("owner: "+name, "S5", edits...)
	}
	snapshot := bug("lost in an output's snapshot", edit("nodes/output/durable.go",
		"Holder: gateway.ReadHolder(&d)}", "Holder: gateway.Holder{Openers: gateway.ReadHolder(&d).Openers}}"))
	snapshot.Or, snapshot.Because = []string{"N3"}, "a recovered node is compared with the one that stands"
	return []mutants.Mutant{
		bug("not in the announcement", edit(fileInputRequests, ", Owner: r.Client.Name}", "}")),
		bug("a session is everybody's", edit(fileAccess, "		return to.Name == h.Owner || h.unknown()",
			"		return to.Name != \"\" || h.unknown()")),
		bug("not compared at an input", edit(fileInputRole, "h.Shows(by, req.Type) {\n			return u\n",
			"h.Shows(by, req.Type) || true {\n			return u\n")),
		bug("not compared at an output", edit(fileOutputRequests, "r != nil && means(&r.Holder, by, req) {", "r != nil {")),
		bug("not compared for what is over", edit(fileOutputRequests, "ok && means(&gone.Holder, by, req) {", "ok {")),
		bug("an input lists the sessions of all", edit(fileInputRequests, "!h.Shows(to, protocol.Sessions) {",
			"!h.Shows(to, protocol.Sessions) && in == nil {")),
		bug("an output lists the sessions of all", edit(fileOutputRequests, "!r.Shows(to, protocol.Sessions) {", "r == nil {")),
		bug("a stranger closes an answer",
			edit(fileOutput, "r.Shows(by.Identity, protocol.Close) && r.heeds(", "r.heeds("),
			edit(fileAccess, "	return h.Shows(by.Identity, ask) && (", "	return (")),
		bug("another owner takes a session over",
			edit(fileInputRequests, "	case u != nil && u.Owner != r.Client.Name:\n", "	case u != nil && in == nil:\n"),
			edit(fileInputRequests, "	a.Openers, a.Trace, a.Wiring = u", "	a.Owner = u.Owner\n	a.Openers, a.Trace, a.Wiring = u")),
		bug("lost in an input's memory of what is over", edit(fileInputRole, "		gone.Holder = u.holder()\n", "		gone.Openers = u.Openers\n")),
		snapshot,
		bug("lost when an answer goes", edit(fileOutput, "		t.Holder = r.Holder\n", "		t.Openers = r.Openers\n")),
		bug("a claim fails the session of another owner", edit(fileSession, "	case known && why.claim() && here.Owner != why.Owner:\n",
			"	case known && why.claim() && here.Owner == \"?\":\n")),
		from(500, bug("a claim bars the open of another owner", edit(fileTake, "ok && !(gone.claim() && (err != nil || !gone.same(&s))) {",
			"ok {"))),
		bug("inputs believe the claim of another owner", edit(fileInputRole, "e.Owner != \"\" && e.Owner != u.Owner:\n", "e.Owner == \"?\":\n")),
		bug("who watches may close", edit(fileAccess, "	protocol.Close:    {nobodys, own, everybodys},\n",
			"	protocol.Close:    {everybodys, own, everybodys},\n")),
	}
}
