package out

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"posta.dev/posta/client"
)

// ErrUse is returned by Parse, Prepare and Write for a target that can never take these answers: a file of one table for several queries,
// or a directory where a file is needed.
var ErrUse = errors.New("answers cannot be written there")

// useError is an ErrUse whose text says only what to do.
type useError struct{ text string }

func (e *useError) Error() string      { return e.text }
func (*useError) Is(target error) bool { return target == ErrUse }

func usef(format string, args ...any) error { return &useError{fmt.Sprintf(format, args...)} }

// Target is where answers go and in which format: a directory with one file for each query, one file, or standard output.
type Target struct {
	path   string
	dir    bool
	std    io.Writer // standard output, if answers go there; else nil
	format *format
	pack   string // the end of the file's name that says how it is packed, as ".gz"; "" if it is not
}

// Standard is the path that means standard output.
const Standard = "-"

// Parse reads a path and the name of a format. If the name is "", the path determines the format. A path that ends like a format (.csv), or
// like a packed one (.csv.gz), is a file; "-" is std. A path without an ending, or one with a slash at its end, is a directory, and so is
// one that is a directory already. Other endings are refused, because a file of that kind was meant. Without a path there is no target: it
// returns nil.
func Parse(path, name string, std io.Writer) (*Target, error) {
	bare, pack := path, strings.ToLower(filepath.Ext(path))
	if packs[pack] != nil {
		bare = path[:len(path)-len(pack)]
	} else {
		pack = ""
	}
	ending := strings.ToLower(filepath.Ext(bare))
	byPath := formatOf(strings.TrimPrefix(ending, "."))
	byName := formatOf(name)
	switch {
	case name != "" && byName == nil:
		return nil, usef("unknown format %q; the formats are %s", name, strings.Join(names(), ", "))
	case path == "" && name != "":
		return nil, usef("format %s needs a place: give a directory, or a file like answers.%[1]s", name)
	case path == "":
		return nil, nil
	case path == Standard && name == "":
		return &Target{path: path, std: std, format: &formats[0]}, nil
	case path == Standard && byName.bound:
		return nil, usef("%s is not written to standard output, because its readers begin at the end; give a file", name)
	case path == Standard:
		return &Target{path: path, std: std, format: byName}, nil
	case os.IsPathSeparator(path[len(path)-1]), byPath == nil && (isDir(path) || pack == "" && !fileEnding(ending)):
		if byName == nil {
			byName = &formats[0]
		}
		return &Target{path: path, dir: true, format: byName}, nil
	case byPath == nil:
		return nil, usef(
			"%s: files end in .%s, and those of text may be packed, as .csv.gz or .csv.zst; for a directory of that name write %[1]s/", path,
			strings.Join(names(), ", ."))
	case byPath.bound && pack != "":
		return nil, usef("%s: a file of %s is packed already; write %s", path, byPath.name, bare)
	case byName != nil && byName != byPath:
		return nil, usef("%s is a file of format %s, not %s; give one of the two", path, byPath.name, name)
	}
	return &Target{path: path, format: byPath, pack: pack}, nil
}

// isDir reports whether a path is a directory that is there already.
func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// fileEnding reports whether the end of a name says what a file holds: .xlsx, and not the year of answers.2024, nor .d for a directory.
func fileEnding(ending string) bool {
	return len(ending) > 1 && (ending[1] < '0' || ending[1] > '9') && ending != ".d"
}

// Standard reports whether answers go to standard output.
func (t *Target) Standard() bool { return t != nil && t.std != nil }

// String returns the path.
func (t *Target) String() string {
	if t.std != nil {
		return "standard output"
	}
	return t.path
}

// Prepare checks everything that could prevent writing the answers: a file of one table for several queries, a place of another kind, a
// place without permission to write, or a disk without room for a file. If the target is a directory, Prepare makes it; it removes drafts
// of dead processes. queries are the names of the queries, as far as they are known.
func (t *Target) Prepare(queries []string) error {
	if err := t.fits(queries); err != nil {
		return err
	}
	if t.std != nil {
		return nil
	}
	if t.dir {
		if err := os.MkdirAll(filepath.Clean(t.path), 0o755); err != nil {
			return fmt.Errorf("make a directory for the answers: %w; give another one", err)
		}
		return probe(t.path, answers)
	}
	name, err := file(t.path, orFiles)
	if err != nil {
		return err
	}
	return probe(filepath.Dir(name), answers)
}

