package client

import (
	"testing"

	"posta.dev/posta/test/simulator/mutants"
)

// TestMutants puts deliberate bugs, one at a time, into what reads Parquet, what carries columns and what leaves row groups out. The tests
// of the rule that each breaks must fail: C1 where rows or answers become others, R16 where damage is not noticed. It runs with
// POSTA_MUTANTS=1, or POSTA_MUTANTS="part of a name".
func TestMutants(t *testing.T)               { parquetBugs().Run(t) }
func TestMutants_TextsAreThere(t *testing.T) { parquetBugs().TextsAreThere(t) }

func parquetBugs() *mutants.Table {
	one := func(name, rule, file, old, new string) mutants.Mutant {
		return mutants.Mutant{Name: name, Rule: rule, Edits: []mutants.Edit{{File: file, Old: old, New: new}}}
	}
	return &mutants.Table{Package: "./client/source/parquet", ByName: true, Mutants: append(columnBugs(), []mutants.Mutant{
		one("a cell has the value of the previous word", "C1", "rows/columnar/scanner.go", "*cell = c.cells[code-1]; cell.OK",
			"*cell = c.cells[max(code, 2)-2]; cell.OK"),
		one("a NULL has the value of the previous row", "C1", "rows/columnar/scanner.go",
			"			if c.isNull(s.row) {\n				if cell != nil {\n					cell.OK = false\n",
			"			if c.isNull(s.row) {\n				if cell != nil {\n					cell.OK = cell.OK && s.row > 0\n"),
		one("the NULLs of seven rows are read as those of eight", "C1", "rows/columnar/column.go", "c.nulls[row/8]>>(row%8)&1",
			"c.nulls[row/8]>>(row%7)&1"),
		one("numbers of four bytes have a sign", "C1", "rows/columnar/reader.go",
			"uint64(binary.LittleEndian.Uint32(p[4*row:]))", "uint64(int32(binary.LittleEndian.Uint32(p[4*row:])))"),
		one("words of the previous chunk are still known", "C1", "rows/columnar/writer.go", "	if c.round++; c.round == 0 {\n",
			"	if c.round == 0 {\n"),
		one("milliseconds are taken for microseconds", "C1", "client/source/parquet/convert.go", "dst[i] = v * 1000", "dst[i] = v"),
		one("unsigned numbers have a sign", "C1", "client/source/parquet/convert.go", "dst[i] = v & math.MaxUint32", "dst[i] = v"),
		one("a block has NULLs in its first 64 rows alone", "C1", "rows/columnar/blocks.go", "at := c.rows + k*64\n", "at := c.rows\n"),
		one("rows after a skipped row group have its line numbers", "C1", "client/source/parquet/cutter.go",
			"rows\n		c.line = uint64(c.Done) + 2\n", "rows\n"),
		one("rows after lines that are left out have their line numbers", "C1", "client/source/parquet/cutter.go",
			"		c.leaveOut(gap)\n		c.line = uint64(c.Done) + 2\n", "		c.leaveOut(gap)\n"),
		one("a row group is skipped although its greatest value is wanted", "C1", "analyses/sql/exec/skips.go",
			"return most < low || least > high, true", "return most <= low || least > high, true"),
		one("a row group is skipped although its rows are rejected", "C1", "analyses/sql/exec/skips.go",
			"out, typed := excludes(w, &s.Table.Columns[i], of(i))\n			if out || !typed {",
			"out, _ := excludes(w, &s.Table.Columns[i], of(i))\n			if out {"),
		one("a row group with some NULLs is skipped", "C1", "client/source/parquet/ranges.go", "s.counted && s.nulls == values &&",
			"s.counted && s.nulls > 0 &&"),
		one("bounds of floats are trusted", "C1", "client/source/parquet/ranges.go",
			"	return csv.KindUnknown, false\n", "	if e.kind == kindDouble {\n		return csv.KindDecimal, false\n	}\n	return csv.KindUnknown, false\n"),
		one("older bounds of unsigned numbers are trusted", "C1", "client/source/parquet/ranges.go", "return csv.KindInteger, unsigned",
			"return csv.KindInteger, false"),
		one("decimals that are cut short are accepted", "C1", "client/source/parquet/ranges.go", "case s.inexact && kind != csv.KindBytes:",
			"case s.inexact && kind == csv.KindNone:"),
		one("the number of a word is not compared", "R16", "client/source/parquet/take.go", "int64(most) >= int64(words)",
			"int64(most) > int64(words)"),
		one("a prefix may be longer than the previous text", "R16", "client/source/parquet/values.go",
			"if size < 0 || size > int64(len(v.made)-v.before) {", "if size < 0 || size > int64(cap(v.made)-v.before) {"),
		one("levels are not compared", "R16", "client/source/parquet/hybrid.go", "			if h.value > most {\n",
			"			if h.value > most && n == 0 {\n"),
	}...)}
}
