package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"posta.dev/posta/client/source"
	"posta.dev/posta/protocol"
)

// Source is one file of a stream.
type Source struct {
	Name string      // the name for the cluster: the path below the data directory, with slashes, without ".gz" or the like
	Path string      // for errors and warnings: where the file is; "" if Name says it
	Size int64       // bytes that Open's reader gives; below 0 if it is not known (a pipe)
	Says source.Name // the format that its name promises: other content is an error. Its Plain is not used
	// Remote says that Open's reader reads from another machine, once, from the beginning to the end.
	Remote bool
	Once   bool // Open works only once: the source is a pipe, or standard input
	Open   func(context.Context) (io.ReadCloser, error)

	// Local is the absolute path of a file of this machine, which an input may read in place (Config.Send); empty for other sources.
	Local string

	in     tree   // where it was found; zero if it was named
	at     string // its path in that tree
	held   bool   // it is read through an Input, not through Path
	packed bool   // its bytes on disk are not those of the records: it is packed, or not in UTF-8
}

// where returns the file's name for people.
func (s *Source) where() string {
	if s.Path != "" {
		return s.Path
	}
	return s.Name
}

// open opens the file. If ctx ends meanwhile, the error is not an ErrInput: a server that is asked for an address or a list of objects may
// be silent for long.
func (s *Source) open(ctx context.Context) (io.ReadCloser, error) {
	f, err := s.Open(ctx)
	return f, unlessOver(ctx, err)
}

// local opens a file of this machine, to read parts of it.
func (s *Source) local() (*os.File, error) {
	if s.in.confined {
		return s.in.openRoot(s.at)
	}
	return os.Open(s.Path)
}

// unlessOver returns why ctx has ended, if it has, because err only follows from that; otherwise it returns err as an ErrInput.
func unlessOver(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return badInput(err)
}

// findAll returns the files below a directory that the patterns of the streams match, also with ".gz" or the like behind them, sorted by
// name. The standard library's Glob was rejected: it hides directories that it cannot read, and a run with half of the files has a wrong
// answer. For the same reason there is a warning about a directory that lacks a file which its siblings have (C1).
func findAll(in tree, streams []protocol.Stream, warn *warnings) ([][]Source, error) {
	all := make([][]Source, len(streams))
	places := make(places)
	for i, s := range streams {
		w, err := walk(in, s)
		if err == nil {
			all[i], err = sources(in, s.Files, w.found, warn)
		}
		if err != nil {
			return nil, badInput(fmt.Errorf("files of stream %s: %w", s.Name, err))
		}
		for _, stray := range w.strays {
			warn.add(in.path(stray), "this file is not read: files are looked for as "+s.Files+"; move or rename it")
		}
		places.add(s, w)
	}
	places.warn(in.dir, warn)
	return all, nil
}

// splitPattern splits a pattern into its segments. The pattern comes from the cluster, so it must not lead out of the directory.
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

// walker goes through the directories that one pattern leads to. All paths are relative to the tree.
type walker struct {
	tree
	exact   bool     // files have to match as they are: not packed, and in no other form
	found   []string // files that match
	strays  []string // files that were probably meant to match
	full    []string // directories with files that match
	without []string // directories that the pattern leads to, without such files
}

// walk looks for the files of one stream.
func walk(in tree, s protocol.Stream) (*walker, error) {
	segments, err := splitPattern(s.Files)
	if err != nil {
		return nil, err
	}
	w := &walker{tree: in}
	if err := w.enter("", segments); err != nil {
		return nil, err
	}
	if len(w.found) > 0 {
		return w, nil
	}
	hint := ""
	if len(w.strays) > 0 {
		hint = fmt.Sprintf("; did you mean %s?", in.path(w.strays[0]))
	}
	return nil, fmt.Errorf("%w: nothing matches %s in %s, packed or plain, as CSV or in another form%s", ErrNoFiles, s.Files, in.dir, hint)
}

