package sim

import "posta.dev/posta/test/simulator/mutants"

// rewireBugs are bugs that only a change of the topology shows: one seed in sixteen has such changes.
func rewireBugs() []mutants.Mutant {
	bug := func(name string, from uint64, rules []string, because string, e mutants.Edit) mutants.Mutant {
		return mutants.Mutant{Name: "topology: " + name, Rule: rules[0], Or: rules[1:], Because: because, From: from, Edits: []mutants.Edit{e}}
	}
	return []mutants.Mutant{
		bug("numbers of a departed link are given out again", 1439, []string{"R2", "R14"},
			"a receiver that comes back takes the sender's log for one that was set back",
			mutants.Edit{File: fileSnapshot, Old: "append(c.progress(), c.departed.out...)", New: "c.progress()"}),
		bug("what a departed sender had sent is forgotten", 1183, []string{"R14", "N3", "R5"},
			"the checker reads it from the records before the sender says it",
			mutants.Edit{File: fileSnapshot, Old: "Hwms: slices.Clone(c.departed.in)", New: "Hwms: slices.Clone(c.departed.in[:0])"}),
		bug("a session continues in another topology", 400, []string{"R12", "R11", "D1"},
			"what it waits for, or counts, is that of two topologies",
			mutants.Edit{File: fileSession, Old: "s.Wiring == \"\" || s.Wiring == c.cfg.Wiring", New: "s.Wiring == \"\" || s.Wiring != \"?\""}),
	}
}
