package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"posta.dev/posta/client/source"
	"posta.dev/posta/client/source/s3"
	"posta.dev/posta/client/source/web"
	"posta.dev/posta/protocol"
)

// Named is one or several files that the user names, in place of those that would be looked for below Config.Dir.
type Named struct {
	// As is the name of a stream, or the name that the file would have below Config.Dir: montreal/trips.csv. If As is a stream whose pattern
	// has stars, the end of Path has to show what they stand for; otherwise As has to be the file's name.
	As string
	// Path is a file, a pattern of package path, an address with http://, https:// or s3:// (which may be several objects: package s3), or "-"
	// for Config.Stdin.
	Path string
}

// standardInput is what people call Config.Stdin.
const standardInput = "standard input"

// chosen are the files of one stream that were named.
type chosen struct {
	stream  *protocol.Stream
	sources []Source
}

// findNamed returns the files that are named, by stream; nil for a stream without any.
func (in *Input) findNamed(ctx context.Context, streams []protocol.Stream, warn *warnings) ([][]Source, error) {
	all := make([]chosen, len(streams))
	for i := range streams {
		all[i].stream = &streams[i]
	}
	for _, n := range in.Named {
		to, as, err := destination(all, n)
		if err != nil && in.tables {
			continue // the file is for another statement
		}
		if err == nil {
			err = to.add(ctx, n, as, in.Stdin, warn)
		}
		if err != nil {
			place := n.Path
			if web.Is(place) {
				place = web.Shown(place)
			}
			return nil, unlessOver(ctx, fmt.Errorf("file %s=%s: %w", n.As, place, err))
		}
	}
	found := make([][]Source, len(streams))
	stdin := 0
	for i := range all {
		if err := all[i].tellApart(); err != nil {
			return nil, badInput(err)
		}
		found[i] = all[i].sources
		for _, s := range all[i].sources {
			if s.Path == standardInput {
				stdin++
			}
		}
	}
	if stdin > 1 {
		return nil, badInput(errors.New("standard input is named twice, and can be read once"))
	}
	return found, nil
}

// destination returns the stream that a file is for, and the name that n.As gives it, "" if it gives none.
func destination(all []chosen, n Named) (to *chosen, as string, err error) {
	if i := slices.IndexFunc(all, func(c chosen) bool { return c.stream.Name == n.As }); i >= 0 {
		return &all[i], "", nil
	}
	var known []string
	for i := range all {
		s := all[i].stream
		if fits, _ := path.Match(s.Files, n.As); fits {
			return &all[i], n.As, nil
		}
		known = append(known, fmt.Sprintf("%s (%s)", s.Name, s.Files))
	}
	return nil, "", fmt.Errorf("%w: %q is neither a stream of this analysis nor a file of one; the streams are %s", ErrNoFiles, n.As,
		strings.Join(known, ", "))
}

func (to *chosen) add(ctx context.Context, n Named, as string, stdin io.Reader, warn *warnings) error {
	if n.Path == "-" {
		name := as
		if name == "" && !strings.Contains(to.stream.Files, "*") {
			name = to.stream.Files
		}
		if name == "" {
			return to.unknown(n)
		}
		to.sources = append(to.sources, Source{Name: name, Path: standardInput, Size: -1, Once: true,
			Open: func(context.Context) (io.ReadCloser, error) { return openStdin(stdin) }})
		return nil
	}
	switch {
	case web.Is(n.Path):
		return to.addAddress(n, as, warn)
	case s3.Is(n.Path):
		return to.addObjects(ctx, n, as, warn)
	}
	paths, err := expand(n.Path)
	if err != nil {
		return err
	}
	for _, p := range paths {
		info, err := os.Stat(p)
		if err != nil {
			return err
		}
		if info.IsDir() {
			return fmt.Errorf("%s is a directory; name its files with a pattern: '%s'", p, filepath.Join(p, "*.csv"))
		}
		name := as
		if name == "" {
			var ok bool
			if name, ok = nameOf(to.stream.Files, p); !ok {
				return to.unknown(n)
			}
		}
		size := info.Size()
		if !info.Mode().IsRegular() {
			size = -1
		}
		says := source.Says(filepath.Base(p))
		to.sources = append(to.sources, Source{Name: name, Path: p, Size: size, Says: says, Local: local(p, info),
			Once: !info.Mode().IsRegular(), Open: func(context.Context) (io.ReadCloser, error) { return openFile(p, warn) }})
	}
	return nil
}

func (to *chosen) addAddress(n Named, as string, warn *warnings) error {
	shown := web.Shown(n.Path)
	u, err := url.Parse(n.Path)
	if err != nil {
		return fmt.Errorf("%w: %s", web.ErrAddress, shown)
	}
	name, ok := as, true
	if name == "" {
		name, ok = nameOf(to.stream.Files, u.Path)
	}
	if !ok {
		return to.unknown(Named{As: n.As, Path: shown})
	}
	to.sources = append(to.sources, Source{Name: name, Path: shown, Size: -1, Says: source.Says(path.Base(u.Path)), Remote: true,
		Open: func(ctx context.Context) (io.ReadCloser, error) {
			f, err := web.Open(ctx, n.Path, web.As{Warn: func(text string) { warn.add(shown, text) }})
			if err != nil {
				return nil, err
			}
			return f, nil
		}})
	return nil
}

