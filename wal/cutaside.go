package wal

import (
	"fmt"
	"path/filepath"
	"strings"
)

// cutsKept is how many torn tails stay aside. A node that crashes again and again under load would otherwise fill the
// disk with them. What Repair takes out is never removed by us.
const cutsKept = 16

const tornSuffix = ".torn"

// cutAside copies what follows the good entries of a segment to DIR/cut and truncates the segment there. The copy is
// durable before the truncation; a crash between makes the next Open do the same again, under the same name.
func cutAside(fsys FS, dir string, s scan) (Cutting, error) {
	c := Cutting{File: segmentRel(s.first), Offset: s.end, Bytes: s.size - s.end, Next: s.next()}
	b, err := fsys.ReadFile(segmentFile(dir, s.first))
	if err != nil {
		return c, err
	}
	if int64(len(b)) != s.size {
		return c, fmt.Errorf("%s changed while it was recovered: %d bytes, then %d", c.File, s.size, len(b))
	}
	if err := makeDir(fsys, filepath.Join(dir, cutName)); err != nil {
		return c, err
	}
	c.Kept = filepath.Join(cutName, fmt.Sprintf("%020d-%s-%d%s", c.Next, segmentName(s.first), s.end, tornSuffix))
	if err := replaceFile(fsys, filepath.Join(dir, c.Kept), b[s.end:]); err != nil {
		return c, err
	}
	if err := truncateFile(fsys, segmentFile(dir, s.first), s.end); err != nil {
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
