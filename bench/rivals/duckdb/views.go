package main

import (
	"fmt"
	"path/filepath"
	"strings"
)

// table is a stream of an analysis: what its files are called below the directory, and what is needed of them.
type table struct {
	name    string
	files   string
	comma   rune
	columns columns
}

// views makes a view of each stream. Column folder of it says which folder a file was in; a view costs nothing but where it is
// used, and reads its files each time it is.
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

// numbered is a view with the rows numbered in the order of the file, for small files where a later row of the same key replaces
// an earlier one, or does not.
func numbered(view string) string { return "(SELECT *, row_number() OVER () AS n FROM " + view + ")" }