// addObjects adds the objects that an address stands for: one, those that a pattern matches, or, where it ends in a slash, those below it
// that fit the stream's pattern.
func (to *chosen) addObjects(ctx context.Context, n Named, as string, warn *warnings) error {
	bucket, key, err := s3.Split(n.Path)
	if err != nil {
		return err
	}
	store, err := s3.Load()
	if err != nil {
		return err
	}
	keys := []string{key}
	switch {
	case strings.HasSuffix(key, "/"):
		if as != "" {
			return fmt.Errorf("%w: %s stands for several objects, and %s is one file", s3.ErrAddress, n.Path, as)
		}
		keys, err = store.List(ctx, bucket, key, func(found string) bool {
			pattern, below := to.stream.Files, strings.TrimPrefix(found, key)
			in, _ := path.Match(path.Dir(pattern), path.Dir(below))
			_, fits := source.Match(path.Base(pattern), path.Base(below))
			return in && fits
		})
	case strings.ContainsAny(key, "*?["):
		keys, err = store.Glob(ctx, bucket, key)
	}
	switch {
	case err != nil:
		return err
	case len(keys) == 0:
		return fmt.Errorf("%w: nothing matches %s", ErrNoFiles, n.Path)
	}
	below := make(map[string]string) // by name
	for _, key := range keys {
		name, ok := as, true
		if name == "" {
			name, ok = nameOf(to.stream.Files, key)
		}
		shown := "s3://" + bucket + "/" + key
		switch other := below[name]; {
		case !ok:
			return to.unknown(Named{As: n.As, Path: shown})
		case other != "" && strings.HasSuffix(n.Path, "/"):
			return fmt.Errorf("both %s and %s would be read; remove one, its rows would count twice", other, shown)
		}
		below[name] = shown
		to.sources = append(to.sources, Source{Name: name, Path: shown, Size: -1, Says: source.Says(path.Base(key)), Remote: true,
			Open: func(ctx context.Context) (io.ReadCloser, error) {
				f, err := store.Open(ctx, bucket, key, func(text string) { warn.add(shown, text) })
				if err != nil {
					return nil, err
				}
				return f, nil
			}})
	}
	return nil
}

// unknown returns the error for a file if its path does not show its name among the stream's files.
func (to *chosen) unknown(n Named) error {
	return fmt.Errorf("files of stream %s are %s, and the path does not show what the star stands for; write it: %s=%s", to.stream.Name,
		to.stream.Files,
		strings.ReplaceAll(to.stream.Files, "*", "NAME"), n.Path)
}

// tellApart gives different names to files that would have the same name. It appends two slashes, which no path below a directory contains,
// and the file's path. The names determine the order of rows.
func (to *chosen) tellApart() error {
	count := make(map[string]int)
	seen := make(map[string]bool)
	for _, s := range to.sources {
		if seen[s.Path] {
			return fmt.Errorf("%s is named twice for stream %s; its rows would count twice", s.Path, to.stream.Name)
		}
		seen[s.Path] = true
		count[s.Name]++
	}
	for i := range to.sources {
		if s := &to.sources[i]; count[s.Name] > 1 {
			s.Name += "//" + strings.TrimLeft(filepath.ToSlash(s.Path), "/")
		}
	}
	slices.SortFunc(to.sources, func(a, b Source) int { return strings.Compare(a.Name, b.Name) })
	for i := 1; i < len(to.sources); i++ {
		if a, b := to.sources[i-1], to.sources[i]; a.Name == b.Name {
			return fmt.Errorf("%s and %s cannot be told apart; name one by another path", a.Path, b.Path)
		}
	}
	return nil
}

// nameOf returns the name of a file within its stream. It is the pattern, in which each segment with a star is replaced by the segment at
// the same place from the end of the file's path.
func nameOf(pattern, file string) (string, bool) {
	wants, has := strings.Split(pattern, "/"), strings.Split(path.Clean(filepath.ToSlash(file)), "/")
	for i := range wants {
		if !strings.Contains(wants[i], "*") {
			continue
		}
		at := len(has) - len(wants) + i
		if at < 0 {
			return "", false
		}
		name, fits := source.Name{Plain: has[at]}, false
		if i == len(wants)-1 {
			name, fits = source.Match(wants[i], has[at])
		} else {
			fits, _ = path.Match(wants[i], has[at])
		}
		if !fits || name.Plain == ".." || name.Plain == "." || name.Plain == "" {
			return "", false
		}
		wants[i] = name.Plain
	}
	return strings.Join(wants, "/"), true
}

// expand returns the files that a path names: the path itself if it exists or is not a pattern, otherwise the files that match it.
func expand(p string) ([]string, error) {
	if _, err := os.Lstat(p); err == nil || !strings.ContainsAny(p, "*?[") {
		return []string{p}, nil
	}
	segments := strings.Split(filepath.ToSlash(filepath.Clean(p)), "/")
	first := slices.IndexFunc(segments, func(s string) bool { return strings.ContainsAny(s, "*?[") })
	for _, s := range segments[first:] {
		if _, err := path.Match(s, ""); err != nil {
			return nil, fmt.Errorf("the pattern %q: %w", s, err)
		}
	}
	dir := filepath.FromSlash(strings.Join(segments[:first], "/"))
	switch {
	case dir == "" && filepath.IsAbs(p):
		dir = string(filepath.Separator)
	case dir == "":
		dir = "."
	}
	w := &walker{tree: tree{dir: dir}, exact: true}
	if err := w.enter("", segments[first:]); err != nil {
		return nil, err
	}
	if len(w.found) == 0 {
		return nil, fmt.Errorf("%w: nothing matches it", ErrNoFiles)
	}
	for i := range w.found {
		w.found[i] = filepath.Join(dir, w.found[i])
	}
	return w.found, nil
}
