package main

import (
	"fmt"
	"path/filepath"
	"strings"
)

// table is a stream of an analysis: the pattern of its files below the directory, and the needed columns.
type table struct {
	name    string
	files   string
	comma   rune
	columns columns
}

// views makes a view of each stream. Its column folder has the folder of a row's file. A view costs nothing until it is used,
// and reads its files at each use.
func (e *engine) views(tables ...table) error {
	for _, t := range tables {
		files, err := e.files(t.files)
		if err != nil {
			return err
		}
		parts := make([]string, len(files))
		for i, f := range files {
			s, err := scan(f, t.comma, t.columns)
			if err != nil {
				return err
			}
			parts[i] = fmt.Sprintf("SELECT %s AS folder, * FROM %s", quote(filepath.Base(filepath.Dir(f))), s)
		}
		if err := e.exec("view "+t.name, "CREATE TEMP VIEW "+t.name+" AS "+strings.Join(parts, "\nUNION ALL BY NAME ")); err != nil {
			return err
		}
	}
	return nil
}

// numbered is a view with its rows numbered in the order of the file. It is for small files in which a later row of a key
// replaces an earlier one, or the other way round.
func numbered(view string) string { return "(SELECT *, row_number() OVER () AS n FROM " + view + ")" }
