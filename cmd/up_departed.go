package cmd

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"posta.dev/posta/topology"
)

// departedDir holds the data of nodes that have left the topology, the last of each.
const departedDir = "left"

// moveDeparted puts the data of nodes that were there the last time, and that the topology has no more, out of the way. Such a node
// comes back as a new one: those that stay forget it and count its links from 1 again, and it would take their frames for repeats of those it
// remembers (R4). No process runs, or those that run began with the same text.
func (x *command) moveDeparted(t *topology.Topology) error {
	text, err := os.ReadFile(below(t, topologyNote))
	if errors.Is(err, fs.ErrNotExist) {
		return nil // the first time
	}
	if err != nil {
		return fmt.Errorf("read the topology of the last time: %w", err)
	}
	then, err := topology.ParseAt(t.File, text)
	if err != nil || then.DataDir != t.DataDir {
		return nil // it was no topology of this program, or of other data
	}
	for _, n := range then.Nodes() {
		if _, err := t.Node(n.ID); err == nil {
			continue
		}
		if _, err := os.Lstat(n.DataDir); err != nil {
			continue // it was on another host, or never began
		}
		aside := filepath.Join(t.DataDir, departedDir, string(n.ID))
		err := os.RemoveAll(aside)
		if err == nil {
			err = os.MkdirAll(filepath.Dir(aside), 0o755)
		}
		if err == nil {
			err = os.Rename(n.DataDir, aside)
		}
		if err != nil {
			return fmt.Errorf("set aside the data of %s, which the topology has no more: %w", n.ID, err)
		}
		x.notef("%s has left the topology; its data is in %s, and nobody needs it any more", n.ID, aside)
	}
	return nil
}
