package question

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"posta.dev/posta/analyses/sql/syntax"
	"posta.dev/posta/client"
)

// name makes the files at a path the table's files.
func (q *Question) name(table, path string) {
	n := client.Named{As: table, Path: path}
	if in := q.cfg.Input; !slices.Contains(in.Named, n) {
		in.Named = append(slices.Clip(in.Named), n)
	}
}

// spell gives a table its name as --file spells it, and reports whether --file names it.
func (q *Question) spell(t *table) bool {
	i := slices.IndexFunc(q.cfg.Input.Named, func(n client.Named) bool { return strings.EqualFold(n.As, t.Name) })
	if i >= 0 {
		t.Name = q.cfg.Input.Named[i].As
	}
	return i >= 0
}

// checkPattern refuses a pattern of files that no cluster accepts.
func (q *Question) checkPattern(pattern string, at syntax.Pos) error {
	for _, segment := range strings.Split(pattern, "/") {
		if segment == "" || segment == "." || segment == ".." {
			hint := "Write it as 'trips/*.csv', relative to --data."
			switch {
			case pattern == "/dev/stdin":
				hint = "Standard input is '-'."
			case strings.Contains(pattern, "://"), strings.HasPrefix(pattern, "/"):
				hint = "Write FROM t, and name the file by --file t=" + pattern + "."
			}
			return q.fail(at, fmt.Sprintf("'%s' is not a path below the data directory", pattern), hint)
		}
	}
	if strings.ContainsAny(pattern, "?[\\") || strings.Contains(pattern, "**") {
		return q.fail(at, fmt.Sprintf("'%s' has more than stars in it", pattern),
			"A star stands for anything but a slash; there are no other wildcards.")
	}
	return nil
}

// filesOf returns the pattern that a name means: NAME.csv, else NAME/*.csv, else NAME.tsv; "" if none of them exists. If what is there is
// no file, that pattern is taken as well, so that an error names it.
func (q *Question) filesOf(name string) string {
	patterns := []string{name + ".csv", name + "/*.csv", name + ".tsv"}
	for _, has := range []func(string) bool{q.cfg.Input.Has, q.cfg.Input.HasEntry} {
		for _, pattern := range patterns {
			if q.checkPattern(pattern, 0) == nil && has(pattern) {
				return pattern
			}
		}
	}
	return ""
}

// inCase returns the only table of files whose name differs in case alone, "" if there is none.
func (q *Question) inCase(name string) string {
	others := slices.DeleteFunc(Names(q.cfg.Input), func(n string) bool { return !strings.EqualFold(n, name) })
	if len(others) != 1 {
		return ""
	}
	return others[0]
}

// Names returns the names of tables that files make: files that were named, and those of a directory.
func Names(in *client.Input) (names []string) {
	for _, n := range in.Named {
		if !strings.ContainsAny(n.As, "/.-") {
			names = append(names, n.As)
		}
	}
	var entries []fs.DirEntry
	for _, dir := range in.Dirs() {
		more, _ := in.List(dir) // a directory that cannot be read makes no tables; a statement that names one says why
		entries = append(entries, more...)
	}
	for _, e := range entries {
		name := e.Name()
		switch {
		case strings.HasPrefix(name, "."):
		case e.IsDir():
			if in.Has(name + "/*.csv") {
				names = append(names, name)
			}
		default:
			for ext := path.Ext(name); ext != ""; ext = path.Ext(name) {
				if name = strings.TrimSuffix(name, ext); in.Has(name+".csv") || in.Has(name+".tsv") {
					names = append(names, name)
					break
				}
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func (q *Question) hint() string {
	names := Names(q.cfg.Input)
	if len(names) == 0 {
		switch in := q.cfg.Input; {
		case len(in.Roots) > 0:
			return "There are no CSV files in " + strings.Join(in.Roots, " or ") + "; roots below [data] of the topology names other directories."
		case in.Dir == "":
			return "Name the directory of the files by --data DIR, or a file by --file NAME=PATH."
		}
		return "There are no CSV files in " + filepath.Clean(q.cfg.Input.Dir) + "; --data names another directory, --file NAME=PATH a file."
	}
	hint := "There are the tables " + strings.Join(names[:min(len(names), 10)], ", ") + "."
	for _, root := range q.cfg.Input.Roots {
		if _, err := os.Stat(root); errors.Is(err, fs.ErrNotExist) {
			hint += " This machine has no directory " + root + "."
		}
	}
	return hint
}
