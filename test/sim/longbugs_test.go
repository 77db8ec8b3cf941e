package sim

import "posta.dev/posta/test/simulator/mutants"

// longBugs are bugs in long answers, which no process holds as a whole.
func longBugs() []mutants.Mutant {
	const (
		pass  = "nodes/internal/reducer/pass.go"
		rows  = "nodes/output/rows.go"
		merge = "nodes/output/merge.go"
		store = "nodes/shell/store.go"
	)
	return []mutants.Mutant{
		one("a reducer passes rows on twice", "D1", pass, "\t\t\tp.Rows = nil\n",
			"\t\t\tout.Emit(0, role.Message{Stream: m.Stream, Payload: p.Append(nil)})\n\t\t\tp.Rows = nil\n"),
		{Name: "a merge drops rows that are equal", Rule: "D1",
			Edits: []mutants.Edit{{File: merge, Old: "\t\tprogress.Mark()\n\t\tif err := m.q.order.ReadRow(h.row, cells); err != nil {",
				New: "\t\tif again := bytes.Equal(h.row, m.equal); again {\n\t\t\tm.rows++\n\t\t\tif more, err := m.advance(h); err != nil " +
					"{\n\t\t\t\treturn p, err\n\t\t\t} else if more {\n\t\t\t\theap.Fix(&m.heads, 0)\n\t\t\t} else " +
					"{\n\t\t\t\theap.Pop(&m.heads)\n\t\t\t}\n\t\t\tcontinue\n\t\t}\n\t\tm.equal = bytes.Clone(h.row)\n\t\tif err := " +
					"m.q.order.ReadRow(h.row, cells); err != nil {"},
				{File: merge, Old: "\tlimit int // bytes of rows in a part\n", New: "\tlimit int\n\tequal []byte\n"}}},
		{Name: "a merge reads one run behind the other", Rule: "D1",
			Edits: []mutants.Edit{{File: merge, Old: "\treturn c < 0 || c == 0 && h[i].run < h[j].run\n",
				New: "\treturn c < 2 && h[i].run < h[j].run\n"}}},
		{Name: "an output's snapshot without the rows that are in no run yet", Rule: "N3", Or: []string{"D1"},
			Because: "rows that are gone are missing in the answer",
			Edits:   []mutants.Edit{{File: rows, Old: "\t\tb = wire.AppendBin(b, q.pending)\n", New: "\t\tb = wire.AppendBin(b, nil)\n"}}},
		{Name: "an output's snapshot without the order of the rows", Rule: "N3", Or: []string{"D1"},
			Because: "rows are then shown with the cells that they are sorted by, or not at all",
			Edits: []mutants.Edit{{File: rows, Old: "\t\t\tq.order = role.ReadOrder(d, len(q.columns))\n",
				New: "\t\t\trole.ReadOrder(d, len(q.columns))\n"}}},
		one("a reducer passes the rows of a message on with those of the message before", "D1", pass, "\tt.Reset()\n", ""),
		one("rows are sorted as if all of their cells ascended", "D1", "nodes/role/passed.go",
			"\treturn protocol.Direction{Desc: o[i].Desc, NullsFirst: o[i].NullsFirst}\n", "\treturn protocol.Direction{}\n"),
		{Name: "what nothing refers to is swept, and all else", Rule: "R13", From: 401,
			Edits: []mutants.Edit{{File: store, Old: "j.Sweep, j.Keep = true, s.core.Files()", New: "j.Sweep, j.Keep = true, nil"}}},
	}
}
