package client

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"posta.dev/posta/client/source"
	"posta.dev/posta/protocol"
)

// Source is one file of a stream.
type Source struct {
	Name string      // what the cluster is told: path below the data directory, with slashes, without ".gz" or the like
	Path string      // for errors and warnings: where the file is; "" if Name is all there is to say
	Size int64       // bytes that Open's reader gives; below 0 if it is not known (a pipe)
	Says source.Name // what its name says: anything else in it is an error. Its Plain is not used
	Open func() (io.ReadCloser, error)
}

// where returns what people call the file.
func (s *Source) where() string {
	if s.Path != "" {
		return s.Path
	}
	return s.Name
}

// findAll returns the files below dir that the patterns of the streams match, also with ".gz" or the like behind them, sorted by name. The
// standard library's Glob is of no use here: it keeps silent about directories it cannot read, and a run with half of the
// files has a wrong answer. For the same reason a place that lacks a file which its siblings have is a warning (C1).
func findAll(dir string, streams []protocol.Stream, warn *warnings) ([][]Source, error) {
	all := make([][]Source, len(streams))
	places := make(places)
	for i, s := range streams {
		w, err := walk(dir, s)
		if err == nil {
			all[i], err = sources(dir, s.Files, w.found, warn)
		}
		if err != nil {
			return nil, badInput(fmt.Errorf("files of stream %s: %w", s.Name, err))
		}
		for _, stray := range w.strays {
			warn.add(filepath.Join(dir, stray), "this file is not read: files are looked for as "+s.Files+"; move or rename it")
		}
		places.add(s, w)
	}
	places.warn(dir, warn)
	return all, nil
}

// splitPattern takes a pattern apart. It comes from the cluster, so it must not lead out of the directory.
func splitPattern(pattern string) ([]string, error) {
	segments := strings.Split(pattern, "/")
	for _, segment := range segments {
		if segment == "" || segment == "." || segment == ".." || strings.ContainsRune(segment, filepath.Separator) {
			return nil, fmt.Errorf("the cluster's pattern %q is not a path below a directory", pattern)
		}
		if _, err := path.Match(segment, ""); err != nil {
			return nil, fmt.Errorf("the cluster's pattern %q: %w", pattern, err)
		}
	}
	return segments, nil
}

// walker goes through the directories that one pattern leads to. All paths are relative to dir.
type walker struct {
	dir     string
	exact   bool     // files have to match as they are: not packed, and in no other form
	found   []string // files that match
	strays  []string // files that were most likely meant to match
	full    []string // directories with files that match
	without []string // directories that the pattern leads to, without such files
}

// walk looks for the files of one stream.
func walk(dir string, s protocol.Stream) (*walker, error) {
	segments, err := splitPattern(s.Files)
	if err != nil {
		return nil, err
	}
	w := &walker{dir: dir}
	if err := w.enter("", segments); err != nil {
		return nil, err
	}
	if len(w.found) > 0 {
		return w, nil
	}
	hint := ""
	if len(w.strays) > 0 {
		hint = fmt.Sprintf("; there is %s: was that meant?", filepath.Join(dir, w.strays[0]))
	}
	return nil, fmt.Errorf("%w: nothing matches %s in %s, packed or plain, as CSV or in another form%s", ErrNoFiles, s.Files, dir, hint)
}

// enter goes through the directory at; segments is the rest of the pattern.
func (w *walker) enter(at string, segments []string) error {
	entries, err := os.ReadDir(filepath.Join(w.dir, at))
	if err != nil {
		return err
	}
	before, deeper := len(w.found)+len(w.without), len(segments) > 1
	for _, entry := range entries {
		// Hidden files fit only what names them.
		if strings.HasPrefix(entry.Name(), ".") && !strings.HasPrefix(segments[0], ".") {
			continue
		}
		below := path.Join(at, entry.Name())
		if deeper {
			err = w.directory(below, entry.Name(), segments)
		} else {
			err = w.file(below, entry.Name(), segments[0])
		}
		if err != nil {
			return err
		}
	}
	if !deeper && !w.exact {
		if err := w.unpacked(at, entries, segments[0]); err != nil {
			return err
		}
	}
	switch {
	case at == "": // that nothing at all was found is an error
	case len(w.found)+len(w.without) == before:
		w.without = append(w.without, at)
	case !deeper:
		w.full = append(w.full, at)
	}
	return nil
}

// directory enters an entry that fits the first of several segments, if it is a directory.
func (w *walker) directory(below, name string, segments []string) error {
	last := segments[len(segments)-1]
	if fits, _ := path.Match(segments[0], name); !fits {
		return nil
	}
	info, err := os.Stat(filepath.Join(w.dir, below)) // follows links, as opening does
	switch {
	case err != nil:
		return err
	case info.IsDir():
		return w.enter(below, segments[1:])
	case matches(last, name):
		w.strays = append(w.strays, below)
	}
	return nil
}

// file takes an entry that fits the last segment.
func (w *walker) file(below, name, segment string) error {
	full := filepath.Join(w.dir, below)
	fits := matches(segment, name)
	if w.exact {
		fits, _ = path.Match(segment, name)
	}
	if !fits {
		if matches(strings.ToLower(segment), strings.ToLower(name)) {
			w.strays = append(w.strays, below)
		}
		return nil
	}
	info, err := os.Stat(full)
	if err != nil {
		return err
	}
	switch mode := info.Mode(); {
	case mode.IsDir():
		return fmt.Errorf("%s is a directory, and should be a file; put the rows into one file of that name, or rename the directory", full)
	case mode&fs.ModeSocket != 0:
		return fmt.Errorf("%s is a socket, and should be a file", full)
	}
	w.found = append(w.found, below)
	return nil
}

// matches reports whether a name fits the last segment of a pattern, also with ".gz" or the like behind it, or with ".jsonl" or the like in place of ".csv".
func matches(segment, name string) bool {
	_, fits := source.Match(segment, name)
	return fits
}

func sources(dir, pattern string, paths []string, warn *warnings) ([]Source, error) {
	names := make(map[string]string, len(paths))
	list := make([]Source, 0, len(paths))
	for _, p := range paths {
		at, file := path.Split(p)
		says, _ := source.Match(path.Base(pattern), file)
		name := at + says.Plain
		if other, ok := names[name]; ok {
			return nil, fmt.Errorf("both %s and %s are in %s and would be read; remove one, its rows would count twice", other, p, dir)
		}
		names[name] = p
		full := filepath.Join(dir, p)
		info, err := os.Stat(full)
		if err != nil {
			return nil, err
		}
		size := info.Size()
		if !info.Mode().IsRegular() {
			size = -1
		}
		list = append(list, Source{Name: name, Path: full, Size: size, Says: says,
			Open: func() (io.ReadCloser, error) { return openFile(full, warn) }})
	}
	return list, nil
}

// inputError is an error of the input: of what the user gave, and not of the cluster. Its text is that of the error in it.
type inputError struct{ error }

func badInput(err error) error { return &inputError{err} }

func (e *inputError) Unwrap() []error { return []error{ErrInput, e.error} }

func (e *inputError) Error() string {
	if errors.Is(e.error, fs.ErrPermission) {
		return e.error.Error() + "; give this user the right to read it"
	}
	return e.error.Error()
}
