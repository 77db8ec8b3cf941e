package client

import (
	"errors"
	"fmt"
	"io/fs"

	"posta.dev/posta/protocol"
)

// trees returns the directories that are searched for files that are not named.
func (in *Input) trees() (all []tree) {
	if len(in.Roots) == 0 && in.Dir != "" {
		return []tree{{dir: in.Dir}}
	}
	for _, root := range in.Roots {
		all = append(all, tree{dir: root, confined: true})
	}
	return all
}

// Dirs returns the directories that are searched for files that are not named: Dir, or Roots.
func (in *Input) Dirs() (dirs []string) {
	for _, t := range in.trees() {
		dirs = append(dirs, t.dir)
	}
	return dirs
}

// List returns the names in a directory of Dirs.
func (in *Input) List(dir string) (entries []fs.DirEntry, err error) {
	return tree{dir: dir, confined: len(in.Roots) > 0}.readDir("")
}

// findBelow returns the files of the streams below Dir, or below the roots.
func (in *Input) findBelow(streams []protocol.Stream, warn *warnings) (found [][]Source, err error) {
	if len(in.Roots) == 0 {
		return findAll(tree{dir: in.Dir}, streams, warn)
	}
	for _, s := range streams {
		files, err := in.findBelowRoots(s, warn)
		if err != nil {
			return nil, err
		}
		found = append(found, files)
	}
	return found, nil
}

// findBelowRoots returns the files of a stream, which have to be below one root. A root that is not there has no files: hosts of a cluster
// may have different directories.
func (in *Input) findBelowRoots(s protocol.Stream, warn *warnings) (files []Source, err error) {
	var lacking []error
	below := ""
	for _, root := range in.trees() {
		_, err := root.stat(".")
		if err == nil {
			_, err = walk(root, s)
		} else if errors.Is(err, fs.ErrNotExist) {
			lacking = append(lacking, fmt.Errorf("%w: this machine has no directory %s", ErrNoFiles, root.dir))
			continue
		}
		switch {
		case errors.Is(err, ErrNoFiles):
			lacking = append(lacking, err)
			continue
		case err != nil:
			return nil, badInput(fmt.Errorf("files of stream %s: %w", s.Name, err))
		case below != "":
			return nil, badInput(fmt.Errorf(
				"files of stream %s: %s is below %s and below %s, so it is not clear which is meant; rename the files below one of them", s.Name,
				s.Files, below, root.dir))
		}
		found, err := findAll(root, []protocol.Stream{s}, warn)
		if err != nil {
			return nil, err
		}
		files, below = found[0], root.dir
	}
	if below == "" {
		return nil, badInput(fmt.Errorf("files of stream %s: %w", s.Name, errors.Join(lacking...)))
	}
	return files, nil
}
