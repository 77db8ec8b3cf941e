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
		one("joins: rows wait in the part of the whole row", "D1", waiting, "w.add(partOf(Hash(key)), w.row)",
			"w.add(partOf(Hash(w.row)), w.row)"),
		one("joins: rows travel to the aggregator of the whole row", "D1", "analyses/sql/exec/reduce.go",
			"Merge: fold.Never, PartitionBy: 1,\n\t\t\tKeys: []fold.Key{{Name: \"key\"", "Merge: fold.Never, PartitionBy: 2,\n\t\t\tKeys: "+
				"[]fold.Key{{Name: \"key\""),
		one("joins: a NULL beside the key is the value of the row before", "D1", parts,
			"	case v.IsNull(row):\n		return append(b, 0)\n	case v.Kind == types.Text:", "	case v.Kind == types.Text:"),
		one("joins: sums of a part stay in the accumulator", "D1", parts, "	w.settle(t)\n	return t.Err()\n", "	return t.Err()\n"),
	}
	for i := range all {
		all[i].Args = []string{"-sql"}
	}
	return all
}
