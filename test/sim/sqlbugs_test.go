package sim

import "posta.dev/posta/test/simulator/mutants"

// sqlBugs are bugs in plans that travel with their sessions, in joiners that carry them out, and in the tail that runs
// in the reducer.
func sqlBugs() []mutants.Mutant {
	const (
		announce = "nodes/role/announce.go"
		joiner   = "analyses/sql/exec/joiner.go"
		lookup   = "analyses/sql/exec/lookup.go"
	)
	all := []mutants.Mutant{
		one("SQL: the plan does not travel", "Q1", announce, "wire.AppendBin(wire.AppendString(b, a.Owner), a.Plan)",
			"wire.AppendBin(wire.AppendString(b, a.Owner), nil)"),
		or("N6", "the groups of the counts are gone", one("SQL: a joiner adds to counts that it has handed on", "D1",
			"analyses/sql/aggregate/counts.go", "	c.n = c.n[:0]\n", "	_ = c.n\n")),
		one("SQL: a joiner keeps sums back", "D1", joiner, "			w.settle(j.tables[w.Table])\n", "			w.cache.Forget()\n"),
		one("SQL: groups are those of the batch before", "D1", joiner, "		w.pos.begin(pos)\n		w.cache.Forget()\n", "		w.pos.begin(pos)\n"),
		one("SQL: the place of a row is that in its batch", "D1", "analyses/sql/exec/position.go",
			"fold.AppendText(p.of[:0], pos.File.Name), int64(pos.Line))",
			"fold.AppendText(p.of[:0], pos.File.Name), 0)"),
		one("SQL: partners are numbered as they came", "D1", lookup, "				return compare(a.pos, b.pos)\n", "				return 0\n"),
		one("SQL: a parser folds what it has handed on once more", "D1", "analyses/sql/exec/folder.go", "		t.Reset()\n", "		_ = t.Reset\n"),
		one("SQL: what parsers fold stays in the joiner", "D1", fileJoiner, "slices.Concat(st.tables, st.folded)", "slices.Concat(st.tables)"),
		from(431, one("SQL: every joiner folds the reference rows", "D1", joiner, "	if !j.first || len(j.leaves[stream]) == 0 {\n",
			"	if len(j.leaves[stream]) == 0 {\n")),
	}
	all = append(all,
		one("SQL: a plan forgets the answers of passes", "D1", "analyses/sql/split/passes.go", "	for i, row := range rows {\n",
			"	for i, row := range rows[:0] {\n"),
	)
	for i := range all {
		all[i].Args = []string{"-sql"}
	}
	return all
}
