package sim

import "posta.dev/posta/test/simulator/mutants"

// pageBugs are bugs in tables that leave an aggregator in several pages.
func pageBugs() []mutants.Mutant {
	return []mutants.Mutant{
		one("pages leave though there is no room", "R9", fileEnd, "	case !c.room(s.reference(at.stream)):\n", "	case false:\n"),
		{Name: "role: an aggregator's snapshot without the rows that have left", Rule: "N3", Or: []string{"D1", "R5"},
			Because: "rows that leave twice are counted twice", From: 100,
			Edits: []mutants.Edit{{File: "nodes/aggregator/durable.go", Old: "	dst = wire.AppendUint(dst, uint64(st.next))\n",
				New: "	dst = wire.AppendUint(dst, 0)\n"}}},
	}
}
