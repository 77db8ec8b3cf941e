package sim

import "posta.dev/posta/test/simulator/mutants"

// joinBugs are bugs in joins of large tables: in the choice of the rows that travel, in the rows that wait in the aggregators, and in
// the tables that aggregators make from them.
func joinBugs() []mutants.Mutant {
	const (
		making  = "nodes/aggregator/making.go"
		waiting = "rows/fold/waiting.go"
		parts   = "analyses/sql/exec/parts.go"
	)
	all := []mutants.Mutant{
		one("joins: a table is made as soon as one of its tables is complete", "D1", making,
			"role.Complete(st.Analysis, i, st.ended) && !role.Complete(st.Analysis, i, was) {", "!slices.Contains(was, true) {"),
		one("joins: rows are joined again with the next part", "D1", "analyses/making.go", "			t.Reset()\n			if err := m.from[i]",
			"			if err := m.from[i]"),
		one("joins: a part that one table has no rows for is left out", "D1", "analyses/making.go", "			some = some || t.Len() > 0\n",
			"			some = (some || i == m.a.MadeOf(m.table)[0]) && t.Len() > 0\n"),
		one("joins: rows wait in the parts in turn", "D1", waiting, "	return &waitingParts{w, w.last.Parted()}\n",
			"	turn := 0\n	return &waitingParts{w, &parted{w.last, w.last.split(Parts, func(uint64) int { turn++; return turn % Parts })}}\n"),
		one("joins: rows travel to the aggregator of more than the key", "D1", parts, "PartitionBy: len(l.Parts), Nulls",
			"PartitionBy: len(l.Parts) + 1, Nulls"),
		one("joins: a NULL beside the key is a value", "D1", parts, "v.Any = t.KeyNulls(", "t.KeyNulls("),
		one("joins: sums of a part stay in the accumulator", "D1", parts, "	w.settle(t)\n	return t.Err()\n", "	return t.Err()\n"),
	}
	for i := range all {
		all[i].Args = []string{"-sql"}
	}
	return all
}