func (t *Target) fits(queries []string) error {
	if !t.dir && !t.format.whole && len(queries) > 1 {
		return usef("%s holds one table, and the answers are %s; give a directory, or a .json file for all of them", t,
			strings.Join(queries, ", "))
	}
	for _, q := range queries {
		if t.dir && (!filepath.IsLocal(q) || filepath.Base(q) != q || q[0] == '.') {
			return usef("write answers: the cluster names a query %q, which can be no file name", q)
		}
	}
	return nil
}

// Takes refuses columns that the format cannot have.
func (t *Target) Takes(columns []string) error {
	if !t.format.named {
		return nil
	}
	return distinct(columns)
}

// answers names in errors what a Target is for.
const answers = "the answers"

// orFiles names what a user who gave a directory for the answers may have meant instead.
const orFiles = ", or %s/ for one file for each query in it"

// file returns the file that a path names. If the path is a symbolic link, it returns the file to which the link leads, whether that file
// exists yet or not: answers go where a shell's > would write, and the link stays. or is a format that says what else a user may have meant
// with a directory; %s is the path.
func file(path, or string) (string, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return linked(path)
	case err != nil:
		return "", fmt.Errorf("look at the file to write: %w", err)
	case info.IsDir():
		return "", usef("%s is a directory; give the name of a file%s", path, strings.ReplaceAll(or, "%s", path))
	case !info.Mode().IsRegular():
		return "", usef("%s is not a regular file, and cannot be replaced by one; give another name", path)
	}
	return filepath.EvalSymlinks(path)
}

// mostLinks is how many symbolic links in a row are followed. The kernel follows 40.
const mostLinks = 40

// linked returns the place to which a path without a file leads: the path itself, or the target of a symbolic link.
func linked(path string) (string, error) {
	name := path
	for range mostLinks {
		to, err := os.Readlink(name)
		if err != nil {
			return name, nil // it is not a link; errors about its directory are reported when a draft is made there
		}
		if !filepath.IsAbs(to) {
			to = filepath.Dir(name) + string(filepath.Separator) + to
		}
		// The directory may be reached by links, too. So the ".." in it must not be removed before they are followed.
		dir, base := filepath.Split(to)
		if dir, err = filepath.EvalSymlinks(dir); err != nil {
			return "", fmt.Errorf("%s is a symbolic link to a place that is not there: %w; remove the link, or make the directory", path, err)
		}
		name = filepath.Join(dir, base)
	}
	return "", usef("%s leads through more than %d symbolic links; give another name", path, mostLinks)
}

// Write writes an answer and returns the number of files. All files are complete and on the disk before the first of them gets its name.
// Each replaces a former file in one step. If the process is killed between two renames, some files have their names and others do not.
func (t *Target) Write(a *client.Answer) (n int, err error) {
	names := make([]string, len(a.Queries))
	for i := range a.Queries {
		names[i] = a.Queries[i].Name
	}
	if err := t.fits(names); err != nil {
		return 0, err
	}
	if t.std != nil {
		if err := t.content(t.std, a); err != nil {
			return 0, fmt.Errorf("write answers to %s: %w", t, err)
		}
		return 1, a.Err()
	}
	var w drafts
	defer w.discard()
	if err = errors.Join(t.each(a, w.add), a.Err()); err == nil {
		err = w.publish()
	}
	if err != nil {
		return 0, fmt.Errorf("write answers to %s: %w", t.path, err)
	}
	return len(w), nil
}

// each calls add for each file, with a function that writes the file's content.
func (t *Target) each(a *client.Answer, add func(name string, write func(*draft) error) error) error {
	if t.dir {
		for i := range a.Queries {
			q := &a.Queries[i]
			name, err := file(filepath.Join(t.path, q.Name+"."+t.format.name), "")
			if err == nil {
				err = add(name, func(d *draft) error { return t.format.table(d, q) })
			}
			if err != nil {
				return fmt.Errorf("%s: %w", q.Name, err)
			}
		}
		return nil
	}
	name, err := file(t.path, orFiles)
	if err != nil {
		return err
	}
	return add(name, func(d *draft) error { return t.content(d, a) })
}

// content writes the one file of an answer.
func (t *Target) content(w io.Writer, a *client.Answer) error {
	if !t.format.whole && len(a.Queries) == 0 {
		return usef("there is no query, so there is no table")
	}
	return packed(w, t.pack, func(w io.Writer) error {
		if t.format.whole {
			return a.WriteJSON(w)
		}
		return t.format.table(w, &a.Queries[0])
	})
}

// distinct refuses columns of equal names in formats where names tell columns apart.
func distinct(columns []string) error {
	sorted := slices.Sorted(slices.Values(columns))
	for i := 1; i < len(sorted); i++ {
		if sorted[i] == sorted[i-1] {
			return usef("there are two columns %q; write CSV, which can have both", sorted[i])
		}
	}
	return nil
}
