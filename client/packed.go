package client

import (
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"

	"posta.dev/posta/client/source/unpack"
)

// unpacked returns an error if the directory at has a file that would match, but is packed in a format that cannot be read.
func (w *walker) unpacked(at string, entries []fs.DirEntry, segment string) error {
	for _, entry := range entries {
		format, name := unpack.ByName(entry.Name())
		if format == nil || format.Read() || matches(segment, entry.Name()) {
			continue
		}
		fits, _ := path.Match(segment, name)
		found := slices.ContainsFunc(w.found, func(other string) bool {
			_, same := unpack.Matches(name, path.Base(other))
			return same && path.Dir(other) == path.Clean(path.Join(at, "."))
		})
		if fits && !found {
			return fmt.Errorf("%w: %w", ErrNoFiles, format.Refuse(filepath.Join(w.path(at), entry.Name())))
		}
	}
	return nil
}
