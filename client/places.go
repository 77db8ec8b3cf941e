package client

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"posta.dev/posta/protocol"
)

// places are the directories that the patterns of an analysis lead to, by the directory part of the pattern: it is the same for
// "*/trips.csv" and "*/weather.csv". Each should hold a file of every stream.
type places map[string]*place

type place struct {
	files   []string            // last segments of the streams' patterns
	full    bool                // some directory has a file
	without map[string][]string // the files that a directory lacks, by directory
}

// add notes which directories the walk for one stream found with and without files.
func (all places) add(s protocol.Stream, w *walker) {
	pattern := path.Dir(s.Files)
	p := all[pattern]
	if p == nil {
		p = &place{without: make(map[string][]string)}
		all[pattern] = p
	}
	file := strings.TrimPrefix(s.Files, pattern+"/")
	p.files = append(p.files, file)
	p.full = p.full || len(w.full) > 0
	for _, dir := range w.without {
		p.without[dir] = append(p.without[dir], file)
	}
}

// warn adds warnings for directories that lack files which others have.
func (all places) warn(dir string, warn *warnings) {
	for _, p := range all {
		dirs := make([]string, 0, len(p.without))
		for d := range p.without {
			dirs = append(dirs, d)
		}
		slices.Sort(dirs)
		for _, d := range dirs {
			at, lacks := filepath.Join(dir, d), p.without[d]
			if len(lacks) == len(p.files) {
				warn.add(at, fmt.Sprintf("this directory holds no %s, and is skipped", strings.Join(lacks, ", no ")))
				continue
			}
			for _, file := range lacks {
				warn.add(at, fmt.Sprintf(
					"there is no %s here, packed or plain, but there is one in a directory beside this one; its rows will be missing", file))
			}
		}
	}
}
