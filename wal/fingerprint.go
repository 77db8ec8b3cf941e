package wal

import (
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"path/filepath"
)

// Fingerprint changes with everything that is written, replaced or removed in the log of dir. A process that waits for people to repair a damaged
// log compares two of them before it opens the log again. Only names, sizes and times are looked at, so a log of any size costs one look
// for each segment. Verify was turned down for that: it reads the whole log each time.
//
// A directory that is not there is an error: somebody may be about to put another one into its place.
func Fingerprint(dir string) (uint64, error) {
	sum := fnv.New64a()
	for _, part := range []string{headName, segmentsName, snapshotsDir} {
		err := filepath.WalkDir(filepath.Join(dir, part), func(path string, e fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := e.Info()
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(sum, path, info.Size(), info.ModTime().UnixNano(), changeTime(info))
			return err
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return 0, fmt.Errorf("wal: look at %s: %w", dir, err)
		}
	}
	if _, err := (osFS{}).ReadDir(dir); err != nil {
		return 0, fmt.Errorf("wal: look at %s: %w", dir, err)
	}
	return sum.Sum64(), nil
}
