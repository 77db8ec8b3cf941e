package sim

import "posta.dev/posta/test/simulator/mutants"

// spillBugs are bugs in tables that move to files because they take too much memory.
func spillBugs() []mutants.Mutant {
	const (
		spill   = "nodes/aggregator/spill.go"
		durable = "nodes/aggregator/durable.go"
		store   = "nodes/internal/runs/store.go"
		set     = "nodes/internal/runs/set.go"
		core    = "nodes/core/spill.go"
	)
	twice := "rows that leave twice are counted twice"
	return []mutants.Mutant{
		or("N3", "a recovered node is compared with the one that stands",
			one("tables: what has moved to a file stays in memory, too", "D1", spill, "		st.empty(i)\n", "")),
		one("tables: a move to files is not recorded", "N3", core, "			c.record(in)\n", ""),
		one("tables: recovery repeats no move to files", "N3", core, "	_, err := sp.Spill(in.Session, in.Payload)\n	return err\n",
			"	_ = sp\n	return nil\n"),
		or("N3", "a recovered node is compared with the one that stands",
			one("tables: a snapshot without the names of files", "D1", durable, "	dst = a.Of(id).Append(dst)\n",
				"	dst = a.Of(session.ID{}).Append(dst)\n")),
		from(123, one("tables: files are swept that a session still needs", "R13", store,
			"		set.each(func(r *run) { names = append(names, r.name) })\n", "		set.each(func(*run) {})\n")),
		one("tables: files are removed as soon as their session moves more", "R13", store, "	if s.sets[id] == nil {\n",
			"	if set := s.sets[id]; set != nil {\n		set.each(func(r *run) {\n			if r.parts == nil {\n				s.dropped = append(s.dropped, "+
				"r.name)\n			}\n		})\n	} else {\n"),
		one("tables: the last file of a table is not read", "D1", set, "	for i := range s.Len(list) {\n		if err := s.readRun(",
			"	for i := range max(1, s.Len(list)) - 1 {\n		if err := s.readRun("),
		from(460, or("D1", twice, one("tables: after a start a part leaves from its beginning", "N3", durable,
			"uint64(st.parts.from)), uint64(st.parts.left))", "uint64(st.parts.from)), 0)"))),
		from(300, or("D1", twice, one("tables: after a start the first part leaves again", "N3", durable,
			"uint64(st.parts.from)), uint64(st.parts.left))", "0), uint64(st.parts.left))"))),
		or("R13", "a reducer that gets a key twice fails the session, and nothing permits that",
			one("tables: rows that have left a table move to a file, too", "D1", spill, "			from = st.next\n", "			from = 0\n")),
	}
}
