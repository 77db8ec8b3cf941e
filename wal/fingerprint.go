package wal

import (
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"path/filepath"
)

// Fingerprint changes whenever anything is written, replaced or removed in the log of dir. A process that waits for people to
// repair a damaged log compares two fingerprints before it opens the log again. Fingerprint looks only at names, sizes and
// times, so it costs one stat per segment, however large the log is. Verify was rejected because it reads the whole log each
// time.
//
// A missing directory is an error: somebody may be about to put another one in its place.
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
