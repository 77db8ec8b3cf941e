package client

import (
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// packing is a way to compress files that is not read: what it is called, how names end, how the content begins, and what unpacks it.
type packing struct{ name, suffix, magic, unpack string }

var packings = []packing{
	{"Zstandard", ".zst", "\x28\xb5\x2f\xfd", "zstd -dc"},
	{"bzip2", ".bz2", "BZh", "bzip2 -dc"},
	{"xz", ".xz", "\xfd7zXZ\x00", "xz -dc"},
	{"LZ4", ".lz4", "\x04\x22\x4d\x18", "lz4 -dc"},
	{"ZIP", ".zip", "PK\x03\x04", "unzip -p"},
	{"7-Zip", ".7z", "7z\xbc\xaf\x27\x1c", "7z e -so"},
	{"LZMA", ".lzma", "\x5d\x00\x00\x80\x00", "lzma -dc"},
	{"Brotli", ".br", "", "brotli -dc"},
	{"compress", ".Z", "\x1f\x9d", "uncompress -c"},
	{"tar", ".tar", "", "tar -xOf"},
	{"tar and gzip", ".tgz", "", "tar -xzOf"},
	{"tar and gzip", ".tar.gz", "", "tar -xzOf"},
	{"Parquet", ".parquet", "PAR1", ""},
}

// magicBytes is how much of a file says how it is packed.
const magicBytes = 6

func (p *packing) refuse(path string) error {
	if p.unpack == "" {
		return fmt.Errorf("%s is a %s file; only CSV is read, plain or packed with gzip: export it as such", path, p.name)
	}
	return fmt.Errorf("%s is packed with %s; only gzip is read: %s %[1]s | gzip > %[4]s.gz, and remove it", path, p.name, p.unpack,
		strings.TrimSuffix(path, p.suffix))
}

// unpacked returns an error for a file of the directory at that would match if it were not packed in a way that is not read.
func (w *walker) unpacked(at string, entries []fs.DirEntry, segment string) error {
	for _, entry := range entries {
		for i := range packings {
			p := &packings[i]
			name, is := strings.CutSuffix(entry.Name(), p.suffix)
			if !is || matches(segment, entry.Name()) {
				continue
			}
			fits, _ := path.Match(segment, name)
			plain := path.Join(at, name)
			if fits && !slices.Contains(w.found, plain) && !slices.Contains(w.found, plain+".gz") {
				return fmt.Errorf("%w: %w", ErrNoFiles, p.refuse(filepath.Join(w.dir, at, entry.Name())))
			}
		}
	}
	return nil
}

// checkPacking returns an error if a file begins as one does that is packed in a way that is not read.
func checkPacking(head []byte, path string) error {
	for i := range packings {
		p := &packings[i]
		if p.magic != "" && strings.HasPrefix(string(head), p.magic) {
			return p.refuse(path)
		}
	}
	return nil
}
