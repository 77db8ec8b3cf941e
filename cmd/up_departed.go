package cmd

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"posta.dev/posta/internal/owned"
	"posta.dev/posta/topology"
)

// departedDir holds the data of nodes that have left the topology, the last of each.
const departedDir = "left"

// moveDeparted puts the data of nodes that were there the last time, and that the topology has no more, out of the way. Such a node
// comes back as a new one: those that stay forget it and count its links from 1 again, and it would take their frames for repeats of those it
// remembers (R4). No process runs, or those that run began with the same text.
func (x *command) moveDeparted(t *topology.Topology) error {
	then, err := readNote(t)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // the first time
	}
	if err != nil {
		return err
	}
	for _, id := range then.nodes {
		if _, err := t.Node(id); err == nil {
			continue
		}
		data := filepath.Join(t.DataDir, string(id))
		if _, err := os.Lstat(data); err != nil {
			continue // it was on another host, or never began
		}
		aside := filepath.Join(t.DataDir, departedDir, string(id))
		err := os.RemoveAll(aside)
		if err == nil {
			err = os.MkdirAll(filepath.Dir(aside), owned.DirMode)
		}
		if err == nil {
			err = os.Rename(data, aside)
		}
		if err != nil {
			return fmt.Errorf("set aside the data of %s, which the topology has no more: %w", id, err)
		}
		x.notef("%s has left the topology; its data is in %s, and nobody needs it any more", id, aside)
	}
	return nil
}
