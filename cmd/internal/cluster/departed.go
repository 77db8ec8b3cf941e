package cluster

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"posta.dev/posta/internal/owned"
	"posta.dev/posta/topology"
)

// departedDir holds the data of nodes that have left the topology: for each name, the last data that was moved there.
const departedDir = "left"

// moveDeparted moves aside the data of nodes that the last posta up had and that the topology no longer has. If such a node is added again,
// it must be a new node: the remaining nodes forget the removed one and count its links from 1 again. With its former data it would take
// their frames for repeats of frames that it remembers (R4). When moveDeparted is called, no process runs, or the running processes began
// with the same text.
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
			continue // the node was on another host, or never started
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
			return fmt.Errorf("set aside the data of %s, which is no longer in the topology: %w", id, err)
		}
		x.Notef("%s has left the topology; its data is in %s, and is no longer needed", id, aside)
	}
	return nil
}