// enter goes through the directory at; segments is the rest of the pattern.
func (w *walker) enter(at string, segments []string) error {
	entries, err := w.readDir(at)
	if err != nil {
		return err
	}
	before, deeper := len(w.found)+len(w.without), len(segments) > 1
	for _, entry := range entries {
		// A hidden file or directory matches only a segment that begins with a dot, too.
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
	case at == "": // if nothing at all was found, walk returns an error
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
	info, err := w.stat(below) // follows links, as opening does
	switch {
	case err != nil:
		return w.unopened(below, err)
	case info.IsDir():
		return w.enter(below, segments[1:])
	case matches(last, name):
		w.strays = append(w.strays, below)
	}
	return nil
}

// file takes an entry that fits the last segment.
func (w *walker) file(below, name, segment string) error {
	full := w.path(below)
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
	info, err := w.stat(below)
	if err != nil {
		return w.unopened(below, err)
	}
	switch mode := info.Mode(); {
	case mode.IsDir():
		return &entryError{fmt.Errorf(
			"%s is a directory, and should be a file; put the rows into one file of that name, or rename the directory", full)}
	case mode&fs.ModeSocket != 0:
		return &entryError{fmt.Errorf("%s is a socket, and should be a file", full)}
	case w.confined && !mode.IsRegular():
		return &entryError{onlyRegular(full, info)}
	}
	w.found = append(w.found, below)
	return nil
}

// entryError is about an entry that fits a pattern and is not a file. It is an error, because rows would be missing otherwise (C1).
type entryError struct{ error }

func (e *entryError) Unwrap() error { return e.error }

// unopened returns the error for an entry that cannot be looked at, such as a link that leads nowhere.
func (w *walker) unopened(below string, err error) error {
	full := w.path(below)
	if target, bad := os.Readlink(full); bad == nil {
		err = fmt.Errorf("%s is a link to %s, which leads to no file; remove the link, or bring back what it leads to: %w", full, target, err)
	}
	return &entryError{err}
}

// matches reports whether a name fits the last segment of a pattern. The name may end in ".gz" or the like, or in ".jsonl" or the like
// instead of ".csv".
func matches(segment, name string) bool {
	_, fits := source.Match(segment, name)
	return fits
}

func sources(in tree, pattern string, paths []string, warn *warnings) ([]Source, error) {
	names := make(map[string]string, len(paths))
	list := make([]Source, 0, len(paths))
	for _, p := range paths {
		at, file := path.Split(p)
		says, _ := source.Match(path.Base(pattern), file)
		name := at + says.Plain
		if other, ok := names[name]; ok {
			return nil, fmt.Errorf("both %s and %s are in %s and would be read; remove one, its rows would count twice", other, p, in.dir)
		}
		names[name] = p
		full := in.path(p)
		info, err := in.stat(p)
		if err != nil {
			return nil, err
		}
		size := info.Size()
		if !info.Mode().IsRegular() {
			size = -1
		}
		list = append(list, Source{Name: name, Path: full, Size: size, Says: says, Local: local(full, info), Once: !info.Mode().IsRegular(),
			in: in, at: p, Open: func(context.Context) (io.ReadCloser, error) { return in.open(p, warn) }})
	}
	return list, nil
}

// local returns the path of a file, if it is a regular one.
func local(file string, info fs.FileInfo) string {
	abs, err := filepath.Abs(file)
	if err != nil || !info.Mode().IsRegular() || len(abs) > protocol.MaxFile || !utf8.ValidString(abs) {
		return ""
	}
	return abs
}

// inputError is an error about the input that the user gave, and not about the cluster. Its text is that of the wrapped error.
type inputError struct{ error }

func badInput(err error) error { return &inputError{err} }

func (e *inputError) Unwrap() []error { return []error{ErrInput, e.error} }

func (e *inputError) Error() string {
	if errors.Is(e.error, fs.ErrPermission) {
		return e.error.Error() + "; give this user the right to read it"
	}
	return e.error.Error()
}
