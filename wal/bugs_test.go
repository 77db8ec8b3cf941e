package wal

import (
	"testing"

	"posta.dev/posta/test/simulator/mutants"
)

// TestMutants puts deliberate bugs into this package, one at a time. The tests of the rule that a bug breaks must fail. It runs with
// POSTA_MUTANTS=1, or POSTA_MUTANTS="part of a name".
func TestMutants(t *testing.T)               { bugs().Run(t) }
func TestMutants_TextsAreThere(t *testing.T) { bugs().TextsAreThere(t) }

func bugs() *mutants.Table {
	one := func(name, rule, file, old, new string) mutants.Mutant {
		return mutants.Mutant{Name: name, Rule: rule, Edits: []mutants.Edit{{File: file, Old: old, New: new}}}
	}
	return &mutants.Table{Package: "./wal", ByName: true, Mutants: []mutants.Mutant{
		one("the last segment is synced and not written again", "W4", "wal/settle.go",
			"	err = replaceFile(l.fs, name, b[:s.end])\n", "	err = changeFile(l.fs, name, func(f File) error { return f.Truncate(s.end) })\n"),
		one("a seal is not written again", "W4", "wal/settle.go",
			"	if newest > 0 && p.segments[newest].scan.size == 0 {\n", "	if newest < 0 {\n"),
		one("the last record is written again, not the last append", "W4", "wal/scan.go",
			"		s.lastAppend = s.offsetOf(e.group())\n", "		s.lastAppend = s.end\n"),
		one("a torn tail needs room for its copy", "W5", "wal/settle.go", "	if isNoSpace(err) && !noDescriptor(err) {\n		c.Kept",
			"	if err == nil && s.size < 0 {\n		c.Kept"),
		one("Append returns before the fsync", "W3", "wal/append.go", "	if err := l.tail.sync(); err != nil {\n",
			"	if err := error(nil); err != nil {\n"),
		one("the log continues after a failed fsync", "W4", "wal/log.go", "	if l.failed == nil {\n		l.failed = err\n	}\n", ""),
		one("a write without room is not undone", "W5", "wal/store.go",
			"	err := w.file.Truncate(size)\n", "	err := error(nil)\n"),
		one("a renamed file is not durable", "W3", "wal/fs.go", "	return syncDir(fsys, filepath.Dir(name))\n", "	return nil\n"),
		one("damage is taken for a torn tail", "W2", "wal/torn.go", "		if e.group() > bad || !torn {\n", "		if e.group() == 0 && torn {\n"),
		one("the checksum is not compared", "W2", "wal/record.go", "	if crc != binary.LittleEndian.Uint32(b[crcAt:]) {\n",
			"	if crc == 0 && len(b) == 0 {\n"),
	}}
}
