package bench

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"posta.dev/posta/bench/sanitize"
	"posta.dev/posta/internal/gen"
)

const seed = 1

// data generates the workload's data, or returns the data of an earlier run. The directory's name contains the
// generator's fingerprint, so data of another generator is never used.
func (s *workload) data(dir string, facts int) (path string, bytes int64, err error) {
	version, err := s.fingerprint(unchanged)
	if err != nil {
		return "", 0, err
	}
	return madeOnce(filepath.Join(dir, fmt.Sprintf("%s-%d-%s", s.name(), facts, version)), func(draft string) error {
		return s.generate(gen.OnDisk(draft), facts, seed)
	})
}

// madeOnce returns a directory that make has filled, now or in an earlier run. make fills it under a temporary name, so
// a directory with the final name is complete.
func madeOnce(path string, make func(draft string) error) (_ string, bytes int64, err error) {
	if _, err := os.Stat(path); err != nil {
		draft := path + ".draft"
		err := os.RemoveAll(draft)
		if err == nil {
			err = make(draft)
		}
		if err == nil {
			err = os.Rename(draft, path)
		}
		if err != nil {
			return "", 0, err
		}
	}
	bytes, err = size(path)
	return path, bytes, err
}

// sanitizedData is data without the records that DuckDB cannot read (see package sanitize). All contestants of a race
// read the same bytes.
func (s *workload) sanitizedData(dir string, facts int) (path string, bytes int64, err error) {
	raw, _, err := s.data(dir, facts)
	if err != nil {
		return "", 0, err
	}
	version, err := s.fingerprint(sanitize.CSV)
	if err != nil {
		return "", 0, err
	}
	return madeOnce(raw+"-tidy-"+version, func(draft string) error {
		_, err := sanitize.Dir(raw, draft)
		return err
	})
}

// size returns the bytes of all files below dir.
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

// warm reads all files once, so that the page cache holds them for the next contestant. Otherwise one contestant would
// read from the disk what the kernel has evicted meanwhile, and another one would not.
func warm(dir string) error {
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		_, err = io.Copy(io.Discard, f)
		return errors.Join(err, f.Close())
	})
}
