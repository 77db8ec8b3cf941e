package client

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"posta.dev/posta/protocol"
)

// Source is one file of a stream.
type Source struct {
	Name string // what the cluster is told: path below the data directory, with slashes, without ".gz"
	Size int64  // bytes that Open's reader gives; below 0 if it is not known (a pipe)
	Gzip bool   // its name says gzip: anything else in it is an error (gzip is recognized without)
	Open func() (io.ReadCloser, error)
}

// findFiles returns the files below dir that a stream's pattern matches, also with ".gz" behind it, sorted by name. The
// standard library's Glob is of no use here: it keeps silent about directories it cannot read, and a run with half of the
// files has a wrong answer.
func findFiles(dir string, s protocol.Stream) ([]Source, error) {
	segments, err := splitPattern(s.Files)
	if err != nil {
		return nil, fmt.Errorf("files of stream %s: %w", s.Name, err)
	}
	paths, err := match(dir, "", segments)
	if err != nil {
		return nil, fmt.Errorf("files of stream %s: %w", s.Name, err)
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("%w for stream %s: nothing matches %s (or %s.gz) in %s", ErrNoFiles, s.Name, s.Files, s.Files, dir)
	}
	return sources(dir, paths)
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

// match returns what matches the segments below dir/at, relative to dir.
func match(dir, at string, segments []string) ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(dir, at))
	if err != nil {
		return nil, err
	}
	var found []string
	for _, entry := range entries {
		fits, deeper, err := fitting(dir, at, entry, segments)
		if err != nil {
			return nil, err
		}
		below := path.Join(at, entry.Name())
		switch {
		case fits && deeper:
			more, err := match(dir, below, segments[1:])
			if err != nil {
				return nil, err
			}
			found = append(found, more...)
		case fits:
			found = append(found, below)
		}
	}
	return found, nil
}

// fitting reports whether an entry fits the first segment, and whether it is a directory to look into for the others. Hidden
// files fit only what names them.
func fitting(dir, at string, entry fs.DirEntry, segments []string) (fits, deeper bool, err error) {
	name := entry.Name()
	deeper = len(segments) > 1
	if strings.HasPrefix(name, ".") && !strings.HasPrefix(segments[0], ".") {
		return false, false, nil
	}
	fits, _ = path.Match(segments[0], name)
	if !fits && !deeper {
		fits, _ = path.Match(segments[0], strings.TrimSuffix(name, ".gz"))
	}
	if !fits {
		return false, false, nil
	}
	info, err := os.Stat(filepath.Join(dir, at, name)) // follows links, as opening does
	if err != nil {
		return false, false, err
	}
	return info.IsDir() == deeper, deeper, nil
}

func sources(dir string, paths []string) ([]Source, error) {
	names := make(map[string]string, len(paths))
	list := make([]Source, 0, len(paths))
	for _, p := range paths {
		name := strings.TrimSuffix(p, ".gz")
		if other, ok := names[name]; ok {
			return nil, fmt.Errorf("both %s and %s are in %s; remove one, its rows would count twice", other, p, dir)
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
		list = append(list, Source{Name: name, Size: size, Gzip: name != p, Open: func() (io.ReadCloser, error) { return os.Open(full) }})
	}
	return list, nil
}
