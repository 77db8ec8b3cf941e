package client

import "posta.dev/posta/test/simulator/mutants"

// columnBugs are bugs in what tests single columns and reads the others for the rows that pass, in rows that move to files, and in groups
// whose keys are columns.
func columnBugs() (all []mutants.Mutant) {
	const (
		filter = "client/source/parquet/filter.go"
		kept   = "client/source/parquet/kept.go"
		places = "client/source/parquet/places.go"
		where  = "analyses/sql/exec/tests.go"
		files  = "analyses/sql/exec/operators/"
		fold   = "rows/fold/"

		inFiles = "./analyses/sql/exec/operators TestE15_AnswersAreTheSameInFiles"
		blocks  = "./analyses/sql/exec/operators TestE15_SidesOfManyBlocksAreJoined"
		leftBe  = "./analyses/sql/exec/operators TestE15_FilesAreRemovedWhenTheSessionEnds"
		moves   = "./nodes/internal/reducer TestR16_TablesMoveToFiles"
		maps    = "./rows/fold FuzzD1_TablesAreMaps"
		copies  = "./rows/fold TestD1_CopiesAreMerges"
		ordered = "./analyses/sql/split TestE11_GroupsThatAreOnlyAddedUpAreNotSorted"
		shifted = "./analyses/sql/split TestD1_SumsOfNumbersWithConstants"
	)
	add := func(test, name, rule, file, old, new string) {
		all = append(all, mutants.Mutant{Name: name, Rule: rule, Test: test, Edits: []mutants.Edit{{File: file, Old: old, New: new}}})
	}
	add("", "the row behind pages that are excluded is excluded, too", "C1", filter, "f.keep.clear(int(from-f.from), int(to-f.from))",
		"f.keep.clear(int(from-f.from), min(n, int(to-f.from)+1))")
	add("", "NULL passes no test", "C1", filter, "				t.pass[row] = t.Null\n", "				t.pass[row] = false\n")
	add("./client/source/parquet TestC1_NumbersBeyondATestPassIt", "numbers beyond those that a test takes fail it", "C1", filter,
		"			pass[i] = pass[i] || v < t.low || v > t.high\n",
		"			pass[i] = pass[i] && v >= t.low && v <= t.high\n")
	add("", "words of the row group before are tested", "C1", filter,
		"t.owed, t.off, t.in, t.passed, t.known, t.nothing = 0, f.memory.full, 0, 0, false, false",
		"t.owed, t.off, t.in, t.passed, t.nothing = 0, f.memory.full, 0, 0, false")
	add("", "a test passes over rows twice", "C1", filter, "		t.owed = 0\n		if c.left == 0 {\n", "		if c.left == 0 {\n")
	add("./client/source/parquet TestC1_TestsWithoutMemoryExcludeNoRows", "a test without memory excludes rows", "C1", filter,
		"			f.keep, t.off = was, true\n",
		"			f.keep, t.off = mask{}, was.count() > 0\n")
	add("./client/source/parquet TestC1_AllWordsAreTested", "a dictionary is judged by its last words", "C1", filter,
		"		t.nothing = t.nothing && !slices.Contains(pass, true)\n",
		"		t.nothing = !t.Null && !slices.Contains(pass, true)\n")
	add("", "rows become NULL although NULL passes", "C1", filter, "		f.nulls = f.nulls || !test.Null\n", "		f.nulls = true\n")
	add("", "values of rows that are not kept are taken", "C1", kept, "		from += bits.OnesCount64(there)\n",
		"		from += bits.OnesCount64(has[w])\n")
	add("", "rows of the next block are taken for those of this one", "C1", kept, "		word |= m[at/64+1] << (64 - at%64)\n",
		"		word |= m[at/64+1] << (63 - at%64)\n")
	add("", "a page is not compared with its index", "C1", places, "h.values != c.rowsOf(k) || c.pos != p.at+p.size", "c.pos != p.at+p.size")
	add("./analyses/sql/exec TestC1_NULLPassesIfItPassesAllConditions", "NULL passes if it passes one of several conditions", "C1", where,
		"	c.null = pass[0] && (c.Cond == nil || c.null)\n",
		"	c.null = pass[0] || c.null\n")
	add("./analyses/sql/exec TestC1_NoConditionExcludesRowsThatFailBefore", "rows are excluded that fail before", "C1", where,
		"		if !plan.Pushable(part) {\n			return false\n		}\n", "		if !plan.Pushable(part) {\n			continue\n		}\n")
	add("./analyses/sql/exec TestC1_TextsThatAreCutShortMayBeOthers", "texts that are cut short are taken for whole ones", "C1", where,
		"string(r.Least), string(r.Most), r.Cut", "string(r.Least), string(r.Most), false")

	add(inFiles, "equal rows come in any order of their runs", "E15", files+"spill.go", "	return a.number < b.number\n",
		"	return a.number > b.number\n")
	add(inFiles, "keys that were seen come again from files", "E15", files+"dedup.go",
		"_, known := d.seen.ids[string(d.seen.key)]; !known {", "_, known := d.seen.ids[string(d.seen.key)]; !known || known {")
	add(inFiles, "equal right rows are counted once when they move", "E15", files+"sets.go",
		"		n.Ints, n.Nulls = append(n.Ints, m.left[id]), ", "		n.Ints, n.Nulls = append(n.Ints, min(1, m.left[id])), ")
	add(blocks, "left rows of later blocks have the partners of the first", "E15", files+"grace.go",
		"p.matched[(first+i)>>6] |= 1 << ((first + i) & 63)", "p.matched[i>>6] |= 1 << (i & 63)")
	add(inFiles, "a window ends where memory does", "E15", files+"windowing.go", "compare(partition, last, p) != 0 {",
		"compare(partition, last, p) >= -9 {")
	add(inFiles, "an error comes before the row that makes it unnecessary", "E15", files+"partitions.go",
		".Ints[p.row] > failed.at {", ".Ints[p.row] >= 0 {")
	add(inFiles, "the last rows of a file are not written", "E15", files+"shelf.go", "	return s.w.flush()\n", "	return nil\n")
	add(leftBe, "files of rows that were sorted stay", "E15", files+"executor.go", "	for f := range x.files {\n		f.remove()\n	}\n", "")
	add(inFiles, "runs are merged beyond the number that is needed", "E15", files+"sorter.go", "for n := 0; s.best == 0 || n < s.best; n++ {",
		"for n := 0; s.best == 0 || n < s.best-1; n++ {")

	add(maps, "NULL of a key is forgotten on the wire", "D1", fold+"append.go", "			out.Append(int64(t.key.nullsAt(t.index.key(row))))\n",
		"			out.Append(int64(t.key.nullsAt(t.index.key(row)) & 0xff))\n")
	add(moves, "a reducer forgets its files at a start", "R16", "nodes/internal/reducer/reducer.go", "	return r.Of(id).Append(dst)\n",
		"	return r.Of(session.ID{}).Append(dst)\n")
	add(copies, "a table that takes rows keeps one less of the smallest", "D1", fold+"move.go", "			c.smallest[to].add(v, c.agg.N)\n",
		"			c.smallest[to].add(v, c.agg.N-1)\n")
	add(ordered, "groups that somebody sees in their order are not sorted", "E11", "analyses/sql/split/unordered.go",
		"		case *plan.Filter, *plan.Project:\n", "		case *plan.Filter, *plan.Project, *plan.Windows:\n")
	add(shifted, "a constant that is subtracted is added", "D1", "analyses/sql/exec/shifted.go", "			c = -c\n", "			c = +c\n")
	add("./analyses/sql/split TestD1_SumsOfNumbersThatExceed", "numbers are added up together that exceed together", "D1",
		"analyses/sql/exec/shifted.go", "	return odd < 2*shiftedMost\n",
		"	return odd < 2*shiftedMost || n > 1\n")
	return all
}
