package bench

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"posta/bench/tidy"
	"posta/gen"
)

const seed = 1

// data makes the subject's data, or takes what an earlier run of the program has made. It is made under another name first:
// what has its name is whole.
func (s *subject) data(dir string, facts int) (path string, bytes int64, err error) {
	path = filepath.Join(dir, fmt.Sprintf("%s-%d", s.name(), facts))
	if _, err := os.Stat(path); err == nil {
		bytes, err = size(path)
		return path, bytes, err
	}
	draft := path + ".draft"
	if err := os.RemoveAll(draft); err != nil {
		return "", 0, err
	}
	if err := s.generate(gen.OnDisk(draft), facts, seed); err != nil {
		return "", 0, err
	}
	if err := os.Rename(draft, path); err != nil {
		return "", 0, err
	}
	bytes, err = size(path)
	return path, bytes, err
}

// tidied is data without what DuckDB cannot get past (see package tidy): all contestants of a race read the same bytes.
func (s *subject) tidied(dir string, facts int) (path string, bytes int64, err error) {
	raw, _, err := s.data(dir, facts)
	if err != nil {
		return "", 0, err
	}
	path = raw + "-tidy"
	if _, err := os.Stat(path); err == nil {
		bytes, err = size(path)
		return path, bytes, err
	}
	draft := path + ".draft"
	if err := os.RemoveAll(draft); err != nil {
		return "", 0, err
	}
	if _, err := tidy.Dir(raw, draft); err != nil {
		return "", 0, err
	}
	if err := os.Rename(draft, path); err != nil {
		return "", 0, err
	}
	bytes, err = size(path)
	return path, bytes, err
}

// size is the bytes of all files below dir.
func size(dir string) (total int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err == nil {
			total += info.Size()
		}
		return err
	})
	return total, err
}
