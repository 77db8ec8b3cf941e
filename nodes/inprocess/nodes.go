package query

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"posta.dev/posta/analyses"
	"posta.dev/posta/analyses/sql/split"
	"posta.dev/posta/nodes"
	"posta.dev/posta/topology"
	"posta.dev/posta/topology/rundir"
	"posta.dev/posta/wal"
)

// nodesHere are the nodes of a private cluster, each in goroutines of this process, on unix sockets in a directory of this user alone. A
// node that ends with an error is started again on its log. Its log is not synced: whoever kills this process kills the question with it,
// and the system keeps what was written when a node alone ends.
type nodesHere struct {
	dir     *rundir.RunDir
	disks   []*watchedDisk  // of the nodes
	ctx     context.Context // ends when the nodes end; its cause says why
	end     context.CancelCauseFunc
	running sync.WaitGroup
}

const (
	// mostStarts is how often a node is started within startsWithin before the cluster is given up. A node that comes back has its log, so the
	// same fault is likely to end it again.
	mostStarts   = 5
	startsWithin = time.Minute
)

// startHere starts the nodes, whose logs are in files of fsys. They are ready within milliseconds; clients repeat what they ask until then.
func startHere(cfg *Config, fsys wal.FS) (*nodesHere, error) {
	v := topology.Variant{JoinInInput: true, Settings: map[string]string{}}
	rundir.Own(v.Settings)
	dirs, files := append([]string{cfg.Data}, cfg.Roots...), make([]string, len(cfg.Files))
	for i, n := range cfg.Files {
		files[i] = n.Path
	}
	var err error
	if v.Roots, err = rundir.Roots(dirs, files); err != nil {
		return nil, err
	}
	h := &nodesHere{}
	if h.dir, err = rundir.NewRunDir(rundir.RunDirConfig{Variant: v}); err != nil {
		return nil, fmt.Errorf("start nodes within this process: %w", err)
	}
	h.ctx, h.end = context.WithCancelCause(context.Background())
	for _, n := range h.dir.Topology.Nodes() {
		disk := &watchedDisk{FS: fsys}
		h.disks = append(h.disks, disk)
		h.running.Go(func() { h.keep(n.ID, disk) })
	}
	return h, nil
}

// keep runs a node, again and again if it has to be, until the nodes end.
func (h *nodesHere) keep(id topology.NodeID, disk wal.FS) {
	known := analyses.Set{split.New()}
	var starts []time.Time
	for h.ctx.Err() == nil {
		now := time.Now()
		starts = append(starts, now)
		for now.Sub(starts[0]) > startsWithin {
			starts = starts[1:]
		}
		err := nodes.Run(h.ctx, nodes.Config{Topology: h.dir.Topology, Node: id, Known: known, Version: "in process", Disk: disk})
		if err != nil && len(starts) >= mostStarts {
			h.end(fmt.Errorf("node %s has ended %d times: %w; close this database, and open another one", id, len(starts), err))
		}
	}
}

// entrance returns how the nodes are reached.
func (h *nodesHere) entrance() Entrance { return Entrance{Entries: h.dir.Topology.EntryPoints()} }

// close ends the nodes, and removes what they have written.
func (h *nodesHere) close() error {
	if h == nil {
		return nil
	}
	failed := context.Cause(h.ctx) // nil unless the nodes have ended by themselves
	h.end(ErrClosed)
	h.running.Wait()
	return errors.Join(failed, h.dir.Close(true))
}
