package wal

import (
	"fmt"
	"path/filepath"
	"strings"
)

// cutsKept is how many torn tails are kept aside. Otherwise a node that crashes again and again under load would fill the disk
// with them. The log never removes what Repair has taken out.
const cutsKept = 16

const tornSuffix = ".torn"

// readScanned reads a segment that was scanned before.
func readScanned(fsys FS, dir string, s scan) ([]byte, error) {
	b, err := fsys.ReadFile(segmentFile(dir, s.first))
	if err == nil && int64(len(b)) != s.size {
		err = fmt.Errorf("%s changed while it was recovered: %d bytes, then %d", segmentRel(s.first), s.size, len(b))
	}
	return b, err
}

// copyAside copies what follows the good entries of a segment, whose bytes are b, to DIR/cut, durably. A crash before the segment is cut
// makes the next Open do the same again, under the same name.
func copyAside(fsys FS, dir string, b []byte, s scan) (Cutting, error) {
	c := Cutting{File: segmentRel(s.first), Offset: s.end, Bytes: s.size - s.end, Next: s.next()}
	if err := makeDir(fsys, filepath.Join(dir, cutName)); err != nil {
		return c, err
	}
	c.Kept = filepath.Join(cutName, fmt.Sprintf("%020d-%s-%d%s", c.Next, segmentName(s.first), s.end, tornSuffix))
	if err := replaceFile(fsys, filepath.Join(dir, c.Kept), b[s.end:]); err != nil {
		return c, err
	}
	return c, pruneCuts(fsys, filepath.Join(dir, cutName))
}

// pruneCuts keeps the last torn tails; their names begin with the index of the record that was lost, so they sort by age.
func pruneCuts(fsys FS, dir string) error {
	entries, err := readDir(fsys, dir)
	if err != nil {
		return err
	}
	var torn []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), tornSuffix) && !e.IsDir() {
			torn = append(torn, e.Name())
		}
	}
	if len(torn) <= cutsKept {
		return nil
	}
	for _, name := range torn[:len(torn)-cutsKept] {
		if err := removeFile(fsys, filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return syncDir(fsys, dir)
}
